"""Shared by the tests: books that are opened for a test and closed after it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from commonplace.book import Book
from commonplace.errors import StoreClosed
from commonplace.values import Memory, Recall

TTL = 0.2
"""A time to live that a test can wait for, in seconds."""

_START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


@contextmanager
def case(value: object) -> Iterator[None]:
    """Add the case to the message of a failure in this block."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        raise AssertionError(f"with {value!r:.200}: {error}") from error


def each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test of `book` with each of the values, each in its own space, because opening a book takes far longer."""
    cases = list(values)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def tried(self: Harness, book: Book, **others: object) -> None:
            for number, value in enumerate(cases):
                given = {names: value} if isinstance(names, str) else dict(zip(names, value, strict=True))
                with case(value):
                    test(self, book=book.in_space(f"{book.space} {number}"), **given, **others)

        # What is left for pytest, or for another `each`, to give.
        seen = inspect.signature(test)
        given = {names} if isinstance(names, str) else set(names)
        rest = [parameter for name, parameter in seen.parameters.items() if name not in given]
        vars(tried)["__signature__"] = seen.replace(parameters=rest)
        return tried

    return decorated


class Shelf:
    """The books of one test. A name always opens the same store."""

    def __init__(self, harness: Harness, root: Path) -> None:
        self._harness = harness
        self._root = root
        self._books: list[Book] = []

    def open(self, name: str = "book") -> Book:
        """A further handle on the store of that name."""
        place = self._root / name
        place.mkdir(exist_ok=True)
        book = self._harness.open(place)
        self._books.append(book)
        return book

    def reopen(self, name: str = "book") -> Book:
        """Close every handle, then open one again: what it shows was on disk."""
        self.close()
        return self.open(name)

    def now_and_reopened(self, book: Book) -> Iterator[Book]:
        """The book as it is, then a second handle, then the only one after all were closed."""
        yield book
        yield self.open()
        yield self.reopen()

    def close(self) -> None:
        """Close every handle."""
        while self._books:
            self._books.pop().close()

    def ensure_sound(self) -> None:
        """Fail if a store that is still open finds a problem in itself."""
        for book in self._books:
            try:
                verdict = book.check(deep=True)
            except StoreClosed:
                continue
            assert verdict.problems == ()


class Harness:
    """The part that a user of the suite implements: how to open a book."""

    def open(self, place: Path) -> Book:
        """Open the book of a place, an empty directory that the test has for itself.

        The same place again is the same book, another place another one. A store that keeps no files may
        take the path as a name. Any embedder will do; HashEmbedder is fast.
        """
        raise NotImplementedError("say how to open a book: def open(self, place: Path) -> Book")

    @pytest.fixture
    def shelf(self, tmp_path: Path) -> Iterator[Shelf]:
        """Books by name; after the test each is checked and closed."""
        shelf = Shelf(self, tmp_path)
        try:
            yield shelf
            shelf.ensure_sound()
        finally:
            shelf.close()

    @pytest.fixture
    def book(self, shelf: Shelf) -> Book:
        """An empty book."""
        return shelf.open()


def moment(seconds: float = 0) -> datetime:
    """A fixed moment, so many seconds later."""
    return _START + timedelta(seconds=seconds)


def now() -> datetime:
    """This moment."""
    return datetime.now(timezone.utc)


def wrong(value: object) -> Any:
    """A value that the types forbid, for a test that passes it all the same."""
    return value


def ids(memories: Iterable[Memory]) -> list[str]:
    """The ids of memories, in their order."""
    return [memory.id for memory in memories]


def found(recall: Recall) -> list[str]:
    """The ids of a recall's hits, in their order."""
    return [hit.memory.id for hit in recall.hits]


def all_of(book: Book, query: str = "harbour") -> set[str]:
    """The ids of everything that recall can reach: no cut-off, no budget."""
    recall = book.recall(query, k=100, max_tokens=None, threshold=0)
    return {hit.memory.id for hit in (*recall.hits, *recall.avoid)}
