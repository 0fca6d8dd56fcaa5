"""Opening a connection to a SQLite file, and SQLite's errors as ours."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from commonplace.errors import (
    CommonplaceError,
    NotABook,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from commonplace.settings import Settings

APPLICATION = 0x434D4E50
"""`PRAGMA application_id` of a book: "CMNP"."""


def connect(path: Path, settings: Settings) -> apsw.Connection:
    """Open a connection, ready to use; creates the file if it does not exist."""
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a directory: give the path of a file in it, such as {path / 'team.db'}")
    with explain_errors(path):
        raw = apsw.Connection(str(path))
    raw.set_busy_handler(patience(settings.busy_timeout))
    try:
        with explain_errors(path):
            _prepare(raw, path, settings)
    except CommonplaceError:
        raw.close()
        raise
    return raw


def _prepare(raw: apsw.Connection, path: Path, settings: Settings) -> None:
    # First of all: another program's file must not be changed.
    if _is_foreign(raw):
        raise NotABook(f"{path} is a database of another program, not a commonplace book")
    # Set only where it is missing: a read-only file must stay usable.
    if raw.pragma("journal_mode") != "wal" and not raw.readonly("main"):
        _enter_wal(raw, settings.busy_timeout)
    raw.pragma("synchronous", settings.durability)
    raw.pragma("foreign_keys", False)
    # Forgotten text must not stay in free pages.
    raw.pragma("secure_delete", True)
    # The writer checkpoints between transactions, where a failure is not mistaken for a failed commit.
    raw.pragma("wal_autocheckpoint", 0)
    raw.pragma("temp_store", "memory")


def _is_foreign(raw: apsw.Connection) -> bool:
    """Whether the file holds tables but is no book. Read in one snapshot: another process may be creating the book."""
    raw.execute("BEGIN")
    try:
        ours = raw.pragma("application_id") == APPLICATION
        return not ours and bool(raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall())
    finally:
        raw.execute("ROLLBACK")


def _enter_wal(raw: apsw.Connection, timeout: float) -> None:
    # The switch needs exclusive access and does not call the busy handler.
    deadline = time.monotonic() + timeout
    while True:
        try:
            raw.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.02))


def patience(seconds: float) -> Callable[[int], bool]:
    """Return a busy handler that waits up to `seconds`, in short random naps so that no writer starves.

    SQLite's own handler sleeps in fixed steps of up to 100 ms; with dozens of processes, those that have waited
    longest ask least often.
    """
    started = 0.0

    def again(attempts: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if attempts == 0:
            started = now
        if now - started > seconds:
            return False
        time.sleep(random.uniform(0.0002, 0.001 * min(attempts + 1, 10)))
        return True

    return again


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as ours, with advice."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error


def translate(error: apsw.Error, path: Path) -> StoreError:
    """Return our error for an SQLite error on the book at `path`."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{path} stayed locked by other writers; try again, or raise busy_timeout")
    if isinstance(error, apsw.FullError) or _no_space(path, error):
        return StoreFull(f"no room left on the disk that holds {path}; nothing was changed")
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError)):
        return StoreReadOnly(f"{path} cannot be written: check the permissions of the file and its directory")
    if isinstance(error, apsw.NotADBError):
        return NotABook(f"{path} is not a commonplace book: the file is no SQLite database")
    if isinstance(error, apsw.CantOpenError):
        return StoreUnavailable(f"{path} cannot be opened: {error}; check that its directory exists and is writable")
    if isinstance(error, apsw.CorruptError):
        return StoreCorrupt(f"{path} is damaged ({error}); run `commonplace check` and restore a backup")
    return StoreError(f"SQLite could not finish on {path}: {error}")


def _no_space(path: Path, error: apsw.Error) -> bool:
    # On a full disk, SQLite reports that the write-ahead log cannot grow as an I/O error.
    if not isinstance(error, apsw.IOError):
        return False
    try:
        disk = os.statvfs(path.parent if path.parent.exists() else Path("."))
    except (OSError, AttributeError):  # AttributeError: Windows has no statvfs
        return False
    return disk.f_bavail * disk.f_frsize < 1 << 20
