"""MemoryBank: the memos of one name in a book, where every other reader of the book finds them too."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.integrations.conversation import clean_text, shorten
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.integrations.tasks import choosing, stored
from commonplace.integrations.tasks.config import BankSettings, MemoryBankConfig, settings
from commonplace.integrations.tasks.logs import Pages, Silent, page
from commonplace.integrations.tasks.memo import Memo, demonstration
from commonplace.integrations.tasks.place import place
from commonplace.integrations.tasks.shelf import Shelf
from commonplace.values import NOBODY, Origin, Scope, checks


class MemoryBank:
    """Memos in a book: on disk when a call returns, shared by all who open the book, changed and removed by id.

    A memo is a memory of kind insight, tagged with the bank's name. `scope` is whose memos these are: a bank sees its
    own and everybody's, and changes only its own. `reset` forgets its own and nothing else. Methods wait for the disk:
    from an event loop use a MemoryController.
    """

    def __init__(
        self,
        reset: bool = False,
        config: MemoryBankConfig | None = None,
        logger: Pages | None = None,
        *,
        book: BookLike | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        self.settings = settings(BankSettings, config, "MemoryBank")
        if book is not None and self.settings.path is not None:
            raise InvalidInput("a bank has one book: give either book= or path, not both")
        self.logger: Pages = logger or Silent()
        self.scope = checks.scope(scope)
        self.handle = BookHandle(place(self.settings.path, book), self.settings.space)
        self._shelf = Shelf(handle=self.handle, bank=self.settings.name, scope=self.scope)
        if reset:
            self.reset()

    @property
    def book(self) -> Book:
        """The book that holds the memos, opened."""
        return self.handle.open()

    def add_memo(
        self,
        insight_str: str,
        topics: Sequence[str] = (),
        task_str: str | None = None,
        *,
        general: str | None = None,
        origin: Origin = "user",
    ) -> Memo:
        """Add an insight, with the task that it helps with and its topics; the very same one is kept once."""
        new = Memo(task=task_str or None, insight=_said(insight_str), topics=tuple(topics), general=general)
        return stored.read(self._shelf.put(new, origin))

    def add_task_with_solution(self, task: str, solution: str, topics: Sequence[str] = ()) -> Memo:
        """Add a task and its solution as one insight, for tasks like it."""
        return self.add_memo(demonstration(task, solution), topics, task)

    def get_relevant_memos(self, topics: Sequence[str] | str, *, generous: bool = False) -> list[Memo]:
        """The memos that bear on a task or on any of several topics, the best first; none if none does.

        `generous` also gives those that are less likely, for somebody who looks at each of them.
        """
        found: dict[str, Memo] = {}
        for topic in [topics] if isinstance(topics, str) else topics:
            asked = shorten(clean_text(topic)).strip()
            hits = self._shelf.near(asked, self.settings.n_results) if asked else ()
            for each in choosing.choose(asked, hits, threshold=self.settings.threshold, generous=generous):
                if each.id not in found or _likely(each) > _likely(found[each.id]):
                    found[each.id] = each
        best = sorted(found.values(), key=_likely, reverse=True)
        with page(self.logger, "get_relevant_memos"):
            for each in best:
                self.logger.info(f"{each.relevance:.3f}  {each.insight}")
        return best

    def contains_memos(self) -> bool:
        """Whether the bank holds any memo."""
        return self._shelf.holds_any()

    def list_memos(self) -> list[Memo]:
        """All memos of the bank, newest first."""
        return [stored.read(each) for each in self._shelf.everything()]

    def get_memo(self, id: str) -> Memo:
        """One memo; NotFound if the bank has none of this id."""
        return stored.read(self._shelf.get(id))

    def update_memo(
        self,
        id: str,
        insight: str | None = None,
        task: str | EllipsisType | None = ...,
        *,
        topics: Sequence[str] = (),
        general: str | None = None,
    ) -> Memo:
        """Change a memo's insight, its task, or both; what it said before stays in the book's history."""
        before = self._shelf.own(id)
        known = stored.read(before)
        changed = Memo(
            task=known.task if isinstance(task, EllipsisType) else task,
            insight=known.insight if insight is None else _said(insight),
            topics=tuple(topics),
            general=general,
        )
        return stored.read(self._shelf.change(before, changed))

    def delete_memo(self, id: str) -> None:
        """Remove a memo with all its versions."""
        self.book.forget(self._shelf.own(id).id)

    def reset(self) -> None:
        """Forget this bank's own memos; nothing else in the book is touched."""
        self._shelf.clear()


def _said(insight: str) -> str:
    if not insight.strip():
        raise InvalidInput("the insight is empty: there is nothing to note")
    return insight


def _likely(memo: Memo) -> float:
    return memo.relevance or 0.0
