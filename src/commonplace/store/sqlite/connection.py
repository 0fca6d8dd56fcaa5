"""Opening a SQLite file as a book: the connection, the tables that only SQLite has, and SQLite's errors as ours."""

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
from commonplace.store import schema
from commonplace.store.base import Tx
from commonplace.store.sqlite.names import create, ensure_single
from commonplace.store.tables import spaces

_APPLICATION = 0x434D4E50
"""`PRAGMA application_id` of a book: "CMNP"."""


RULES = {
    "ended versions that are not recorded for mirrors": """SELECT count(*) FROM memory m WHERE m.ended_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.space = m.space AND e.was = m.seq)""",
    "sequence numbers beyond the counter": """SELECT count(*) FROM memory
        WHERE seq > (SELECT value FROM counter WHERE name = 'seq')""",
    "vectors of the wrong size": """SELECT count(*) FROM trace WHERE length(vector) <>
        2 * (SELECT CAST(value AS INTEGER) FROM book WHERE name = 'dimension')""",
}
_TABLES = (
    "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO counter (name, value) VALUES ('seq', 0)",
    # The search index: fixed-size head, unit vector as float16, hashed words of each version.
    """CREATE TABLE trace (seq INTEGER PRIMARY KEY, space INTEGER NOT NULL, head BLOB NOT NULL, vector BLOB,
        terms BLOB NOT NULL)""",
    "CREATE INDEX trace_space ON trace (space, seq)",
    # Versions that are no longer current, so that mirrors can catch up by sequence number.
    """CREATE TABLE ended (space INTEGER NOT NULL, seq INTEGER NOT NULL, was INTEGER NOT NULL,
        PRIMARY KEY (space, seq, was)) WITHOUT ROWID""",
    # Vectors of a new embedder, collected while the book still uses the old one (see reindex).
    """CREATE TABLE reembedded (seq INTEGER PRIMARY KEY, space INTEGER NOT NULL, vector BLOB,
        terms BLOB NOT NULL)""",
)


def _create_tables(tx: Tx) -> None:
    for statement in _TABLES:
        tx.run(statement)


_TYPES = schema.Types(
    blob="BLOB",
    integer="INTEGER",
    real="REAL",
    text="TEXT",
    space="INTEGER",
    sequence="seq INTEGER PRIMARY KEY",
    sequence_key="",
    clustered=" WITHOUT ROWID",
    divided="",
    create_own=_create_tables,
    wall=lambda tx, table: None,
)


def connect(path: Path, settings: Settings, ensure_named: Callable[[], None] | None = None) -> apsw.Connection:
    """Open a connection, ready to use; the first one creates the file if it does not exist.

    For others, `ensure_named` raises if the file is not the one that the first has opened.
    """
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a directory: give the path of a file in it, such as {path / 'team.db'}")
    if ensure_named is None:
        create(path)
        ensure_single(path)
    else:
        ensure_named()
    with explain_errors(path):
        raw = apsw.Connection(str(path))
    raw.set_busy_handler(patience(settings.busy_timeout))
    try:
        if ensure_named is not None:
            # Again before the first read, which would take the old log for the new file's.
            ensure_named()
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
        ours = raw.pragma("application_id") == _APPLICATION
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


def migrate(tx: Tx, raw: apsw.Connection, path: Path) -> None:
    """Create the book in an empty file, or bring it to the current schema."""
    if _version(tx, raw, path) >= schema.VERSION:
        return
    try:
        raw.execute("BEGIN IMMEDIATE")
        # Read again under the lock: another process may have migrated meanwhile.
        current = _version(tx, raw, path)
        if current < schema.VERSION:
            schema.migrate(tx, _TYPES, current=current)
            raw.pragma("application_id", _APPLICATION)
            raw.pragma("user_version", schema.VERSION)
        raw.execute("COMMIT")
    except BaseException:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
        raise


def _version(tx: Tx, raw: apsw.Connection, path: Path) -> int:
    """Return the file's schema version; 0 for an empty file."""
    if raw.pragma("application_id") != _APPLICATION:
        return 0
    version = int(raw.pragma("user_version"))
    if version > schema.VERSION:
        oldest = spaces.read_value(tx, "oldest")
        schema.ensure_known(version, None if oldest is None else int(oldest), str(path))
    return version


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
