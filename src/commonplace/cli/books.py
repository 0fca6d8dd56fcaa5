"""The book a command works on: found by option or environment, created only by commands that write."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from commonplace.cli.console import Console
from commonplace.errors import NotFound

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.memories.core import Core
    from commonplace.store.base import Store

# Modules of ours are imported inside functions here: `commonplace --help` must not wait for numpy and apsw.

T = TypeVar("T")

_COMMANDS_WITH = {
    "reranker": ("recall", "mcp"),
    "reader": ("recall", "remember", "learn", "work", "mcp"),
    "extractor": ("learn", "work", "mcp"),
}
"""The commands that use a setting; the others do not load it."""


def place(args: Namespace) -> str:
    """Return where the book is: --book, else COMMONPLACE_BOOK, else commonplace.db in the current directory."""
    return args.book or os.environ.get("COMMONPLACE_BOOK") or "commonplace.db"


def setting(args: Namespace, name: str) -> str | None:
    """Return an option of the store, else its environment variable; a server has its own settings."""
    from commonplace.remote.address import is_remote

    if args.command not in _COMMANDS_WITH.get(name, (args.command,)):
        return None
    given: str | None = getattr(args, name)
    return given or (None if is_remote(place(args)) else os.environ.get(f"COMMONPLACE_{name.upper()}") or None)


def ensure_exists(where: str) -> str:
    """Return `where`, or raise NotFound: a reader who mistyped a path must not see a new, empty book."""
    from commonplace.location import exists, label

    if not exists(where):
        raise NotFound(
            f"there is no book at {label(where)}: name one with --book or COMMONPLACE_BOOK,"
            " or create one with `commonplace remember`"
        )
    return where


def open_existing(args: Namespace) -> Book:
    """Open the book, which must exist."""
    return _open_book(args, ensure_exists(place(args)))


def open_or_create(args: Namespace, console: Console) -> Book:
    """Open the book; create it if it is missing, and say so."""
    return _announce_new(args, console, lambda where: _open_book(args, where))


def open_core(args: Namespace) -> closing[Core]:
    """Open the core of the book, which must exist, for work in all of its spaces."""
    from commonplace import location

    where, reader = ensure_exists(place(args)), setting(args, "reader") or "default"
    return closing(
        location.open_core(
            where, embedder=setting(args, "embedder"), reader=reader, extractor=setting(args, "extractor")
        )
    )


def open_store(args: Namespace, console: Console | None = None) -> closing[Store]:
    """Open the store of the book, for work without an embedder; with a console, create a missing book and say so."""
    from commonplace import location
    from commonplace.settings import Settings

    if console is None:
        return closing(location.open_store(ensure_exists(place(args)), Settings()))
    return closing(_announce_new(args, console, lambda where: location.open_store(where, Settings())))


def _announce_new(args: Namespace, console: Console, open_at: Callable[[str], T]) -> T:
    from commonplace.location import exists, label

    where = place(args)
    is_new = not exists(where)
    opened = open_at(where)
    if is_new:
        console.remark(f"created a new book at {label(where)}")
    return opened


def _open_book(args: Namespace, where: str) -> Book:
    import commonplace
    from commonplace.local import LocalBook

    space = args.space or os.environ.get("COMMONPLACE_SPACE") or "default"
    embedder, reranker, extractor = (setting(args, name) for name in ("embedder", "reranker", "extractor"))
    reader = setting(args, "reader") or "default"
    book = commonplace.open(
        where, space=space, embedder=embedder, reranker=reranker, reader=reader, extractor=extractor
    )
    # A command ends when it is done: a thread would begin jobs that nobody waits for. A server has its own.
    if isinstance(book, LocalBook) and args.command != "mcp":
        book.core.works = False
    return book
