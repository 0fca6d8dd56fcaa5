"""Grader: whether an answer is the expected one, and how often an apprentice gives it."""

from __future__ import annotations

from typing import Any, Protocol

from commonplace.integrations.tasks.model import Model
from commonplace.integrations.tasks.pages.logger import AnyLogger, PageLogger, open_page
from commonplace.integrations.tasks.steps import Steps
from commonplace.values import checks


class TaskTaker(Protocol):
    """An Apprentice, a MemoryController, or anything else that does tasks."""

    async def assign_task(self, task: str, use_memory: bool = True, should_await: bool = True) -> str:
        """Do a task and return the answer."""


class Grader:
    """Compares answers: equal but for how they are written, or by a model's judgement in one question."""

    def __init__(
        self, client: object | None = None, logger: AnyLogger | None = None, *, model: Model | None = None
    ) -> None:
        self.client = client
        self.logger: AnyLogger = logger or PageLogger()
        self._model = model or Model(client, self.logger)

    async def test_apprentice(
        self,
        apprentice: TaskTaker,
        task_description: str,
        expected_answer: str,
        num_trials: int = 1,
        use_memory: bool = True,
        client: Any = None,
    ) -> tuple[int, int]:
        """Give a task `num_trials` times; return how often the answer was right, and the number of trials.

        `client` is accepted for AutoGen's sake and not used: the apprentice and the grader have their own.
        """
        with open_page(self.logger, "test_apprentice"):
            _, right = await self.count_right(apprentice, task_description, expected_answer, num_trials, use_memory)
        return right, num_trials

    async def count_right(
        self, taker: TaskTaker, task: str, expected: str, trials: int, use_memory: bool = True
    ) -> tuple[str, int]:
        """Give a task `trials` times; return the last answer, and how often it was right."""
        right, response = 0, ""
        for number in range(1, checks.count(trials, "num_trials", least=1) + 1):
            response = await taker.assign_task(task, use_memory=use_memory)
            correct, answer = await self.is_response_correct(task, response, expected)
            self.logger.info(f"trial {number}: {answer!r} is {'right' if correct else 'wrong'}")
            right += correct
        return response, right

    async def is_response_correct(
        self, task_description: str, response_to_be_graded: str, correct_answer: str
    ) -> tuple[bool, str]:
        """Return whether a response gives the correct answer, and the answer that it gives."""
        return await Steps(self._model).grade(task_description, response_to_be_graded, correct_answer)

    async def call_model(
        self,
        summary: str,
        user_content: Any,
        system_message_content: str | None = None,
        keep_these_messages: bool = True,
    ) -> str:
        """Ask the model in plain text, without earlier questions; needs a client."""
        return await self._model.ask_plainly(summary, user_content, system_message_content)
