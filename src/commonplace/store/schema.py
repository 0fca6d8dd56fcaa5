"""The tables, once for both engines, and how an older book becomes a current one.

SQLite wants a short integer key for the rows that it visits most; PostgreSQL wants the space first in every
primary key, so that tables can be partitioned or distributed by it, and an order of texts that no locale
changes. What search keeps is each engine's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from commonplace.errors import BookTooNew
from commonplace.store.base import Tx

VERSION = 1
OLDEST = 1
"""The oldest version whose programs can go on with a book of this one: those that an upgrade finds running. It rises
only with a change that they could not live with; a new table or column is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """The spots where the engines' DDL differs."""

    blob: str
    integer: str
    real: str
    text: str
    space: str
    """Type of a space's number."""
    sequence: str
    """Column definition of `seq`."""
    sequence_key: str
    """Table constraint that makes (space, seq) the key, where `sequence` does not."""
    clustered: str
    """Suffix of small tables that live in their primary key."""
    divided: str
    """Suffix of tables that hold the data of spaces."""
    own: Callable[[Tx], None]
    """Makes what only this engine has."""


def _sqlite_own(tx: Tx) -> None:
    for statement in _SQLITE_TABLES:
        tx.run(statement)


SQLITE = Types(
    blob="BLOB",
    integer="INTEGER",
    real="REAL",
    text="TEXT",
    space="INTEGER",
    sequence="seq INTEGER PRIMARY KEY",
    sequence_key="",
    clustered=" WITHOUT ROWID",
    divided="",
    own=_sqlite_own,
)

_TABLES = (
    "CREATE TABLE book (name {text} PRIMARY KEY, value {text} NOT NULL){clustered}",
    # `epoch` rises when everything known of a space's index is void: forget everything, reindex.
    "CREATE TABLE space (number {space} PRIMARY KEY, name {text} NOT NULL UNIQUE, epoch {integer} NOT NULL)",
    # One row for each version; the current one has ended_at NULL. `content` is NULL when it equals `text`,
    # and comes last, so that scans do not read the overflow pages of large contents.
    """CREATE TABLE memory (
        {sequence}, space {space} NOT NULL, id {text} NOT NULL, version {integer} NOT NULL,
        action {text} NOT NULL, reason {text}, kind {text} NOT NULL, form {text} NOT NULL, mime {text} NOT NULL,
        importance {real} NOT NULL, scope_user {text}, scope_agent {text}, scope_session {text}, source {text},
        said_at {integer} NOT NULL, created_at {integer} NOT NULL, recorded_at {integer} NOT NULL,
        ended_at {integer}, expires_at {integer}, valid_to {integer}, superseded_by {text}, origin {text} NOT NULL,
        tags {text} NOT NULL, metadata {text} NOT NULL, text {text} NOT NULL, content {blob}{sequence_key}){divided}""",
    "CREATE UNIQUE INDEX memory_id ON memory (space, id, version)",
    "CREATE INDEX memory_time ON memory (space, said_at, id) WHERE ended_at IS NULL",
    "CREATE INDEX memory_expiry ON memory (space, expires_at) WHERE expires_at IS NOT NULL AND ended_at IS NULL",
    """CREATE TABLE tag (space {space} NOT NULL, tag {text} NOT NULL, seq {integer} NOT NULL,
        PRIMARY KEY (space, tag, seq)){clustered}{divided}""",
    """CREATE TABLE feedback (space {space} NOT NULL, id {text} NOT NULL, used {integer} NOT NULL,
        ignored {integer} NOT NULL, wrong {integer} NOT NULL, confirmed {integer} NOT NULL, last_at {integer} NOT NULL,
        PRIMARY KEY (space, id)){clustered}{divided}""",
    # A deleted entry stays as a tombstone (value NULL): versions never start again, so no stale
    # compare-and-set can succeed after a delete.
    """CREATE TABLE entry (space {space} NOT NULL, namespace {text} NOT NULL, key {text} NOT NULL,
        version {integer} NOT NULL, value {text}, updated_at {integer} NOT NULL, expires_at {integer},
        PRIMARY KEY (space, namespace, key)){clustered}{divided}""",
    "CREATE INDEX entry_expiry ON entry (space, expires_at) WHERE expires_at IS NOT NULL",
    """CREATE TABLE file (space {space} NOT NULL, canvas {text} NOT NULL, path {text} NOT NULL,
        revision {integer} NOT NULL, author {text}, at {integer} NOT NULL, content {text},
        PRIMARY KEY (space, canvas, path, revision)){divided}""",
    """CREATE TABLE message (space {space} NOT NULL, session {text} NOT NULL, number {integer} NOT NULL,
        role {text} NOT NULL, name {text}, said_at {integer} NOT NULL, created_at {integer} NOT NULL,
        metadata {text} NOT NULL, content {text} NOT NULL, PRIMARY KEY (space, session, number)){divided}""",
    # What a memory has to do with another, or with the message that it was learned from.
    """CREATE TABLE link (space {space} NOT NULL, id {text} NOT NULL, relation {text} NOT NULL, other {text} NOT NULL,
        at {integer} NOT NULL, reason {text}, detail {text} NOT NULL,
        PRIMARY KEY (space, id, relation, other)){clustered}{divided}""",
    "CREATE INDEX link_other ON link (space, other, relation)",
    # Work that waits, or that failed for good; what is done is gone.
    """CREATE TABLE job (space {space} NOT NULL, number {integer} NOT NULL, kind {text} NOT NULL, state {text} NOT NULL,
        attempts {integer} NOT NULL, due_at {integer} NOT NULL, created_at {integer} NOT NULL, claim {text},
        error {text}, payload {text} NOT NULL, PRIMARY KEY (space, number)){divided}""",
    "CREATE INDEX job_due ON job (state, due_at)",
    # What was done under a request's own name; `result` is NULL where it is not kept.
    """CREATE TABLE request (space {space} NOT NULL, name {text} NOT NULL, digest {text} NOT NULL,
        at {integer} NOT NULL, result {text}, PRIMARY KEY (space, name)){divided}""",
    "CREATE INDEX request_time ON request (space, at)",
    # Who may do what. Keys belong to the book, not to a space: one may open several. Of a secret, its digest.
    """CREATE TABLE api_key (id {text} PRIMARY KEY, secret {text} NOT NULL, old_secret {text}, old_until {integer},
        role {text} NOT NULL, spaces {text} NOT NULL, home {text} NOT NULL, label {text} NOT NULL, plan {text} NOT NULL,
        limits {text} NOT NULL, created_at {integer} NOT NULL, expires_at {integer}, used_at {integer},
        revoked_at {integer}){clustered}""",
    # What each key has used of each limit; `place` is the digest of a namespace's name, or nothing.
    """CREATE TABLE meter (key {text} NOT NULL, name {text} NOT NULL, place {text} NOT NULL, period {integer} NOT NULL,
        used {integer} NOT NULL, PRIMARY KEY (key, name, place)){clustered}""",
)

