"""Keeping memos from an event loop: added, listed, changed and removed, each in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import EllipsisType
from typing import ParamSpec, TypeVar

from commonplace.integrations.conversation import clean_text
from commonplace.integrations.tasks import generalising, memo
from commonplace.integrations.tasks.bank import MemoryBank
from commonplace.integrations.tasks.config import ControllerSettings
from commonplace.integrations.tasks.logs import Pages, page
from commonplace.integrations.tasks.memo import Memo
from commonplace.integrations.tasks.steps import Index, Steps
from commonplace.values import Origin

P = ParamSpec("P")
T = TypeVar("T")


class Keeping:
    """The half of a controller that writes; the other half retrieves and learns."""

    settings: ControllerSettings
    logger: Pages
    steps: Steps
    memory_bank: MemoryBank

    async def add_memo(
        self, insight: str, task: str | None = None, index_on_both: bool = True, *, origin: Origin = "user"
    ) -> Memo:
        """Keep an insight, with the task that it helps with; on disk when this returns.

        `index_on_both=False` takes topics from the task alone.
        """
        insight, task = clean_text(insight), None if task is None else clean_text(task)
        with page(self.logger, "add_memo"):
            self.logger.info(f"task: {task}\ninsight: {insight}")
            index = await self._index(insight if index_on_both or task is None else "", task)
            return await self._write(insight, task, index.topics, index.general, origin)

    async def add_task_solution_pair_to_memory(self, task: str, solution: str) -> Memo:
        """Keep a task and how it was solved, for tasks like it."""
        with page(self.logger, "add_task_solution_pair_to_memory"):
            return await self.add_memo(memo.demonstration(task, solution), task, index_on_both=False)

    async def list_memos(self) -> list[Memo]:
        """All memos, newest first."""
        return await self._run(self.memory_bank.list_memos)

    async def get_memo(self, id: str) -> Memo:
        """One memo; NotFound if there is none of this id."""
        return await self._run(self.memory_bank.get_memo, id)

    async def update_memo(self, id: str, insight: str | None = None, task: str | EllipsisType | None = ...) -> Memo:
        """Change a memo's insight, its task, or both; what it said before stays in the book's history."""
        known = await self.get_memo(id)
        insight, task = (
            None if insight is None else clean_text(insight),
            clean_text(task) if isinstance(task, str) else task,
        )
        said = known.insight if insight is None else insight
        index = await self._index(said, known.task if isinstance(task, EllipsisType) else task)
        update = partial(self.memory_bank.update_memo, topics=index.topics, general=index.general)
        return await self._run(update, id, insight, task)

    async def delete_memo(self, id: str) -> None:
        """Remove a memo with all its versions."""
        await self._run(self.memory_bank.delete_memo, id)

    async def clear(self) -> None:
        """Forget this bank's own memos, without holding up the event loop."""
        await self._run(self.memory_bank.reset)

    def reset_memory(self) -> None:
        """Forget this bank's own memos, and nothing else in the book. Waits for the disk: `clear` is awaited."""
        self.memory_bank.reset()

    async def close(self) -> None:
        """Release the book if it was not given; what it holds stays."""
        await self.memory_bank.handle.close()

    async def _index(self, insight: str, task: str | None) -> Index:
        general = self.settings.generalize_task and task is not None
        return await self.steps.index(insight, task, general=general, topics=self.settings.generate_topics)

    async def _keep(self, insight: str, task: str | None, *, origin: Origin) -> Memo:
        """Keep an insight whose task, if any, is in general terms already: no question to the model is needed."""
        insight = clean_text(insight)
        topics = generalising.topics(f"{task or ''}\n{insight}") if self.settings.generate_topics else ()
        return await self._write(insight, task, topics, task, origin)

    async def _write(
        self, insight: str, task: str | None, topics: Sequence[str], general: str | None, origin: Origin
    ) -> Memo:
        add = partial(self.memory_bank.add_memo, general=general, origin=origin)
        return await self._run(add, insight, topics, task)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.memory_bank.handle.run(function, *args, **kwargs)
