"""A controller learns from failures and demonstrations; other processes and agents share what it learned."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace import InvalidInput
from commonplace.integrations.tasks import MemoryController
from commonplace.integrations.tasks.utils import Grader
from tests.tasks.scripted import Answering

ROOT = Path(__file__).resolve().parents[2]
TASK = "As a contribution to autonomous driving, how many wheels do three cars and a tricycle have?"
LIKE_IT = "How many wheels do two cars and a tricycle have together?"
INSIGHT = "Multiply each vehicle's wheels by how many there are of it, and only then add."
ELSEWHERE = f"""
import asyncio
from commonplace.integrations.tasks import MemoryController

async def assign(task):
    return ("11" if "only then add" in task else "7"), task

async def main():
    controller = MemoryController(task_assignment_callback=assign, book="team.db")
    print(await controller.test_on_task({LIKE_IT!r}, "11"))
    await controller.close()

asyncio.run(main())
"""


def script(step: str, asked: dict[str, Any]) -> object:
    if step == "lesson":
        return {"misconception": "They added before they multiplied.", "insight": INSIGHT}
    if step == "grade":
        return {"answer": asked["response"], "correct": "15" in asked["response"]}
    if step == "useful":
        return {"useful": [memo["number"] for memo in asked["memos"]]}
    return {"task": "count the wheels of several vehicles", "topics": ["wheels of vehicles"]}


@pytest.mark.slow
def test_what_was_learned_from_a_failure_helps_another_agent_in_another_process(tmp_path: Path) -> None:
    client, tried = Answering(script), []

    async def assign(task: str) -> tuple[str, str]:
        tried.append(task)
        return ("It is 15 wheels." if "only then add" in task else "It is 7 wheels."), "3 + 4"

    async def train() -> None:
        controller = MemoryController(True, client, assign, book=tmp_path / "team.db")
        await controller.train_on_task(TASK, "15")
        (memo,) = await controller.list_memos()
        assert (memo.insight, memo.task, memo.general) == (INSIGHT, TASK, "count the wheels of several vehicles")
        await controller.close()

    asyncio.run(train())
    # One failure, then right in each of three tests; a lesson, the grades of four answers, and where to find it.
    assert len(tried) == 4
    assert client.asked == ["grade", "lesson", "grade", "grade", "grade", "index"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "('11', 1, 1)\n", done.stderr


def test_without_a_model_a_failure_teaches_the_right_answer(tmp_path: Path) -> None:
    async def assign(task: str) -> tuple[str, str]:
        return ("The answer is: 15." if "right answer is '15'" in task else "The answer is: 7."), ""

    async def train() -> None:
        controller = MemoryController(task_assignment_callback=assign, book=tmp_path / "team.db")
        await controller.train_on_task(TASK, "15")
        (memo,) = await controller.list_memos()
        assert memo.insight == "The right answer is '15'. The answer '7.' was wrong."
        assert await controller.test_on_task(TASK, "15", num_trials=2) == ("The answer is: 15.", 2, 2)
        # Whoever succeeds at once learns nothing.
        await controller.train_on_task(TASK, "15")
        assert len(await controller.list_memos()) == 1
        await controller.close()

    asyncio.run(train())


def test_an_insight_that_never_helped_is_not_kept(tmp_path: Path) -> None:
    async def assign(task: str) -> tuple[str, str]:
        return "7", ""

    async def train() -> None:
        config: Any = {"max_train_trials": 3}
        controller = MemoryController(False, None, assign, config, book=tmp_path / "team.db")
        await controller.train_on_task(TASK, "15")
        assert await controller.list_memos() == []
        await controller.close()

    asyncio.run(train())


def test_a_demonstration_is_given_with_a_task_like_it(tmp_path: Path) -> None:
    async def assign(task: str) -> tuple[str, str]:
        return task, ""

    async def demonstrate() -> None:
        controller = MemoryController(task_assignment_callback=assign, book=tmp_path / "team.db")
        await controller.add_task_solution_pair_to_memory(TASK, "3 times 4 and 3 make 15")
        assert "3 times 4 and 3 make 15" in await controller.assign_task(LIKE_IT)
        assert await controller.assign_task(LIKE_IT, use_memory=False) == LIKE_IT
        assert await controller.handle_user_message(LIKE_IT) != LIKE_IT
        # A message that teaches something is stored, and answered without memory.
        told = "My tricycle always has only two wheels."
        assert await controller.handle_user_message(told) == told
        assert len(await controller.list_memos()) == 2
        await controller.close()

    asyncio.run(demonstrate())


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    async def refused() -> None:
        with commonplace.open(tmp_path / "team.db") as book:
            controller = MemoryController(book=book)
            with pytest.raises(InvalidInput, match="task_assignment_callback"):
                await controller.assign_task("anything")
            with pytest.raises(InvalidInput, match="create_task"):
                await controller.assign_task("anything", should_await=False)
            with pytest.raises(InvalidInput, match="a model is"):
                MemoryController(client=object(), book=book)
            with pytest.raises(InvalidInput, match="empty"):
                await controller.add_memo(" ")
            with pytest.raises(InvalidInput, match="pass a client"):
                await Grader().call_model("ask", "anything")
            assert await Grader(Answering()).call_model("ask", ["two", "texts"]) == "noted"
            with pytest.raises(InvalidInput, match="remove images"):
                await Grader(Answering()).call_model("ask", ["a text", object()])

    asyncio.run(refused())
