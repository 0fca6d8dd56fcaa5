"""MemoryController: learns from users, demonstrations and failures, and returns what helps with the task at hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import EllipsisType
from typing import TypedDict

from commonplace.errors import InvalidInput
from commonplace.integrations.conversation import clean_text
from commonplace.integrations.handle import BookLike
from commonplace.integrations.tasks import rules
from commonplace.integrations.tasks.bank import MemoryBank, MemoryBankConfig, read_config
from commonplace.integrations.tasks.grader import Grader
from commonplace.integrations.tasks.memo import Memo, add_memos, describe_solution, quote_memos
from commonplace.integrations.tasks.model import Model
from commonplace.integrations.tasks.pages.logger import AnyLogger, PageLogger, open_page
from commonplace.integrations.tasks.steps import Steps
from commonplace.values import NOBODY, Origin, Scope, checks

Assign = Callable[[str], Awaitable[tuple[str, str]]]
"""Does a task; returns the answer and the work that led to it."""


class MemoryControllerConfig(TypedDict, total=False):
    """The settings of a `MemoryController`, by AutoGen's names."""

    generalize_task: bool
    revise_generalized_task: bool
    generate_topics: bool
    validate_memos: bool
    max_memos_to_retrieve: int
    max_train_trials: int
    max_test_trials: int
    MemoryBank: MemoryBankConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """A MemoryControllerConfig with AutoGen's defaults, checked."""

    generalize_task: bool = True
    revise_generalized_task: bool = True
    generate_topics: bool = True
    validate_memos: bool = True
    max_memos_to_retrieve: int = 10
    max_train_trials: int = 10
    max_test_trials: int = 3
    MemoryBank: MemoryBankConfig | None = None

    def __post_init__(self) -> None:
        for name in ("max_memos_to_retrieve", "max_train_trials", "max_test_trials"):
            checks.count(getattr(self, name), name, least=1, most=1_000)


