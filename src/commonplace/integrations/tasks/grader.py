"""Grader: whether an answer is the expected one, and how often an apprentice gives it."""

from __future__ import annotations

from typing import Any, Protocol

from commonplace.integrations.tasks.logs import Pages, Silent, page
from commonplace.integrations.tasks.model import Model
from commonplace.integrations.tasks.steps import Steps
from commonplace.values import checks


class Assigned(Protocol):
    """Somebody who does tasks: an Apprentice or a MemoryController."""

    async def assign_task(self, task: str, use_memory: bool = True, should_await: bool = True) -> str:
        """Do a task."""


class Grader:
    """Compares answers: the same but for how they are written, or by a model's judgement in one question."""

    def __init__(
        self, client: object | None = None, logger: Pages | None = None, *, model: Model | None = None
    ) -> None:
        self.client = client
        self.logger: Pages = logger or Silent()
        self._model = model or Model(client, self.logger)

    async def test_apprentice(
        self,
        apprentice: Assigned,
        task_description: str,
        expected_answer: str,
        num_trials: int = 1,
        use_memory: bool = True,
        client: Any = None,
    ) -> tuple[int, int]:
        """Give a task so many times; returns how often the answer was right, and how often it was given.

        `client` is taken for AutoGen's sake and not asked: the apprentice and the grader have their own.
        """
        trials, right = checks.count(num_trials, "num_trials", least=1), 0
        with page(self.logger, "test_apprentice"):
            for number in range(1, trials + 1):
                response = await apprentice.assign_task(task_description, use_memory=use_memory)
                correct, answer = await self.is_response_correct(task_description, response, expected_answer)
                self.logger.info(f"trial {number}: {answer!r} is {'right' if correct else 'wrong'}")
                right += correct
        return right, trials

    async def is_response_correct(
        self, task_description: str, response_to_be_graded: str, correct_answer: str
    ) -> tuple[bool, str]:
        """Whether a response gives the correct answer, and the answer that it gives."""
        return await Steps(self._model).graded(task_description, response_to_be_graded, correct_answer)

    async def call_model(
        self,
        summary: str,
        user_content: Any,
        system_message_content: str | None = None,
        keep_these_messages: bool = True,
    ) -> str:
        """Ask the model in plain text, without what was asked before; needs a client."""
        return await self._model.say(summary, user_content, system_message_content)