_SQLITE_TABLES = (
    "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO counter (name, value) VALUES ('seq', 0)",
    # What search needs of each version: fixed-size head, unit vector as float16, hashed words.
    """CREATE TABLE trace (seq INTEGER PRIMARY KEY, space INTEGER NOT NULL, head BLOB NOT NULL, vector BLOB,
        terms BLOB NOT NULL)""",
    "CREATE INDEX trace_space ON trace (space, seq)",
    # Which versions stopped being current, so that mirrors can catch up by sequence number.
    """CREATE TABLE ended (space INTEGER NOT NULL, seq INTEGER NOT NULL, was INTEGER NOT NULL,
        PRIMARY KEY (space, seq, was)) WITHOUT ROWID""",
    # Vectors of a new embedder, gathered while the book goes on with the old one (see reindex).
    """CREATE TABLE reembedded (seq INTEGER PRIMARY KEY, space INTEGER NOT NULL, vector BLOB,
        terms BLOB NOT NULL)""",
)


def _create(tx: Tx, types: Types) -> None:
    names = {field.name: getattr(types, field.name) for field in fields(types)}
    for statement in _TABLES:
        tx.run(statement.format_map(names))
    types.own(tx)


MIGRATIONS: dict[int, Callable[[Tx, Types], None]] = {1: _create}
"""What turns a book of version n - 1 into one of version n; 0 is an empty store."""


def migrate(tx: Tx, types: Types, *, current: int) -> int:
    """Bring a store from version `current` to VERSION inside the caller's transaction."""
    for version in range(current + 1, VERSION + 1):
        MIGRATIONS[version](tx, types)
    tx.run(
        "INSERT INTO book (name, value) VALUES ('oldest', :oldest)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        {"oldest": str(OLDEST)},
    )
    return VERSION


def ensure_known(version: int, oldest: int | None, where: str) -> None:
    """Refuse a book that a newer commonplace wrote, unless it says that this one can go on with it."""
    if version > VERSION and (oldest is None or oldest > VERSION):
        raise BookTooNew(f"{where} has schema {version}, this commonplace knows up to {VERSION}: upgrade it")
