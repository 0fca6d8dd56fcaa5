"""The parts of commonplace.integrations.tasks: their names, dependencies and threads."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.integrations import tasks
from commonplace.integrations.tasks import MemoryController, utils
from tests.tasks.scripted import Answering
from tests.test_event_loop import Trespasses, Watched

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = """
import sys
for name in ("autogen_core", "autogen_agentchat", "autogen_ext"):
    sys.modules[name] = None
import asyncio
from commonplace.integrations.tasks import MemoryController
from commonplace.integrations.tasks.utils import Grader, PageLogger

async def main():
    controller = MemoryController(book="team.db", logger=PageLogger())
    await controller.add_memo("I really like cyan", "Which color do I like?")
    print([memo.insight for memo in await controller.retrieve_relevant_memos("What colors do I like?")])
    print(await Grader().is_response_correct("2 + 2", "4", "four"))
    await controller.close()

asyncio.run(main())
for name in ("Teachability", "Apprentice", "ChatCompletionClientRecorder"):
    try:
        getattr(__import__("commonplace.integrations.tasks.utils", fromlist=[name]), name)
    except ModuleNotFoundError as error:
        print(error)
"""


def test_the_names_are_autogens_and_our_own() -> None:
    assert set(tasks.__all__) == {
        "Memo",
        "MemoryBank",
        "MemoryBankConfig",
        "MemoryController",
        "MemoryControllerConfig",
    }
    assert set(utils.__all__) == {
        "Apprentice", "ApprenticeConfig", "ChatCompletionClientRecorder", "Grader", "PageLogger", "PageLoggerConfig",
        "Teachability",
    }  # fmt: skip
    assert [name for name in utils.__all__ if not hasattr(utils, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'Teacher'"):
        utils.Teacher  # noqa: B018


@pytest.mark.slow
def test_without_autogen_all_works_but_what_is_autogens(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    found, graded, *missing = done.stdout.splitlines()
    assert (found, graded) == ("['I really like cyan']", "(True, '4')"), done.stderr
    assert len(missing) == 3
    assert all('pip install "commonplace-memory[autogen]"' in line for line in missing)


def script(step: str, asked: dict[str, Any]) -> object:
    return {"advice": {"advice": "Boats leave from the pier", "task": "find a boat"}, "useful": {"useful": [1]}}.get(
        step, {"task": "find a boat", "topics": ["boats"]}
    )


def test_the_event_loops_thread_is_left_alone(tmp_path: Path) -> None:
    embedder, trespasses = Watched(), Trespasses()

    async def turns() -> None:
        with commonplace.open(tmp_path / "team.db", embedder=embedder) as book:
            embedder.threads.clear()  # opening the book was not on the loop's account
            sys.setprofile(trespasses)
            try:
                for client in (None, Answering(script)):
                    controller = MemoryController(client=client, book=book)
                    for number in range(5):
                        memo = await controller.add_memo(f"Ferry {number} leaves from pier {number}", "Find a ferry")
                        await controller.retrieve_relevant_memos(f"Where does ferry {number} leave?")
                        await controller.consider_memo_storage("Always take the boat to the left.")
                    await controller.update_memo(memo.id, task="Find a boat")
                    await controller.delete_memo(memo.id)
                    await controller.clear()
                    await controller.close()
            finally:
                sys.setprofile(None)

    asyncio.run(turns())
    assert trespasses.calls, "nothing was seen: the test is blind"
    assert trespasses.seen == set()
    assert embedder.threads
    assert threading.get_ident() not in embedder.threads
