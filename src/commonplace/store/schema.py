"""The tables, once for both engines, and how an older book becomes a current one.

SQLite wants a short integer key for the rows that it visits most; PostgreSQL wants the space first
in every primary key, so that tables can be partitioned or distributed by it. Those two spots, and the
name of the bytes type, are the only differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.store.base import Tx

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The spots where the engines' DDL differs."""

    blob: str
    integer: str
    real: str
    sequence: str
    """Column definition of `seq`."""
    sequence_key: str
    """Table constraint that makes (space, seq) the key, where `sequence` does not."""
    clustered: str
    """Suffix for small tables that live in their primary key."""


SQLITE = Dialect(
    blob="BLOB",
    integer="INTEGER",
    real="REAL",
    sequence="seq INTEGER PRIMARY KEY",
    sequence_key="",
    clustered=" WITHOUT ROWID",
)

_TABLES = (
    "CREATE TABLE book (name TEXT PRIMARY KEY, value TEXT NOT NULL){clustered}",
    "CREATE TABLE counter (name TEXT PRIMARY KEY, value {integer} NOT NULL){clustered}",
    # `epoch` rises when everything known of a space's index is void: forget everything, reindex.
    "CREATE TABLE space (number {integer} PRIMARY KEY, name TEXT NOT NULL UNIQUE, epoch {integer} NOT NULL)",
    # One row for each version; the current one has ended_at NULL. `content` is NULL when it equals `text`,
    # and comes last, so that scans do not read the overflow pages of large contents.
    """CREATE TABLE memory (
        {sequence}, space {integer} NOT NULL, id TEXT NOT NULL, version {integer} NOT NULL,
        action TEXT NOT NULL, reason TEXT, kind TEXT NOT NULL, form TEXT NOT NULL, mime TEXT NOT NULL,
        importance {real} NOT NULL, scope_user TEXT, scope_agent TEXT, scope_session TEXT, source TEXT,
        said_at {integer} NOT NULL, created_at {integer} NOT NULL, recorded_at {integer} NOT NULL,
        ended_at {integer}, expires_at {integer}, valid_to {integer}, superseded_by TEXT,
        tags TEXT NOT NULL, metadata TEXT NOT NULL, text TEXT NOT NULL, content {blob}{sequence_key})""",
    "CREATE UNIQUE INDEX memory_id ON memory (space, id, version)",
    "CREATE INDEX memory_time ON memory (space, said_at, id) WHERE ended_at IS NULL",
    "CREATE INDEX memory_expiry ON memory (space, expires_at) WHERE expires_at IS NOT NULL AND ended_at IS NULL",
    """CREATE TABLE tag (space {integer} NOT NULL, tag TEXT NOT NULL, seq {integer} NOT NULL,
        PRIMARY KEY (space, tag, seq)){clustered}""",
    # What search needs of each version: fixed-size head, unit vector as float16, hashed words.
    """CREATE TABLE trace ({sequence}, space {integer} NOT NULL, head {blob} NOT NULL, vector {blob},
        terms {blob} NOT NULL{sequence_key})""",
    "CREATE INDEX trace_space ON trace (space, seq)",
    # Which versions stopped being current, so that mirrors can catch up by sequence number.
    """CREATE TABLE ended (space {integer} NOT NULL, seq {integer} NOT NULL, was {integer} NOT NULL,
        PRIMARY KEY (space, seq, was)){clustered}""",
    """CREATE TABLE feedback (space {integer} NOT NULL, id TEXT NOT NULL, used {integer} NOT NULL,
        ignored {integer} NOT NULL, wrong {integer} NOT NULL, last_at {integer} NOT NULL,
        PRIMARY KEY (space, id)){clustered}""",
    # A deleted entry stays as a tombstone (value NULL): versions never start again, so no stale
    # compare-and-set can succeed after a delete.
    """CREATE TABLE entry (space {integer} NOT NULL, namespace TEXT NOT NULL, key TEXT NOT NULL,
        version {integer} NOT NULL, value TEXT, updated_at {integer} NOT NULL, expires_at {integer},
        PRIMARY KEY (space, namespace, key)){clustered}""",
    "CREATE INDEX entry_expiry ON entry (space, expires_at) WHERE expires_at IS NOT NULL",
    """CREATE TABLE file (space {integer} NOT NULL, canvas TEXT NOT NULL, path TEXT NOT NULL,
        revision {integer} NOT NULL, author TEXT, at {integer} NOT NULL, content TEXT,
        PRIMARY KEY (space, canvas, path, revision))""",
    """CREATE TABLE message (space {integer} NOT NULL, session TEXT NOT NULL, number {integer} NOT NULL,
        role TEXT NOT NULL, name TEXT, said_at {integer} NOT NULL, created_at {integer} NOT NULL,
        metadata TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (space, session, number))""",
    # Vectors of a new embedder, gathered while the book goes on with the old one (see reindex).
    """CREATE TABLE reembedded ({sequence}, space {integer} NOT NULL, vector {blob}, terms {blob} NOT NULL
        {sequence_key})""",
    "INSERT INTO counter (name, value) VALUES ('seq', 0)",
)


def _create(tx: Tx, dialect: Dialect) -> None:
    names = {name: getattr(dialect, name) for name in Dialect.__slots__}
    for statement in _TABLES:
        tx.run(statement.format_map(names))


MIGRATIONS: dict[int, Callable[[Tx, Dialect], None]] = {1: _create}
"""What turns a book of version n - 1 into one of version n; 0 is an empty store."""


def migrate(tx: Tx, dialect: Dialect, *, current: int) -> int:
    """Bring a store from version `current` to VERSION inside the caller's transaction."""
    for version in range(current + 1, VERSION + 1):
        MIGRATIONS[version](tx, dialect)
    return VERSION
