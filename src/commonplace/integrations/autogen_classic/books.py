"""Books for callers that may wait: opened at the first use, once for a place, and closed when the program ends."""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import ExitStack

from commonplace.aio import AsyncBook
from commonplace.book import Book
from commonplace.integrations.door import Door, Where, is_served

_doors: dict[tuple[str, str], Door] = {}
_lock = threading.Lock()


def opened(where: Where | None = None, space: str | None = None) -> Book:
    """The book at a place, the same one for everybody who names the place; one that is given stays the giver's.

    Where nothing is said, it is the book that COMMONPLACE_BOOK names, or commonplace.db in the working directory.
    """
    door = Door(where, space)
    if isinstance(where, (Book, AsyncBook)):
        return door.open()
    place = door.where if "://" in door.where else os.path.abspath(door.where)
    with _lock:
        known = _doors.get((place, door.space))
        if known is None or known.open().closed:
            door.open()  # what cannot be opened is not kept
            known = _doors[(place, door.space)] = door
        return known.open()


@atexit.register
def close() -> None:
    """Learn from what still waits, and close every book that was opened here; a server does its own work."""
    with _lock, ExitStack() as books:  # each is closed, also if another one fails
        for door in _doors.values():
            book = door.open()
            books.callback(book.close)
            if not is_served(book) and not book.closed:
                books.callback(book.work)
        _doors.clear()
