"""The programs of AutoGen's memory reference run on a book; what had to change is in each test.

In all of them the model is replaced: `OpenAIChatCompletionClient` by AutoGen's replay client, which needs no key.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from autogen_core.memory import ListMemory, Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext

import commonplace
from commonplace.integrations.autogen import CommonplaceMemory
from tests.integrations.autogen import documents
from tests.integrations.autogen.scripted import UserMessage, call, client

MODEL = "from autogen_ext.models.openai import OpenAIChatCompletionClient\n"
CANVAS = "from autogen_ext.memory.canvas import TextCanvasMemory\n"
OURS = "from commonplace.integrations.autogen import CanvasMemory as TextCanvasMemory\n"
STORY = "# The bunny\n\nA bunny met a sunflower.\n"
PATCH = "--- story.md\n+++ story.md\n@@ -3 +3 @@\n-A bunny met a sunflower.\n+A bunny met a sunflower called Sunny.\n"


def run(program: str, *replies: Any) -> None:
    def model(**options: object) -> Any:
        return client(*replies)

    exec(compile(program, "seed", "exec"), {"__name__": "__main__", "OpenAIChatCompletionClient": model})


def written(name: str, **arguments: str) -> Any:
    return call(name, json.dumps(arguments))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COMMONPLACE_BOOK", raising=False)


def test_the_canvas_example_runs_with_another_import(capsys: pytest.CaptureFixture[str]) -> None:
    program = documents.CANVAS_WRITER.replace(MODEL, "").replace(CANVAS, OURS)
    run(program, written("update_file", filename="story.md", new_content=STORY))
    assert STORY in capsys.readouterr().out
    # A second run continues the story: AutoGen's canvas would be empty.
    run(program, written("apply_patch", filename="story.md", patch_text=PATCH))
    assert "called Sunny" in capsys.readouterr().out
    with commonplace.open("commonplace.db") as book:
        assert book.canvas("canvas").files() == {"story.md": 2}


def test_the_canvas_team_example_runs_with_another_import(capsys: pytest.CaptureFixture[str]) -> None:
    program = documents.CANVAS_TEAM.replace(MODEL, "").replace(CANVAS, OURS)
    run(
        program,
        written("update_file", filename="story.md", new_content=STORY),
        "Give the sunflower a name.",
        written("apply_patch", filename="story.md", patch_text=PATCH),
        "Good. TERMINATE",
    )
    assert "called Sunny" in capsys.readouterr().out


def test_the_mem0_example_runs_with_another_class(capsys: pytest.CaptureFixture[str]) -> None:
    # As written it raises without an OpenAI key, although it says that none is required.
    program = documents.MEM0.replace(
        "from autogen_ext.memory.mem0 import Mem0Memory",
        "from commonplace.integrations.autogen import CommonplaceMemory",
    ).replace("Mem0Memory(\n", "CommonplaceMemory.from_mem0_config(\n")
    run(program)
    printed = capsys.readouterr().out
    assert "Query results: 1 found" in printed
    assert "User likes the color blue." in printed


def test_teachability_is_learning_from_what_the_agent_hears() -> None:
    # Teachability(memory_controller) in an agent's memory: CommonplaceMemory(learn=True), without a call of a model.
    from tests.integrations.autogen.scripted import agent, asked

    async def main() -> None:
        memory = CommonplaceMemory("team.db", learn=True)
        await agent(memory, model=client("ok")).run(task="My favorite color is deep blue.")
        book = await memory.book()
        while await book.jobs():
            await asyncio.sleep(0.02)
        model = client("Deep blue.")
        another = CommonplaceMemory("team.db", learn=True)
        await agent(another, model=model).run(task="What is my favorite color?")
        assert "deep blue" in str(asked(model)[1].content)
        await memory.close()
        await another.close()

    asyncio.run(main())


def test_a_list_memory_is_one_in_the_order_of_time() -> None:
    # The reference describes ListMemory in words: contents, oldest first, all before the model; query is ignored.
    async def main() -> None:
        theirs, ours = ListMemory(name="prefs"), CommonplaceMemory(name="prefs", order="time")
        memory: Memory
        for memory in (theirs, ours):
            await memory.add(MemoryContent(content="User likes pizza.", mime_type=MemoryMimeType.TEXT))
            await memory.add(MemoryContent(content="User dislikes cheese.", mime_type=MemoryMimeType.TEXT))
            context = UnboundedChatCompletionContext()
            await context.add_message(UserMessage(content="Write a dinner recipe.", source="user"))
            result = await memory.update_context(context)
            assert [each.content for each in result.memories.results] == ["User likes pizza.", "User dislikes cheese."]
            assert len(await context.get_messages()) == 2
            assert len((await memory.query("ignored")).results) == 2
            await memory.clear()
            assert (await memory.query("")).results == []
            await memory.close()
        assert ours.name == theirs.name

    asyncio.run(main())
