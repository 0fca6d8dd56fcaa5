"""The programs of AutoGen's task-centric memory reference run on a book with changed imports."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from commonplace.integrations.tasks import MemoryController
from tests.integrations.autogen.documents import CONTROLLER
from tests.tasks.scripted import Answering

MODEL = "from autogen_ext.models.openai import OpenAIChatCompletionClient\n"
SAID = "2 memories retrieved\n- Deep blue is my favorite color\n- I really like cyan\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COMMONPLACE_BOOK", raising=False)


def script(step: str, asked: dict[str, Any]) -> object:
    if step == "useful":
        return {"useful": [memo["number"] for memo in asked["memos"] if "color" in str(memo["task"])]}
    return {"task": None, "topics": []}


@pytest.mark.parametrize("client", [None, Answering(script), Answering(says="I cannot help with that.")])
def test_the_quick_start_runs_with_another_import(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Run with no model, with one, and with one whose answers cannot be used."""
    program = CONTROLLER.replace(MODEL, "").replace(
        "autogen_ext.experimental.task_centric_memory", "commonplace.integrations.tasks"
    )
    for _ in range(2):
        exec(compile(program, "seed", "exec"), {"OpenAIChatCompletionClient": lambda **options: client})
        assert capsys.readouterr().out == SAID
    assert Path("pagelogs/quickstart").is_dir()
    assert client is None or len(client.asked) <= 2 * (3 + 1)


def test_of_four_memos_the_two_colours_come_back_and_nothing_is_written_but_the_book() -> None:
    async def four() -> None:
        controller = MemoryController()
        await controller.add_memo("Deep blue is my favorite color", "What color do I like?")
        await controller.add_memo("I really like cyan", "What's another color I like?")
        await controller.add_memo("Halibut is my favorite", "What's my favorite food?")
        await controller.add_memo("The train to Basel leaves from platform 7", "When does my train leave?")
        found = await controller.retrieve_relevant_memos("What colors do I like most?")
        assert {memo.insight for memo in found} == {"Deep blue is my favorite color", "I really like cyan"}
        assert await controller.retrieve_relevant_memos("How do I boil an egg?") == []
        await controller.close()

    asyncio.run(four())
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in Path().iterdir()} == {"commonplace.db"}
