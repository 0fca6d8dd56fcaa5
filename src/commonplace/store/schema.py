"""The tables of a book for both engines, their migrations, and the check of their consistency.

SQLite has a short integer key on the largest tables; PostgreSQL has the space first in every primary key, so that
tables can be partitioned by it, and a text order that no locale changes. The tables of the search index are each
engine's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields

from commonplace.errors import BookTooNew
from commonplace.store.base import Tx
from commonplace.store.row import pack_terms
from commonplace.store.tables import overview, spaces
from commonplace.values import PARTS, Check

VERSION = 3
OLDEST = 1
"""The oldest version whose programs can still use a book of this version. It rises only with an incompatible change; a
new table, column or index is compatible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """The places where the engines' DDL differs."""

    blob: str
    integer: str
    real: str
    text: str
    space: str
    """Type of a space number."""
    sequence: str
    """Column definition of `seq`."""
    sequence_key: str
    """Table constraint that makes (space, seq) the key, unless `sequence` is the key."""
    clustered: str
    """Suffix of small tables that are stored in their primary key."""
    divided: str
    """Suffix of tables that hold the data of spaces."""
    create_own: Callable[[Tx], None]
    """Creates the tables that only this engine has."""
    wall: Callable[[Tx, str], None]
    """Puts a new table that is not divided behind the wall between spaces."""


_TABLES = (
    "CREATE TABLE book (name {text} PRIMARY KEY, value {text} NOT NULL){clustered}",
    # `epoch` rises when all cached indexes of a space become invalid: forget everything, reindex.
    "CREATE TABLE space (number {space} PRIMARY KEY, name {text} NOT NULL UNIQUE, epoch {integer} NOT NULL)",
    # One row for each version; the current one has ended_at NULL. `content` is NULL when it equals `text`.
    # It is last, so that scans do not read the overflow pages of large contents.
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
    # A deleted entry stays as a tombstone (value NULL): versions never restart, so no stale
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
    # Relations of a memory to other memories and to the messages that it was learned from.
    """CREATE TABLE link (space {space} NOT NULL, id {text} NOT NULL, relation {text} NOT NULL, other {text} NOT NULL,
        at {integer} NOT NULL, reason {text}, detail {text} NOT NULL,
        PRIMARY KEY (space, id, relation, other)){clustered}{divided}""",
    "CREATE INDEX link_other ON link (space, other, relation)",
    # Jobs that wait or have failed for good; finished jobs are deleted.
    """CREATE TABLE job (space {space} NOT NULL, number {integer} NOT NULL, kind {text} NOT NULL, state {text} NOT NULL,
        attempts {integer} NOT NULL, due_at {integer} NOT NULL, created_at {integer} NOT NULL, claim {text},
        error {text}, payload {text} NOT NULL, PRIMARY KEY (space, number)){divided}""",
    "CREATE INDEX job_due ON job (state, due_at)",
    # Requests by idempotency key; `result` is NULL if it is not kept.
    """CREATE TABLE request (space {space} NOT NULL, name {text} NOT NULL, digest {text} NOT NULL,
        at {integer} NOT NULL, result {text}, PRIMARY KEY (space, name)){divided}""",
    "CREATE INDEX request_time ON request (space, at)",
    # API keys belong to the book: one may open several spaces. Secrets are stored as digests.
    """CREATE TABLE api_key (id {text} PRIMARY KEY, secret {text} NOT NULL, old_secret {text}, old_until {integer},
        role {text} NOT NULL, spaces {text} NOT NULL, home {text} NOT NULL, label {text} NOT NULL, plan {text} NOT NULL,
        limits {text} NOT NULL, created_at {integer} NOT NULL, expires_at {integer}, used_at {integer},
        revoked_at {integer}){clustered}""",
    # Use of each key's limits; `place` is the digest of a namespace's name, or empty.
    """CREATE TABLE meter (key {text} NOT NULL, name {text} NOT NULL, place {text} NOT NULL, period {integer} NOT NULL,
        used {integer} NOT NULL, PRIMARY KEY (key, name, place)){clustered}""",
)


def _create(tx: Tx, types: Types) -> None:
    names = {field.name: getattr(types, field.name) for field in fields(types)}
    for statement in _TABLES:
        tx.run(statement.format_map(names))
    types.create_own(tx)


