"""What a request adds to the transactions that it causes: its charges, its name, its limits.

A charge and what it is for, and an answer and the effect that it tells of, are one transaction: a failed call leaves
nothing behind, and a repeated one does nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol, TypeVar

from commonplace.store.base import Choose, Dialect, Found, Store, Tx, Where
from commonplace.store.candidates import Probe
from commonplace.store.tables import spaces
from commonplace.values import Check
from commonplace.values.arrays import Ints

T = TypeVar("T")
J = TypeVar("J")


class Extra(Protocol):
    """Something that a request does inside its first write, around the work itself."""

    def around(self, tx: Tx, space: int, work: Callable[[Tx], T]) -> T:
        """Run the work, or give what it gave before; raise to undo it all."""


class Visit:
    """One request on its way through the store."""

    def __init__(self, extras: Sequence[Extra] = (), *, repeated: bool = False) -> None:
        self._extras = extras
        self.repeated = repeated
        """Whether the request was carried out before, under its name."""
        self.wrote = False
        """Whether the extras took effect."""

    def write(self, store: Store, work: Callable[[Tx], T], space: int | None) -> T:
        """Write, with the extras around the first work on a space."""
        if space is None or space == spaces.NEW or self.wrote or not self._extras:
            return store.write(work, space)
        where = space
        whole = work
        for extra in self._extras:
            whole = _wrapped(extra, where, whole)
        done = store.write(whole, space)
        self.wrote = True
        return done


def _wrapped(extra: Extra, space: int, work: Callable[[Tx], T]) -> Callable[[Tx], T]:
    return lambda tx: extra.around(tx, space, work)


_VISIT: ContextVar[Visit | None] = ContextVar("commonplace visit", default=None)


@contextmanager
def visiting(visit: Visit) -> Iterator[Visit]:
    """Let what this thread writes belong to a visit."""
    token = _VISIT.set(visit)
    try:
        yield visit
    finally:
        _VISIT.reset(token)


def repeated() -> bool:
    """Whether the request at hand was carried out before: its first write will give what it gave then."""
    visit = _VISIT.get()
    return visit is not None and visit.repeated


class VisitedStore:
    """A Store whose writes belong to the visit that they happen in."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def engine(self) -> str:
        return self._store.engine

    @property
    def dialect(self) -> Dialect:
        return self._store.dialect

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        visit = _VISIT.get()
        return self._store.write(work, space) if visit is None else visit.write(self._store, work, space)

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        return self._store.read(work, space)

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        return self._store.search(space, probe, where, choose, narrow=narrow, as_of=as_of)

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        return self._store.frequencies(space, terms, generation)

    def scrub(self, space: int) -> None:
        self._store.scrub(space)

    def size(self) -> int:
        return self._store.size()

    def backup(self, path: Path) -> None:
        self._store.backup(path)

    def check(self, *, deep: bool) -> Check:
        return self._store.check(deep=deep)

    def close(self) -> None:
        self._store.close()
