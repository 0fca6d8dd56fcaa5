"""Learning a task by trying it: each failure gives an insight, and one that helps is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from commonplace.integrations.tasks import memo
from commonplace.integrations.tasks.grader import Grader
from commonplace.integrations.tasks.logs import Pages
from commonplace.integrations.tasks.memo import Memo
from commonplace.integrations.tasks.steps import Steps

Assign = Callable[[str], Awaitable[tuple[str, str]]]
"""Does a task; gives the answer and how it was come by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A wrong answer, and how it was come by."""

    response: str
    work: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One task that is tried until it succeeds, or the trials are used up."""

    assign: Assign
    steps: Steps
    grader: Grader
    logger: Pages
    train_trials: int
    test_trials: int

    async def insight(self, task: str, expected: str, known: Sequence[Memo]) -> str | None:
        """The insight with which the task succeeds in every test; None if it did without, or never did."""
        learned: str | None = None
        for trial in range(1, self.train_trials + 1):
            notes = [*known, *([memo.unsaved(task, learned)] if learned else [])]
            failure = await self._failure(task, memo.beside(task, notes), expected)
            if failure is None:
                self.logger.info(f"trial {trial}: right every time")
                return learned
            self.logger.info(f"trial {trial}: wrong: {failure.response}")
            if trial == self.train_trials:
                break
            learned = await self.steps.lesson(task, memo.section(notes), failure.response, expected, failure.work)
            self.logger.info(f"learned: {learned}")
        return None

    async def _failure(self, task: str, told: str, expected: str) -> Failure | None:
        for _ in range(self.test_trials):
            response, work = await self.assign(told)
            correct, _answer = await self.grader.is_response_correct(task, response, expected)
            if not correct:
                return Failure(response=response, work=work)
        return None
