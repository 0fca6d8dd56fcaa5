"""The book a command works on: found by option or environment, created only by commands that write."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from commonplace.cli.console import Console
from commonplace.errors import NotFound

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.memories.core import Core
    from commonplace.store.base import Store

# Modules of ours are imported inside functions here: `commonplace --help` must not wait for numpy and apsw.

DEFAULT = "commonplace.db"


def place(args: Namespace) -> str:
    """Return where the book is: --book, else COMMONPLACE_BOOK, else commonplace.db in the current directory."""
    return args.book or os.environ.get("COMMONPLACE_BOOK") or DEFAULT


def embedder(args: Namespace) -> str | None:
    """Return the embedder: --embedder, else COMMONPLACE_EMBEDDER, else None for the one that ships."""
    return args.embedder or _from_environment(args, "COMMONPLACE_EMBEDDER")


def reranker(args: Namespace) -> str | None:
    """Return the reranker: --reranker, else COMMONPLACE_RERANKER; only `recall` loads one."""
    return None if args.command != "recall" else args.reranker or _from_environment(args, "COMMONPLACE_RERANKER")


def extractor(args: Namespace) -> str | None:
    """Return the extractor: --extractor, else COMMONPLACE_EXTRACTOR; only `learn` and `work` use one."""
    if args.command not in ("learn", "work"):
        return None
    return args.extractor or _from_environment(args, "COMMONPLACE_EXTRACTOR")


def _from_environment(args: Namespace, variable: str) -> str | None:
    """Return a setting of the store from the environment; a server has its own settings."""
    from commonplace.remote.address import is_remote

    return None if is_remote(place(args)) else os.environ.get(variable) or None


def ensure_there(where: str) -> str:
    """Return `where`, or raise NotFound: a reader who mistyped a path must not see a new, empty book."""
    if _is_missing(where):
        raise NotFound(
            f"there is no book at {_label(where)}: name one with --book or COMMONPLACE_BOOK,"
            " or create one with `commonplace remember`"
        )
    return where


@contextmanager
def existing(args: Namespace) -> Iterator[Book]:
    """Open the book, which must exist."""
    with _open(args, ensure_there(place(args))) as book:
        yield book


@contextmanager
def writable(args: Namespace, console: Console) -> Iterator[Book]:
    """Open the book; create it if it is missing, and say so."""
    where = place(args)
    new = _is_missing(where)
    with _open(args, where) as book:
        if new:
            console.remark(f"created a new book at {_label(where)}")
        yield book


@contextmanager
def core(args: Namespace) -> Iterator[Core]:
    """Open the core of the book, which must exist, for work in all of its spaces."""
    from commonplace.location import open_core

    where = ensure_there(place(args))
    with closing(open_core(where, embedder=embedder(args), extractor=extractor(args))) as opened:
        yield opened


@contextmanager
def store(args: Namespace) -> Iterator[Store]:
    """Open the store of the book, which must exist, for work without an embedder."""
    from commonplace.location import open_store
    from commonplace.settings import Settings

    with closing(open_store(ensure_there(place(args)), Settings())) as opened:
        yield opened


@contextmanager
def writable_store(args: Namespace, console: Console) -> Iterator[Store]:
    """Open the store of the book; create it if it is missing, and say so."""
    from commonplace.location import open_store
    from commonplace.settings import Settings

    where = place(args)
    new = _is_missing(where)
    with closing(open_store(where, Settings())) as opened:
        if new:
            console.remark(f"created a new book at {_label(where)}")
        yield opened


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


def _label(where: str) -> str:
    from commonplace.location import label

    return label(where)


def _is_missing(where: str) -> bool:
    from commonplace.location import exists

    return not exists(where)