class MemoryController:
    """Task-centric memory on a book: persistent, shared by all who open it, and complete without a model.

    `client` is an AutoGen client, an OpenAIChat, a name such as "openai:gpt-4o-mini", or None; each step asks it one
    question at most. `task_assignment_callback` gives a task to an agent and returns its answer and its work. `reset`
    forgets this bank's memos first, which blocks; awaited methods do not block the event loop.
    """

    def __init__(
        self,
        reset: bool = False,
        client: object | None = None,
        task_assignment_callback: Assign | None = None,
        config: MemoryControllerConfig | None = None,
        logger: AnyLogger | None = None,
        *,
        book: BookLike | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        self.settings = read_config(ControllerSettings, config, "MemoryController")
        self.client = client
        self.task_assignment_callback = task_assignment_callback
        self.logger: AnyLogger = logger or PageLogger()
        self.model = Model(client, self.logger)
        self.steps = Steps(self.model)
        self.grader = Grader(client, self.logger, model=self.model)
        # The bank gets no logger: it works in threads, and the log follows the event loop.
        self.memory_bank = MemoryBank(reset=reset, config=self.settings.MemoryBank, book=book, scope=scope)
        self._run = self.memory_bank.handle.run

    async def add_memo(
        self, insight: str, task: str | None = None, index_on_both: bool = True, *, origin: Origin = "user"
    ) -> Memo:
        """Add an insight with the task that it helps with; on disk when this returns.

        `index_on_both=False` takes topics from the task alone.
        """
        insight, task = clean_text(insight), None if task is None else clean_text(task)
        with open_page(self.logger, "add_memo"):
            self.logger.info(f"task: {task}\ninsight: {insight}")
            general, topics = await self._index(insight if index_on_both or task is None else "", task)
            add = self.memory_bank.add_memo
            return await self._run(add, insight, topics, task, general=general, origin=origin)

    async def add_task_solution_pair_to_memory(self, task: str, solution: str) -> Memo:
        """Add a task and its solution, for tasks like it."""
        with open_page(self.logger, "add_task_solution_pair_to_memory"):
            return await self.add_memo(describe_solution(task, solution), task, index_on_both=False)

    async def list_memos(self) -> list[Memo]:
        """Return all memos, newest first."""
        return await self._run(self.memory_bank.list_memos)

    async def get_memo(self, id: str) -> Memo:
        """Return one memo; raise NotFound if there is none of this id."""
        return await self._run(self.memory_bank.get_memo, id)

    async def update_memo(self, id: str, insight: str | None = None, task: str | EllipsisType | None = ...) -> Memo:
        """Change a memo's insight, its task, or both; the book's history keeps the earlier version."""
        known = await self.get_memo(id)
        insight = None if insight is None else clean_text(insight)
        task = clean_text(task) if isinstance(task, str) else task
        general, topics = await self._index(
            known.insight if insight is None else insight, known.task if isinstance(task, EllipsisType) else task
        )
        return await self._run(self.memory_bank.update_memo, id, insight, task, topics=topics, general=general)

    async def delete_memo(self, id: str) -> None:
        """Remove a memo with all its versions."""
        await self._run(self.memory_bank.delete_memo, id)

    async def clear(self) -> None:
        """Forget this bank's own memos."""
        await self._run(self.memory_bank.reset)

    def reset_memory(self) -> None:
        """Forget this bank's own memos, and nothing else in the book; this blocks, `clear` is awaited."""
        self.memory_bank.reset()

    async def close(self) -> None:
        """Close the book unless it was given."""
        await self.memory_bank.handle.close()

    async def retrieve_relevant_memos(self, task: str) -> list[Memo]:
        """Return the memos that help with a task, best first, at most `max_memos_to_retrieve`; none if none does."""
        with open_page(self.logger, "retrieve_relevant_memos"):
            self.logger.info(f"task: {task}")
            retrieve = partial(self._run, self.memory_bank.get_relevant_memos, task)
            validate = self.settings.validate_memos and self.model.available
            found: list[Memo] | None = await retrieve(generous=validate)
            if validate and found:
                found = await self.steps.choose_useful(task, found)
            if found is None:  # the model gave no judgement
                found = await retrieve()
            chosen = found[: self.settings.max_memos_to_retrieve]
            for memo in chosen:
                self.logger.info(f"memo {memo.id}: {memo.insight}")
            return chosen

    async def consider_memo_storage(self, text: str, *, origin: Origin = "user") -> str | None:
        """Add the advice in a user's text, and return it; None if there is none."""
        with open_page(self.logger, "consider_memo_storage"):
            insight, task = await self.steps.find_advice(text) or (None, None)
            self.logger.info(f"advice: {insight}")
            if insight is None:
                return None
            # The task is in general terms already: no question to the model is needed.
            kept = clean_text(insight)
            topics: tuple[str, ...] = ()
            if self.settings.generate_topics:
                topics = await asyncio.to_thread(rules.find_topics, f"{task or ''}\n{kept}")
            await self._run(self.memory_bank.add_memo, kept, topics, task, general=task, origin=origin)
            return insight

    async def assign_task(self, task: str, use_memory: bool = True, should_await: bool = True) -> str:
        """Give a task to the agent with the memos that help, and return the agent's answer."""
        if not should_await:
            raise InvalidInput("should_await=False is not supported: use asyncio.create_task instead")
        with open_page(self.logger, "assign_task"):
            memos = await self.retrieve_relevant_memos(task) if use_memory else []
            response, _ = await self._assign(add_memos(task, memos))
            return response

    async def handle_user_message(self, text: str, should_await: bool = True) -> str:
        """Add the advice in a user's message and give the message to the agent; with memos unless it was advice."""
        advice = await self.consider_memo_storage(text)
        return await self.assign_task(text, use_memory=advice is None, should_await=should_await)

    async def test_on_task(self, task: str, expected_answer: str, num_trials: int = 1) -> tuple[str, int, int]:
        """Give a task with its memos `num_trials` times; return the last answer, how often it was right, and trials."""
        with open_page(self.logger, "test_on_task"):
            return *await self.grader.count_right(self, task, expected_answer, num_trials), num_trials

    async def train_on_task(self, task: str, expected_answer: str) -> None:
        """Try a task, learn from each failure, and keep the insight with which it succeeded.

        The task is tried several times, so it must have no side effects.
        """
        with open_page(self.logger, "train_on_task"):
            insight = await self._learn_insight(task, expected_answer, await self.retrieve_relevant_memos(task))
            if insight is not None:
                await self.add_memo(insight, task, origin="agent")

    async def _learn_insight(self, task: str, expected: str, known: Sequence[Memo]) -> str | None:
        """Return the insight with which the task succeeds in every test; None if it needs none, or always fails."""
        insight: str | None = None
        for trial in range(1, self.settings.max_train_trials + 1):
            notes = [*known, *([Memo(task=task, insight=insight)] if insight else [])]
            failure = await self._find_failure(task, add_memos(task, notes), expected)
            if failure is None:
                self.logger.info(f"trial {trial}: right every time")
                return insight
            response, work = failure
            self.logger.info(f"trial {trial}: wrong: {response}")
            if trial < self.settings.max_train_trials:
                insight = await self.steps.find_lesson(task, quote_memos(notes), response, expected, work)
                self.logger.info(f"learned: {insight}")
        return None

    async def _find_failure(self, task: str, prompt: str, expected: str) -> tuple[str, str] | None:
        """Return the first wrong answer of the tests and its work; None if all are right."""
        for _ in range(self.settings.max_test_trials):
            response, work = await self._assign(prompt)
            correct, _answer = await self.grader.is_response_correct(task, response, expected)
            if not correct:
                return response, work
        return None

    async def _assign(self, task: str) -> tuple[str, str]:
        if self.task_assignment_callback is None:
            raise InvalidInput("there is no agent for the task: pass task_assignment_callback")
        return await self.task_assignment_callback(task)

    async def _index(self, insight: str, task: str | None) -> tuple[str | None, tuple[str, ...]]:
        general = self.settings.generalize_task and task is not None
        return await self.steps.index(insight, task, general=general, topics=self.settings.generate_topics)
