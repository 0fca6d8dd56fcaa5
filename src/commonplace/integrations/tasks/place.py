"""Where a bank's book is, from what a config says."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from commonplace.errors import InvalidInput, StoreUnavailable
from commonplace.integrations.handle import BookLike

FILE = "commonplace.db"


def place(path: str | PathLike[str] | None, book: BookLike | None) -> BookLike | None:
    """The book of a bank: one given, or the one that `path` names; None for the usual one.

    AutoGen's path is a folder, which is made: a path without an ending, or a folder that is there, has the book in it.
    """
    if book is not None or path is None:
        return book
    if not isinstance(path, (str, PathLike)):
        raise InvalidInput(f"the path of a bank is text, not {path!r}")
    if "://" in fspath(path):
        return fspath(path)
    named = Path(path).expanduser()
    file = named / FILE if named.is_dir() or not (named.suffix or named.is_file()) else named
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"the folder {file.parent} of a bank cannot be made: {error.strerror}") from error
    return file
