"""MemoryBank: the memos of one name in a book, where every other reader of the book finds them too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any

from commonplace import checks
from commonplace.adapters.door import Door, Where
from commonplace.adapters.words import readable, shortened
from commonplace.book import Book
from commonplace.errors import Conflict, InvalidInput, NotFound
from commonplace.tasks import choosing, memo
from commonplace.tasks.config import BankSettings, MemoryBankConfig, settings
from commonplace.tasks.logs import Pages, Silent, page
from commonplace.tasks.memo import Memo
from commonplace.tasks.place import place
from commonplace.values import NOBODY, Memory, Origin, Scope, Within


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
        book: Where | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        self.settings = settings(BankSettings, config, "MemoryBank")
        if book is not None and self.settings.path is not None:
            raise InvalidInput("a bank has one book: give either book= or path, not both")
        self.logger: Pages = logger or Silent()
        self.scope = checks.scope(scope)
        self.door = Door(place(self.settings.path, book), self.settings.space)
        if reset:
            self.reset()

    @property
    def book(self) -> Book:
        """The book that holds the memos, opened."""
        return self.door.open()

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
        if not insight_str.strip():
            raise InvalidInput("the insight is empty: there is nothing to note")
        new = Memo(task=task_str or None, insight=insight_str, topics=tuple(topics), general=general)
        return memo.read(self._remember(new, origin))

    def add_task_with_solution(self, task: str, solution: str, topics: Sequence[str] = ()) -> Memo:
        """Add a task and its solution as one insight, for tasks like it."""
        return self.add_memo(memo.demonstration(task, solution), topics, task)

    def get_relevant_memos(self, topics: Sequence[str] | str, *, generous: bool = False) -> list[Memo]:
        """The memos that bear on a task or on any of several topics, the best first; none if none does.

        `generous` also gives those that are less likely, for somebody who looks at each of them.
        """
        found: dict[str, Memo] = {}
        for topic in [topics] if isinstance(topics, str) else topics:
            asked = shortened(readable(topic)).strip()
            for each in self._candidates(asked, generous) if asked else ():
                if each.id not in found or (each.relevance or 0) > (found[each.id].relevance or 0):
                    found[each.id] = each
        best = sorted(found.values(), key=lambda each: -(each.relevance or 0))
        with page(self.logger, "get_relevant_memos"):
            for each in best:
                self.logger.info(f"{each.relevance:.3f}  {each.insight}")
        return best

    def contains_memos(self) -> bool:
        """Whether the bank holds any memo."""
        return bool(self.book.list(**self._seen, limit=1).memories)

    def list_memos(self) -> list[Memo]:
        """All memos of the bank, newest first."""
        return [memo.read(each) for each in self._pages()]

    def get_memo(self, id: str) -> Memo:
        """One memo; NotFound if the bank has none of this id."""
        return memo.read(self._memory(id))

    def update_memo(self, id: str, insight: str | None = None, task: str | EllipsisType | None = ...) -> Memo:
        """Change a memo's insight, its task, or both; what it said before stays in the book's history."""
        before = self._own(id)
        changed = replace(memo.read(before), topics=(), general=None)
        changed = changed if insight is None else replace(changed, insight=insight)
        changed = changed if isinstance(task, EllipsisType) else replace(changed, task=task)
        draft = memo.draft(changed, self.settings.name, self.scope)
        after = self.book.revise(
            id, draft.content, text=draft.text or "", metadata=draft.metadata, if_version=before.version
        )
        return memo.read(after)

    def delete_memo(self, id: str) -> None:
        """Remove a memo with all its versions."""
        self.book.forget(self._own(id).id)

    def reset(self) -> None:
        """Forget this bank's own memos; nothing else in the book is touched."""
        parts = {"user": self.scope.user, "agent": self.scope.agent, "session": self.scope.session}
        exactly = {name: {"$exists": False} if value is None else value for name, value in parts.items()}
        self.book.forget(filter=exactly, kinds=[memo.KIND], tags=[memo.tag(self.settings.name)])

    @property
    def _seen(self) -> dict[str, Any]:
        users, agents, sessions = (
            () if part is None else (part,) for part in (self.scope.user, self.scope.agent, self.scope.session)
        )
        within = Within(users=users, agents=agents, sessions=sessions)
        return {"kinds": [memo.KIND], "tags": [memo.tag(self.settings.name)], "within": within}

    def _candidates(self, asked: str, generous: bool) -> list[Memo]:
        answer = self.book.recall(asked, k=self.settings.n_results, threshold=0, max_tokens=None, **self._seen)
        return choosing.choose(asked, answer.hits, threshold=self.settings.threshold, generous=generous)

    def _remember(self, new: Memo, origin: Origin) -> Memory:
        draft = replace(memo.draft(new, self.settings.name, self.scope), origin=origin)
        try:
            return self.book.remember(draft)
        except Conflict:
            known = self.book.get(str(draft.id))
            # Not compared with the draft: the book may have taken a secret out of what it was given.
            if known.version == 1 or self.book.get(known.id, version=1).text == known.text:
                return known
        # It was changed since: what it said at first is news again.
        return self.book.remember(replace(draft, id=None))

    def _pages(self) -> Iterator[Memory]:
        cursor: str | None = None
        while True:
            found = self.book.list(**self._seen, limit=1_000, cursor=cursor)
            yield from found
            if (cursor := found.cursor) is None:
                return

    def _memory(self, id: str) -> Memory:
        found = self.book.get(id)
        if found.kind != memo.KIND or memo.tag(self.settings.name) not in found.tags or not self._sees(found.scope):
            raise NotFound(f"no memo with id {id!r} in bank {self.settings.name!r}")
        return found

    def _sees(self, scope: Scope) -> bool:
        parts = ((scope.user, self.scope.user), (scope.agent, self.scope.agent), (scope.session, self.scope.session))
        return all(theirs in (None, ours) for theirs, ours in parts)

    def _own(self, id: str) -> Memory:
        found = self._memory(id)
        if found.scope != self.scope:
            raise InvalidInput(f"memo {id} is everybody's: change it from a bank without a scope of its own")
        return found
