"""A thousand turns of an agent never do a book's work on the event loop's thread."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

import commonplace
from commonplace import Settings
from commonplace.integrations.autogen import CanvasMemory, CommonplaceMemory, memory_tools
from tests.integrations.autogen.scripted import agent, call, client, text
from tests.test_event_loop import Trespasses, Watched

TURNS = 1_000


async def many(path: Path, embedder: Watched, trespasses: Trespasses) -> None:
    with commonplace.open(path, embedder=embedder, reader=None, settings=Settings(durability="normal")) as book:
        memory, canvas = CommonplaceMemory(book, k=3), CanvasMemory(book)
        listening = CommonplaceMemory(book, learn=True)
        tools = [canvas.get_update_file_tool(), canvas.get_apply_patch_tool(), *memory_tools(book)]
        calls = [
            call("recall", '{"question": "When does the ferry leave?"}'),
            call("update_file", '{"filename": "log.md", "new_content": "a line\\n"}'),
            call("apply_patch", '{"filename": "log.md", "patch_text": "@@ -1 +1 @@\\n-a line\\n+b line\\n"}'),
            call("remember", '{"text": "The pier is number four"}'),
        ]
        model = client(*["noted"] * (TURNS - len(calls) * 5))
        plain = [agent(memory, model=model, name=f"agent{at}") for at in range(10)]
        writer = agent(memory, canvas, listening, model=client(*calls * 5), tools=tools, name="writer")
        embedder.threads.clear()  # opening the book was not on the loop's account
        sys.setprofile(trespasses)
        try:
            await memory.add(text("The ferry leaves at noon"))
            for turn in range(len(calls) * 5):
                await writer.run(task=f"{turn}: when does the ferry leave?")
            for turn in range(TURNS - len(calls) * 5):
                assistant = plain[turn % len(plain)]
                await assistant.run(task=f"{turn}: when does the ferry leave?")
                if turn % 100 >= 90:
                    await assistant.model_context.clear()
        finally:
            sys.setprofile(None)
        assert len(model.create_calls) == TURNS - len(calls) * 5
        assert book.canvas("canvas").files() == {"log.md": 10}
        for each in (memory, canvas, listening):
            await each.close()


@pytest.mark.slow
def test_a_thousand_turns_leave_the_loops_thread_alone(tmp_path: Path) -> None:
    embedder, trespasses = Watched(), Trespasses()
    asyncio.run(many(tmp_path / "team.db", embedder, trespasses))
    assert trespasses.calls > TURNS, "nothing was seen: the test is blind"
    assert trespasses.seen == set()
    assert embedder.threads
    assert threading.get_ident() not in embedder.threads
