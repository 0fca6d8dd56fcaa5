"""BookHandle: the book that an integration was given, or the place from which it opens one."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from os import PathLike, fspath
from typing import ParamSpec, TypeVar

import commonplace
from commonplace import AsyncBook, Book
from commonplace.errors import InvalidInput, StoreClosed

BookLike = str | PathLike[str] | Book | AsyncBook

P = ParamSpec("P")
T = TypeVar("T")


class BookHandle:
    """Opens a book when it is first needed; closes only a book that it opened itself.

    `where` is a path, a URL or an open book; None is the book that COMMONPLACE_BOOK names, or commonplace.db in the
    working directory.
    """

    def __init__(self, where: BookLike | None, space: str | None) -> None:
        if where is None:
            where = os.environ.get("COMMONPLACE_BOOK") or "commonplace.db"
        self._awaited: AsyncBook | None = None
        self._given = isinstance(where, (Book, AsyncBook))
        self._closed = False
        self._lock = threading.Lock()
        if isinstance(where, (Book, AsyncBook)):
            if space is not None and space != where.space:
                raise InvalidInput(f"the book given is in space {where.space!r}: pass book.in_space({space!r})")
            # The threads of an AsyncBook are its owner's: this one gets its own.
            self._awaited = AsyncBook(where.sync if isinstance(where, AsyncBook) else where)
            self.where, self.space = where.where, where.space
        else:
            self.where, self.space = fspath(where), space or "default"

    def open(self) -> Book:
        """Return the book, for callers that may block; it is opened once."""
        return self._open().sync

    async def book(self) -> AsyncBook:
        """Return the book, for an event loop."""
        return await asyncio.to_thread(self._open) if self._awaited is None else self._awaited

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking function in a worker thread of the book."""
        return await (await self.book()).threads.run(function, *args, **kwargs)

    async def finish_learning(self) -> None:
        """Extract memories from what still waits, since this may be the last process; a server does its own work."""
        book = self._awaited
        if book is not None and not book.threads.stopped and not book.served:
            with suppress(StoreClosed):  # a book that was given may have been closed by its owner
                await book.work(hurry=True)

    async def close(self) -> None:
        """Stop the worker threads, and close the book unless it was given; closing twice is harmless."""
        if not self._closed:
            await asyncio.to_thread(self._close)

    def _open(self) -> AsyncBook:
        with self._lock:
            if self._awaited is None:
                if self._closed:
                    raise StoreClosed(f"the book at {self.where} was closed")
                self._awaited = AsyncBook(commonplace.open(self.where, space=self.space))
            return self._awaited

    def _close(self) -> None:
        with self._lock:  # waits for a book that is being opened
            self._closed = True
            if self._awaited is not None:
                self._awaited.threads.stop()
                if not self._given:
                    self._awaited.sync.close()


_shared: dict[tuple[str, str], Book] = {}
_shared_lock = threading.Lock()


def open_shared(where: BookLike | None = None, space: str | None = None) -> Book:
    """Return the book at a place, one for the whole process; it is closed when the program ends.

    A book that is given is returned as it is, and stays its owner's.
    """
    handle = BookHandle(where, space)
    if isinstance(where, (Book, AsyncBook)):
        return handle.open()
    place = handle.where if "://" in handle.where else os.path.abspath(handle.where)
    with _shared_lock:
        book = _shared.get((place, handle.space))
        if book is None or book.closed:
            book = _shared[place, handle.space] = handle.open()
        return book


@atexit.register
def close_shared() -> None:
    """Learn from what still waits, and close every shared book; a server does its own work."""
    with _shared_lock, ExitStack() as stack:  # each is closed, also if another one fails
        for book in _shared.values():
            stack.callback(book.close)
            if not book.served and not book.closed:
                stack.callback(book.work)
        _shared.clear()
