"""The clients of other memory services, run on a book: only their import changes.

The book is the one that `configure` names, or the environment variable COMMONPLACE_BOOK (a path or URL), or
`commonplace.db` in the working directory.
"""

from __future__ import annotations

import atexit
import os
import threading
from os import PathLike, fspath
from typing import Any

import commonplace
from commonplace import Book

_opened: dict[tuple[str, str, str | None], Book] = {}
_chosen: dict[str, Any] = {}
_lock = threading.Lock()


def configure(where: str | PathLike[str], *, space: str = "default", api_key: str | None = None) -> None:
    """Choose the book that the clients use from now on: a path, or the URL of a database or a server."""
    _chosen.update(where=fspath(where), space=space, api_key=api_key)


def book(where: str | None = None, *, api_key: str | None = None) -> Book:
    """Return the book, opened at its first use and closed at the program's end. Only a server needs a key."""
    place = where or _chosen.get("where") or os.environ.get("COMMONPLACE_BOOK") or "commonplace.db"
    space: str = _chosen.get("space") or os.environ.get("COMMONPLACE_SPACE") or "default"
    key = None
    if place.startswith(("http://", "https://")):
        key = api_key or _chosen.get("api_key") or os.environ.get("COMMONPLACE_API_KEY")
    with _lock:
        name = (place, space, key)
        if name not in _opened:
            options: dict[str, Any] = {} if key is None else {"api_key": key}
            _opened[name] = commonplace.open(place, space=space, **options)
        return _opened[name]


@atexit.register
def close() -> None:
    """Run the jobs that still wait, and close every book; a server runs its own jobs."""
    with _lock:
        for (place, _, _), opened in _opened.items():
            if "://" not in place:
                opened.work()
            opened.close()
        _opened.clear()
