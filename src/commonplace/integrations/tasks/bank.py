"""MemoryBank: the memos of one name in a book, where every other reader of the book finds them too."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from types import EllipsisType
from typing import Any, TypedDict, TypeVar

from commonplace import Book
from commonplace.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from commonplace.integrations.conversation import clean_text, shorten
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.integrations.tasks import rules
from commonplace.integrations.tasks.memo import KIND, Memo, describe_solution, make_draft, make_id, make_tag, read_memo
from commonplace.integrations.tasks.pages.logger import AnyLogger, PageLogger, open_page
from commonplace.integrations.tasks.pages.run import check_names
from commonplace.values import NOBODY, Memory, Origin, Scope, Within, checks

_FILE = "commonplace.db"
_PAGE = 1_000

S = TypeVar("S")


class MemoryBankConfig(TypedDict, total=False):
    """The settings of a `MemoryBank`, by AutoGen's names; `space`, `name` and `threshold` are commonplace's own."""

    path: str
    relevance_conversion_threshold: float
    n_results: int
    distance_threshold: int
    space: str
    name: str
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BankSettings:
    """A MemoryBankConfig with AutoGen's defaults, checked."""

    path: str | None = None
    relevance_conversion_threshold: float = 1.7
    n_results: int = 25
    distance_threshold: float = 100
    space: str | None = None
    name: str = "default"
    threshold: float | None = None

    def __post_init__(self) -> None:
        checks.count(self.n_results, "n_results", least=1, most=1_000)
        checks.name(self.name, "name")
        if self.threshold is not None:
            checks.share(self.threshold, "threshold")
        for name, usual in (("relevance_conversion_threshold", 1.7), ("distance_threshold", 100)):
            if getattr(self, name) != usual:
                warnings.warn(
                    f"{name} is a distance between vectors of another program and changes nothing here: memos are "
                    "chosen by a calibrated probability, for which `threshold` sets the bound",
                    stacklevel=5,
                )


def read_config(kind: type[S], config: Mapping[str, Any] | None, owner: str) -> S:
    """Return the settings of a config; raise InvalidInput for an unknown name."""
    check_names(config, kind.__annotations__, owner)
    return kind(**(config or {}))


