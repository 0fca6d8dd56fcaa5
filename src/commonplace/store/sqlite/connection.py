"""Connections to one SQLite file: how they are opened, and what each SQLite error means to a caller."""

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
from commonplace.store.base import Params, Row
from commonplace.store.dialects import SqliteDialect
from commonplace.store.sqlite.index import SqliteIndex

APPLICATION = 0x434D4E50
"""`PRAGMA application_id` of a book: "CMNP"."""

SQLITE = SqliteDialect()

_TAKE = "UPDATE counter SET value = value + :count WHERE name = 'seq' RETURNING value"


class Connection:
    """A Tx on one SQLite connection; its owner opens and closes the transactions."""

    __slots__ = ("_execute", "dialect", "index", "many", "raw")

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw
        self.dialect = SQLITE
        self.index = SqliteIndex(self)
        self._execute = raw.execute
        self.many = raw.executemany

    def run(self, sql: str, params: Params | None = None) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def take(self, space: int, count: int) -> int:
        # SQLite has one writer at a time, so the order of these numbers is the order of the commits.
        last: list[Row] = self._execute(_TAKE, {"count": count}).fetchall()
        return int(last[0][0]) - count + 1


def connect(path: Path, settings: Settings) -> Connection:
    """Open one connection, ready to use; the file is created if it is not there."""
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a directory: give the path of a file in it, such as {path / 'team.db'}")
    with explained(path):
        raw = apsw.Connection(str(path))
    raw.set_busy_handler(patience(settings.busy_timeout))
    try:
        with explained(path):
            _prepare(raw, path, settings)
    except CommonplaceError:
        raw.close()
        raise
    return Connection(raw)


def _prepare(raw: apsw.Connection, path: Path, settings: Settings) -> None:
    # Before anything is changed: another program's file must stay as it is.
    if _is_foreign(raw):
        raise NotABook(f"{path} is a database of another program, not a commonplace book")
    # WAL is a property of the file; asking for it again on a WAL file changes nothing, and a
    # read-only file must stay usable, so it is set only where it is missing.
    if raw.pragma("journal_mode") != "wal" and not raw.readonly("main"):
        _enter_wal(raw, settings.busy_timeout)
    raw.pragma("synchronous", settings.durability)
    raw.pragma("foreign_keys", False)
    # Forgotten text must not linger in free pages.
    raw.pragma("secure_delete", True)
    # The writer checkpoints between transactions, where it can be told from a commit that fails.
    raw.pragma("wal_autocheckpoint", 0)
    raw.pragma("temp_store", "memory")


def _is_foreign(raw: apsw.Connection) -> bool:
    """Whether the file holds tables and is not marked as a book, both seen at one moment: another process may be
    making the book right now."""
    raw.execute("BEGIN")
    try:
        ours = raw.pragma("application_id") == APPLICATION
        return not ours and bool(raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall())
    finally:
        raw.execute("ROLLBACK")


def _enter_wal(raw: apsw.Connection, timeout: float) -> None:
    # The switch needs the file for itself and does not ask the busy handler.
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
    """A busy handler that waits up to `seconds`, in short random naps so that no writer starves.

    SQLite's own handler sleeps in fixed steps of up to 100 ms: with dozens of processes, the ones that
    wait longest ask most rarely.
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
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, in words that say what to do."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error


def translate(error: apsw.Error, path: Path) -> StoreError:
    """The error of our own that says what this SQLite error means for the book at `path`."""
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
    # On a full disk SQLite reports the write-ahead log's failed growth as an I/O error.
    if not isinstance(error, apsw.IOError):
        return False
    try:
        disk = os.statvfs(path.parent if path.parent.exists() else Path("."))
    except (OSError, AttributeError):  # AttributeError: Windows has no statvfs
        return False
    return disk.f_bavail * disk.f_frsize < 1 << 20
