"""The book that a command works on: found by option or environment, made only by commands that write."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.cli.output import Console
from commonplace.errors import NotFound

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.memories.core import Core
    from commonplace.store.base import Store

DEFAULT = "commonplace.db"


def place(args: Namespace) -> str:
    """Where the book is: --book, else COMMONPLACE_BOOK, else commonplace.db in the current directory."""
    return args.book or os.environ.get("COMMONPLACE_BOOK") or DEFAULT


def embedder(args: Namespace) -> str | None:
    """Which embedder: --embedder, else COMMONPLACE_EMBEDDER, else the one that ships; a server has its own."""
    return args.embedder or _for_a_store(args, "COMMONPLACE_EMBEDDER")


def reranker(args: Namespace) -> str | None:
    """Which reranker: --reranker, else COMMONPLACE_RERANKER, else none; only a recall loads it."""
    if args.command != "recall":
        return None
    return args.reranker or _for_a_store(args, "COMMONPLACE_RERANKER")


def _for_a_store(args: Namespace, variable: str) -> str | None:
    """What the environment says of stores: it is not meant for a book behind a server."""
    from commonplace.remote.address import is_remote

    return None if is_remote(place(args)) else os.environ.get(variable) or None


def extractor(args: Namespace) -> str | None:
    """What memories are found with: --extractor, else COMMONPLACE_EXTRACTOR, else the rules; only where one learns."""
    if args.command not in ("learn", "work"):
        return None
    return args.extractor or _for_a_store(args, "COMMONPLACE_EXTRACTOR")


def ensure_there(where: str) -> str:
    """Refuse a path without a file: a reader who mistyped it must not be shown a new, empty book."""
    if _missing(where):
        raise NotFound(
            f"there is no book at {_shown(where)}: name one with --book or COMMONPLACE_BOOK,"
            " or make one with `commonplace remember`"
        )
    return where


@contextmanager
def existing(args: Namespace) -> Iterator[Book]:
    """Open the book that is there, for as long as the block runs."""
    with _open(args, ensure_there(place(args))) as book:
        yield book


@contextmanager
def core(args: Namespace) -> Iterator[Core]:
    """Open what all spaces of the book that is there share, for as long as the block runs."""
    from commonplace.location import open_core

    opened = open_core(ensure_there(place(args)), embedder=embedder(args), extractor=extractor(args))
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def store(args: Namespace) -> Iterator[Store]:
    """Open the store of the book that is there, for work that no embedder takes part in."""
    from commonplace.location import open_store
    from commonplace.settings import Settings

    opened = open_store(ensure_there(place(args)), Settings())
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def writable_store(args: Namespace, console: Console) -> Iterator[Store]:
    """The same, making the book if it is not there and saying so."""
    from commonplace.location import open_store
    from commonplace.settings import Settings

    where = place(args)
    new = _missing(where)
    opened = open_store(where, Settings())
    try:
        if new:
            console.remark(f"made a new book at {_shown(where)}")
        yield opened
    finally:
        opened.close()


@contextmanager
def writable(args: Namespace, console: Console) -> Iterator[Book]:
    """Open the book, making it if it is not there and saying so."""
    where = place(args)
    new = _missing(where)
    with _open(args, where) as book:
        if new:
            console.remark(f"made a new book at {_shown(where)}")
        yield book


def _open(args: Namespace, where: str) -> Book:
    import commonplace
    from commonplace.local import LocalBook

    space = args.space or os.environ.get("COMMONPLACE_SPACE") or "default"
    book = commonplace.open(
        where, space=space, embedder=embedder(args), reranker=reranker(args), extractor=extractor(args)
    )
    # A command ends when it is done: a thread would begin jobs that nobody waits for. A server has its own.
    if isinstance(book, LocalBook):
        book.core.works = False
    return book


def _shown(where: str) -> str:
    from commonplace.location import label

    return label(where)


def _missing(where: str) -> bool:
    from commonplace.location import exists

    return not exists(where)