class MemoryBank:
    """Memos in a book: on disk when a call returns, shared by all who open the book, changed and removed by id.

    A memo is a memory of kind insight, tagged with the bank's name. A bank sees the memos of its `scope` and those of
    everybody, and changes only those of its scope. Methods block: from an event loop use a MemoryController.
    """

    def __init__(
        self,
        reset: bool = False,
        config: MemoryBankConfig | None = None,
        logger: AnyLogger | None = None,
        *,
        book: BookLike | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        self.settings = read_config(BankSettings, config, "MemoryBank")
        if book is not None and self.settings.path is not None:
            raise InvalidInput("a bank has one book: give either book= or path, not both")
        self.logger: AnyLogger = logger or PageLogger()
        self.scope = checks.scope(scope)
        self.handle = BookHandle(_locate(self.settings.path) if book is None else book, self.settings.space)
        self._tags = [make_tag(self.settings.name)]
        users, agents, sessions = (() if value is None else (value,) for value in self._parts().values())
        within = Within(users=users, agents=agents, sessions=sessions)
        self._visible: dict[str, Any] = {"kinds": [KIND], "tags": self._tags, "within": within}
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
        """Add an insight with its task and topics; if the same memo is there already, return that one."""
        new = Memo(task=task_str or None, insight=_require_text(insight_str), topics=tuple(topics), general=general)
        draft = make_draft(new, self.settings.name, self.scope, origin)
        for number in count(1):
            id = make_id(new, self.settings.name, self.scope, number)
            try:
                return read_memo(self.book.remember(replace(draft, id=id)))
            except Conflict:
                if (known := self._find_unchanged(id)) is not None:
                    return read_memo(known)
        raise AssertionError("unreachable")

    def add_task_with_solution(self, task: str, solution: str, topics: Sequence[str] = ()) -> Memo:
        """Add a task and its solution as one insight, for tasks like it."""
        return self.add_memo(describe_solution(task, solution), topics, task)

    def get_relevant_memos(self, topics: Sequence[str] | str, *, generous: bool = False) -> list[Memo]:
        """Return the memos that help with a task, or with any of several topics, best first; none if none does.

        `generous` adds less likely memos, for a caller who judges each of them.
        """
        found: dict[str, Memo] = {}
        for topic in [topics] if isinstance(topics, str) else topics:
            query = shorten(clean_text(topic)).strip()
            if not query:
                continue
            hits = self.book.recall(
                query, k=self.settings.n_results, threshold=0, max_tokens=None, **self._visible
            ).hits
            for memo in rules.choose_memos(query, hits, threshold=self.settings.threshold, generous=generous):
                if memo.id not in found or _relevance(memo) > _relevance(found[memo.id]):
                    found[memo.id] = memo
        best = sorted(found.values(), key=_relevance, reverse=True)
        with open_page(self.logger, "get_relevant_memos"):
            for memo in best:
                self.logger.info(f"{memo.relevance:.3f}  {memo.insight}")
        return best

    def contains_memos(self) -> bool:
        """Return whether the bank holds any memo."""
        return bool(self.book.list(**self._visible, limit=1).memories)

    def list_memos(self) -> list[Memo]:
        """Return all memos of the bank, newest first."""
        return [read_memo(each) for each in self._list()]

    def get_memo(self, id: str) -> Memo:
        """Return one memo; raise NotFound if the bank has none of this id."""
        return read_memo(self._get(id))

    def update_memo(
        self,
        id: str,
        insight: str | None = None,
        task: str | EllipsisType | None = ...,
        *,
        topics: Sequence[str] = (),
        general: str | None = None,
    ) -> Memo:
        """Change a memo's insight, its task, or both; the book's history keeps the earlier version.

        Raise Conflict if somebody else changes it at the same time.
        """
        before = self._get_own(id)
        known = read_memo(before)
        changed = Memo(
            task=known.task if isinstance(task, EllipsisType) else task,
            insight=known.insight if insight is None else _require_text(insight),
            topics=tuple(topics),
            general=general,
        )
        draft = make_draft(changed, self.settings.name, self.scope)
        after = self.book.revise(
            id, draft.content, text=draft.text or "", metadata=draft.metadata, if_version=before.version
        )
        return read_memo(after)

    def delete_memo(self, id: str) -> None:
        """Remove a memo with all its versions."""
        self.book.forget(self._get_own(id).id)

    def reset(self) -> None:
        """Forget the memos of this bank and scope, and nothing else in the book."""
        exact = {part: {"$exists": False} if value is None else value for part, value in self._parts().items()}
        self.book.forget(filter=exact, kinds=[KIND], tags=self._tags)

    def _parts(self) -> dict[str, str | None]:
        return {"user": self.scope.user, "agent": self.scope.agent, "session": self.scope.session}

    def _list(self) -> Iterator[Memory]:
        cursor: str | None = None
        while True:
            found = self.book.list(**self._visible, limit=_PAGE, cursor=cursor)
            yield from found
            if (cursor := found.cursor) is None:
                return

    def _get(self, id: str) -> Memory:
        """Return a memo that this bank sees; raise NotFound for any other memory."""
        found = self.book.get(id)
        visible = all(getattr(found.scope, part) in (None, value) for part, value in self._parts().items())
        if found.kind != KIND or self._tags[0] not in found.tags or not visible:
            raise NotFound(f"no memo with id {id!r} in bank {self.settings.name!r}")
        return found

    def _get_own(self, id: str) -> Memory:
        """Return a memo that this bank may change; a scoped bank may not change a shared one."""
        found = self._get(id)
        if found.scope != self.scope:
            raise InvalidInput(f"memo {id} is shared with everybody: change it from a bank without a scope")
        return found

    def _find_unchanged(self, id: str) -> Memory | None:
        """Return the memo of an id that is taken if it still says what it said at first.

        It may have been changed, removed from the bank, or contradicted since: then the words are new again. A memo in
        quarantine stays there.
        """
        try:
            known = self._get(id)
        except NotFound:
            return None
        # Not compared with the draft: the book may have redacted a secret in it.
        first = known if known.version == 1 else self.book.get(id, version=1)
        if first.text != known.text or (known.valid_to is not None and not self._is_quarantined(id)):
            return None
        return known

    def _is_quarantined(self, id: str) -> bool:
        actions = [each.action for each in self.book.history(id) if each.action in ("quarantined", "reopened")]
        return actions[-1:] == ["quarantined"]


def _locate(path: str | PathLike[str] | None) -> BookLike | None:
    """Return the book that a path names, None for the default one.

    AutoGen's path is a folder: a path without a suffix, or an existing folder, holds the book's file. It is created.
    """
    if path is None:
        return None
    if not isinstance(path, (str, PathLike)):
        raise InvalidInput(f"the path of a bank is text, not {path!r}")
    if "://" in fspath(path):
        return fspath(path)
    named = Path(path).expanduser()
    file = named / _FILE if named.is_dir() or not (named.suffix or named.is_file()) else named
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"the folder {file.parent} of a bank cannot be made: {error.strerror}") from error
    return file


def _require_text(insight: str) -> str:
    if not insight.strip():
        raise InvalidInput("the insight is empty: there is nothing to note")
    return insight


def _relevance(memo: Memo) -> float:
    return memo.relevance or 0.0
