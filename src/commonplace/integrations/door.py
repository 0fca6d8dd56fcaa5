"""From where a caller says the book is to a book that an event loop can await."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from os import PathLike, fspath
from typing import ParamSpec, TypeVar

from commonplace.aio import AsyncBook
from commonplace.book import Book
from commonplace.errors import InvalidInput, StoreClosed
from commonplace.local import LocalBook
from commonplace.location import open as open_book
from commonplace.location import threads_for

Where = str | PathLike[str] | Book | AsyncBook

P = ParamSpec("P")
T = TypeVar("T")


class Door:
    """Opens a book when it is first needed, in a worker thread; closes only what it opened itself.

    Where nothing is said, it is the book that COMMONPLACE_BOOK names, or commonplace.db in the working directory.
    """

    def __init__(self, where: Where | None, space: str | None) -> None:
        if where is None:
            where = os.environ.get("COMMONPLACE_BOOK") or "commonplace.db"
        given = where.sync if isinstance(where, AsyncBook) else where
        if isinstance(given, Book):
            if space is not None and space != given.space:
                raise InvalidInput(f"the book given stands in space {given.space!r}: pass book.in_space({space!r})")
            self.where, self.space = given.where, given.space
        else:
            self.where, self.space = fspath(given), space or "default"
        self._book = given if isinstance(given, Book) else None
        self._given = self._book is not None
        self._closed = False
        self._opening = threading.Lock()
        self._threads = threads_for(self.where)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something slow in a worker thread."""
        return await self._threads.run(function, *args, **kwargs)

    async def book(self) -> AsyncBook:
        """The book, opened."""
        book = self._book if self._book is not None else await self.run(self.open)
        return AsyncBook(book, self._threads)

    def open(self) -> Book:
        """The same book for callers that may wait; opened once, whoever asks first."""
        with self._opening:
            if self._book is None:
                if self._closed:
                    raise StoreClosed(f"the book at {self.where} was closed")
                self._book = open_book(self.where, space=self.space)
            return self._book

    async def learned(self) -> None:
        """Make memories of what waits to be learned from: this may be the last process. A server does so by itself."""
        book = self._book
        if book is not None and not self._threads.stopped and not is_served(book):
            with suppress(StoreClosed):  # a book that was given may have been closed by its giver
                await self.run(book.work, hurry=True)

    async def close(self) -> None:
        """Stop the worker threads, and close the book unless it was given; closing twice is harmless."""
        if not self._threads.stopped:
            await self.run(self._release)
            self._threads.stop()

    def _release(self) -> None:
        with self._opening:  # also a book that is just being opened
            self._closed = True
            if self._book is not None and not self._given:
                self._book.close()


def is_served(book: Book) -> bool:
    """Whether a book is that of a server, which does its own work."""
    return not isinstance(book, LocalBook)
