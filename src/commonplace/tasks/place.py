"""Where a bank's book is, from what a config says."""

from __future__ import annotations

from pathlib import Path

from commonplace.adapters.door import Where

FILE = "commonplace.db"


def place(path: str | None, book: Where | None) -> Where | None:
    """The book of a bank: one given, or the one that `path` names; None for the usual one.

    AutoGen's path is a folder: a path without an ending, or a folder that is there, has the book in it.
    """
    if book is not None or path is None:
        return book
    if "://" in path:
        return path
    named = Path(path).expanduser()
    if named.is_dir() or not (named.suffix or named.is_file()):
        named.mkdir(parents=True, exist_ok=True)
        return named / FILE
    return named