def _add_owners(tx: Tx, types: Types) -> None:
    """Give entries, files and messages an owner, and keep receipts of erasures."""
    for table, parts in (("entry", PARTS), ("file", PARTS), ("message", PARTS[:2])):
        for part in parts:
            tx.run(f"ALTER TABLE {table} ADD COLUMN scope_{part} {types.text}")
    # Row 0 of a space tells how many receipts there are and the hash of the last one, so that a missing one is noticed.
    tx.run(
        f"""CREATE TABLE erasure (space {types.space} NOT NULL, number {types.integer} NOT NULL,
        changed_at {types.integer} NOT NULL, settled_at {types.integer}, seal {types.text}, hash {types.text} NOT NULL,
        body {types.text} NOT NULL, PRIMARY KEY (space, number)){types.clustered}"""
    )
    types.wall(tx, "erasure")


def _index_overview(tx: Tx, types: Types) -> None:
    overview.create_indexes(tx)


MIGRATIONS: dict[int, Callable[[Tx, Types], None]] = {1: _create, 2: _add_owners, 3: _index_overview}
"""Migrations from version n - 1 to version n; 0 is an empty store."""


def migrate(tx: Tx, types: Types, *, current: int) -> None:
    """Bring a store from version `current` to VERSION inside the caller's transaction."""
    for version in range(current + 1, VERSION + 1):
        MIGRATIONS[version](tx, types)
    spaces.write_value(tx, "oldest", str(OLDEST))


def ensure_known(version: int, oldest: int | None, where: str) -> None:
    """Raise BookTooNew for a newer book, unless it declares this version compatible."""
    if version > VERSION and (oldest is None or oldest > VERSION):
        raise BookTooNew(f"{where} has schema {version}, this commonplace knows up to {VERSION}: upgrade it")


# -- consistency ---------------------------------------------------------------------------------------

_COUNTED = ("memory", "trace", "tag", "entry", "file", "message")
# Each counts rows that must not exist; the key describes them.
_RULES = {
    "memories without a trace: recall cannot find them": """SELECT count(*) FROM memory m
        WHERE NOT EXISTS (SELECT 1 FROM trace t WHERE t.seq = m.seq AND t.space = m.space)""",
    "traces without a memory: parts of a forgotten memory are left": """SELECT count(*) FROM trace t
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "tags without a memory": """SELECT count(*) FROM tag t
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.seq = t.seq AND m.space = t.space)""",
    "memories of spaces that do not exist": """SELECT count(*) FROM memory m
        WHERE NOT EXISTS (SELECT 1 FROM space s WHERE s.number = m.space)""",
    "memories with more than one current version": """SELECT count(*) FROM (SELECT 1 FROM memory
        WHERE ended_at IS NULL GROUP BY space, id HAVING count(*) > 1) found""",
    "memories without a current version": """SELECT count(*) FROM (SELECT 1 FROM memory
        GROUP BY space, id HAVING count(CASE WHEN ended_at IS NULL THEN 1 END) = 0) found""",
}
# Sequence numbers repeat across spaces in PostgreSQL, so that a page begins after a number and a space.
_WORDS = """SELECT m.seq, m.space, m.text, m.tags, m.source, t.terms FROM memory m
    JOIN trace t ON t.seq = m.seq AND t.space = m.space
    WHERE (m.seq, m.space) > (:seq, :space) AND m.ended_at IS NULL ORDER BY m.seq, m.space LIMIT :limit"""
WORDS_PAGE = 1_000


def check(tx: Tx, rules: Mapping[str, str], found: Iterable[str], *, deep: bool) -> Check:
    """Check the common rules and the engine's own; `deep` also analyses each text again.

    `found` are problems that the engine has already found.
    """
    broken = {text: int(tx.run(sql)[0][0]) for text, sql in {**_RULES, **rules}.items()}
    problems = [*found, *(f"{count:,} {text}" for text, count in broken.items() if count)]
    if deep and (wrong := _count_wrong_words(tx)):
        problems.append(f"{wrong:,} memories whose stored words differ from their text: run `commonplace reindex`")
    checked = {table: int(tx.run(f"SELECT count(*) FROM {table}")[0][0]) for table in _COUNTED}
    return Check(problems=tuple(problems), checked=checked)


def _count_wrong_words(tx: Tx) -> int:
    wrong, seq, space = 0, 0, 0
    while rows := tx.run(_WORDS, {"seq": seq, "space": space, "limit": WORDS_PAGE}):
        wrong += sum(pack_terms(text, json.loads(tags), source) != stored for *_, text, tags, source, stored in rows)
        seq, space, *_ = rows[-1]
    return wrong
