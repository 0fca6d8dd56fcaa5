"""The names of an open book's files: a file that was deleted, moved or replaced meanwhile is noticed.

SQLite goes on with the files that it opened, whatever has their names now. What it writes there is lost with the last
process that has them open, and a second connection would mix the old log with the new file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from commonplace.errors import StoreUnavailable

Identity = tuple[int, int]
"""Device and inode."""


class FileNames:
    """The paths of a book and of its log, and which files had these names when the book was opened."""

    def __init__(self, path: Path) -> None:
        # Absolute, because the process may change its directory; SQLite keeps the log beside the real file.
        self.path = os.path.abspath(path)
        self.log_path = f"{os.path.realpath(self.path)}-wal"
        self.file = _identify(self.path)
        self.log: Identity | None = None

    def remember_log(self) -> None:
        """Note the log; it exists once a connection has read the file."""
        self.log = _identify(self.log_path)

    def leave_log(self) -> bool:
        """Whether the log is still there while the file is not."""
        return _identify(self.path) != self.file and _identify(self.log_path) == self.log is not None

    def have_other_log(self) -> bool:
        """Whether another file has the name of the log: SQLite must not delete that when it closes."""
        return _identify(self.log_path) not in (None, self.log)

    def explain(self) -> str:
        """Return what happened to the book or to its log, and what to do."""
        if (found := _identify(self.path)) != self.file:
            return (
                f"{self.path} was {_describe(found)} while the book was open, so nothing more can be kept there: close"
                " the book in every process and open it again; to replace a book, close it everywhere and move its -wal"
                " and -shm along"
            )
        return (
            f"{self.log_path}, the log of the book's newest writes, was {_describe(_identify(self.log_path))} while the"
            " book was open: close the book in every process, run `commonplace check`, and restore a backup if it finds"
            " anything"
        )


def create(path: Path) -> None:
    """Create the file of a new book, which only its owner may read; SQLite makes the files beside it alike."""
    # Errors are SQLite's to report. A file that exists is not even opened: closing it would drop the locks on it.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def ensure_single(path: Path) -> None:
    """Raise StoreUnavailable if a file has several names: its log is found by one of them only."""
    with suppress(OSError):
        if (names := os.stat(path).st_nlink) > 1:
            raise StoreUnavailable(
                f"{path} has {names} names (hard links), and the log of its newest writes is found only by the name"
                " that they were written under: delete the other names, or open a copy of the file"
            )


def _identify(path: str | Path) -> Identity | None:
    """Return what distinguishes a file from all others, or None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _describe(found: Identity | None) -> str:
    return "deleted or moved away" if found is None else "replaced by another file"
