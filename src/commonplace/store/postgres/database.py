"""A book in a PostgreSQL database: its own tables, partitions and row-level security, migrations, size and check."""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import psycopg

from commonplace.errors import NotABook, StoreUnavailable
from commonplace.settings import Settings
from commonplace.store import schema
from commonplace.store.base import Tx
from commonplace.store.postgres.address import DatabaseAddress
from commonplace.store.postgres.connections import PostgresConnection, connect, find_vector_types
from commonplace.store.postgres.transaction import Transaction, unpack_postings
from commonplace.store.postgres.wire import VectorTypes
from commonplace.store.tables import spaces
from commonplace.values import Check

DIVIDED = (
    "memory", "tag", "feedback", "entry", "file", "message", "link", "job", "request", "trace", "posting", "reembedded",
)  # fmt: skip
"""Tables that are partitioned by space; a space lies in one partition."""

_TABLES = (
    # `halfvec` without a length: a book's dimension may change, and an index names it where needed.
    """CREATE TABLE trace (space integer NOT NULL, seq bigint NOT NULL, state smallint NOT NULL,
        session integer NOT NULL, vector halfvec, terms bytea NOT NULL, PRIMARY KEY (space, seq))
        PARTITION BY HASH (space)""",
    # In the row as long as it fits: vectors outside the table make a scan three times slower.
    "ALTER TABLE trace ALTER COLUMN vector SET STORAGE MAIN",
    """CREATE TABLE posting (space integer NOT NULL, term integer NOT NULL, seq bigint NOT NULL,
        count smallint NOT NULL, length integer NOT NULL, current boolean NOT NULL,
        PRIMARY KEY (space, term, seq) INCLUDE (count, length, current)) PARTITION BY HASH (space)""",
    # The number of memories visible to recall in each space, since counting would read them all, and the last
    # sequence number, since none is used twice, even after its memory was forgotten.
    """CREATE TABLE census (space integer PRIMARY KEY, population bigint NOT NULL, last bigint NOT NULL)
        WITH (fillfactor = 50)""",
    # The last commit of each connection: tells whether a commit whose answer was lost has succeeded.
    """CREATE TABLE receipt (writer bigint PRIMARY KEY, token bigint NOT NULL, at timestamptz NOT NULL)
        WITH (fillfactor = 50)""",
    """CREATE TABLE reembedded (space integer NOT NULL, seq bigint NOT NULL, vector halfvec, terms bytea NOT NULL,
        PRIMARY KEY (space, seq)) PARTITION BY HASH (space)""",
)

# Each transaction sets its space; without it, no row can be read or written. In a sub-select the setting is read once
# for a statement, not once for a row.
_POLICY = """CREATE POLICY wall ON {table} USING
    ((SELECT NULLIF(current_setting('commonplace.space', TRUE), '')::bigint) IN (space, -1))"""


_OLDEST = 130000
_OLDEST_PGVECTOR = (0, 8)
_TABLE_NAMES = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"
_SIZE = """SELECT coalesce(CAST(sum(pg_total_relation_size(c.oid)) AS bigint), 0) FROM pg_class c
    WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'"""

_RULES = {
    "traces whose state differs from their memory": """SELECT count(*) FROM trace t JOIN memory m
        ON m.space = t.space AND m.seq = t.seq WHERE t.state <>
        CASE WHEN m.ended_at IS NOT NULL THEN 2 WHEN m.valid_to IS NOT NULL THEN 1 ELSE 0 END""",
    "vectors of the wrong size": """SELECT count(*) FROM trace WHERE vector_dims(vector) <>
        (SELECT CAST(value AS integer) FROM book WHERE name = 'dimension')""",
    "spaces whose census is wrong": """SELECT count(*) FROM
        (SELECT space, count(*) AS found FROM trace WHERE state = 0 GROUP BY space) t
        FULL JOIN census c ON c.space = t.space WHERE coalesce(t.found, 0) <> coalesce(c.population, 0)""",
    "postings without a standing memory": """SELECT count(*) FROM posting p WHERE NOT EXISTS (SELECT 1 FROM trace t
        WHERE t.space = p.space AND t.seq = p.seq AND t.state = CASE WHEN p.current THEN 0 ELSE 1 END)""",
}
_POSTED = """SELECT t.terms, coalesce(p.number, 0), coalesce(p.total, 0), coalesce(p.counted, 0) FROM trace t LEFT JOIN
    (SELECT space, seq, count(*) AS number, CAST(sum(term) AS bigint) AS total, sum(count) AS counted
    FROM posting GROUP BY space, seq) p ON p.space = t.space AND p.seq = t.seq WHERE t.state < 2"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The result of opening a book's database."""

    types: VectorTypes
    engine: str
    position: str
    """Position of the server's log."""
    connection: PostgresConnection
    """The connection used, for further use: connecting takes as long as everything else."""


def prepare(address: DatabaseAddress, settings: Settings) -> Prepared:
    """Create the book in an empty database, or migrate it."""
    connection = connect(address.url, address.shown, settings)
    try:
        return _prepare(connection, address)
    except BaseException:
        connection.close()
        raise


def _prepare(connection: PostgresConnection, address: DatabaseAddress) -> Prepared:
    server = connection.info.server_version
    if server < _OLDEST:
        raise StoreUnavailable(f"{address.shown} is PostgreSQL {server // 10000}: commonplace needs 13 or later")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreUnavailable(f"{address.shown} has the encoding {encoding}: create a database with ENCODING 'UTF8'")
    if _version(connection, address) < schema.VERSION:
        _migrate(connection, address)
    types = find_vector_types(connection, address.shown)
    ((pgvector,),) = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchall()
    if tuple(map(int, pgvector.split(".")[:2])) < _OLDEST_PGVECTOR:
        raise StoreUnavailable(f"{address.shown} has pgvector {pgvector}: commonplace needs 0.8 or later")
    release = f"{server // 10000}.{server % 10000}"
    position = _sweep_receipts(connection, address)
    engine = f"PostgreSQL {release}, pgvector {pgvector}"
    return Prepared(types=types, engine=engine, position=position, connection=connection)


def _sweep_receipts(connection: PostgresConnection, address: DatabaseAddress) -> str:
    """Remove old receipts and return the position of the server's log."""
    ((standby,),) = connection.execute("SELECT pg_is_in_recovery()").fetchall()
    if standby:  # can be read
        return "0/0"
    # Without these rights the book can still be read.
    with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction):
        connection.execute(f"DELETE FROM {address.quoted}.receipt WHERE at < now() - interval '1 day'".encode())
    ((position,),) = connection.execute("SELECT CAST(pg_current_wal_insert_lsn() AS text)").fetchall()
    return str(position)


def holds_a_book(address: DatabaseAddress, settings: Settings) -> bool:
    """Whether there is a book already."""
    with connect(address.url, address.shown, settings) as connection:
        return _version(connection, address) > 0


def _version(connection: PostgresConnection, address: DatabaseAddress) -> int:
    """Return the book's schema version; 0 if there is no book."""
    found = {name for (name,) in connection.execute(_TABLE_NAMES, [address.schema]).fetchall()}
    if "book" not in found:
        if found:
            raise NotABook(f"schema {address.schema} of {address.shown} holds tables of another program")
        return 0
    rows = connection.execute(
        f"SELECT name, value FROM {address.quoted}.book WHERE name IN ('schema', 'oldest')"
    ).fetchall()
    written = {name: int(value) for name, value in rows}
    if "schema" not in written:
        raise NotABook(f"table book in schema {address.schema} of {address.shown} belongs to another program")
    schema.ensure_known(written["schema"], written.get("oldest"), address.shown)
    return written["schema"]


def _migrate(connection: PostgresConnection, address: DatabaseAddress) -> None:
    with connection.transaction():
        key = zlib.crc32(f"commonplace {address.schema}".encode())
        connection.execute("SELECT pg_advisory_xact_lock($1)", [key])
        # Read again under the lock: another process may have done the work meanwhile.
        current = _version(connection, address)
        if current >= schema.VERSION:
            return
        if not current:
            _ensure_extension(connection, address)
            _ensure_schema(connection, address)
        types = find_vector_types(connection, address.shown)
        connection.execute(f"SET LOCAL search_path TO {address.quoted}, {types.schema}")
        with connection.wire() as wire:
            tx = Transaction(wire)
            schema.migrate(tx, _types(address.partitions), current=current)
            spaces.write_value(tx, "schema", str(schema.VERSION))


def _types(partitions: int) -> schema.Types:
    return schema.Types(
        blob="bytea",
        integer="bigint",
        real="double precision",
        text='text COLLATE "C"',
        space="integer",
        sequence="seq bigint NOT NULL",
        sequence_key=", PRIMARY KEY (space, seq)",
        clustered="",
        divided=" PARTITION BY HASH (space)",
        create_own=partial(_create_tables, partitions=partitions),
        wall=_build_wall,
    )


def _create_tables(tx: Tx, *, partitions: int) -> None:
    for sql in _TABLES:
        tx.run(sql)
    for table in DIVIDED:
        for part in range(partitions):
            tx.run(
                f"CREATE TABLE {table}_{part} PARTITION OF {table}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
            )
            # For statements that name a partition: policies of the whole table apply only where it is named.
            tx.run(f"ALTER TABLE {table}_{part} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    for table in (*DIVIDED, "census"):
        _build_wall(tx, table)


def _build_wall(tx: Tx, table: str) -> None:
    tx.run(_POLICY.format(table=table))
    tx.run(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def _ensure_schema(connection: PostgresConnection, address: DatabaseAddress) -> None:
    # A role may own the schema without the right to create one.
    if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", [address.schema]).fetchall():
        connection.execute(f"CREATE SCHEMA {address.quoted}".encode())


def _ensure_extension(connection: PostgresConnection, address: DatabaseAddress) -> None:
    # The extension belongs to the database: books in other schemas may be created at the same moment.
    connection.execute("SELECT pg_advisory_xact_lock($1)", [zlib.crc32(b"commonplace extension")])
    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchall():
        return
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION vector")
    except psycopg.Error as error:
        raise StoreUnavailable(
            f"{address.shown} has no pgvector, and this role cannot add it: let an administrator run"
            f" CREATE EXTENSION vector there ({str(error).strip()})"
        ) from error


def size(tx: Tx) -> int:
    """Return the bytes of every table with its indexes."""
    return int(tx.run(_SIZE)[0][0])


def check(tx: Tx, *, deep: bool) -> Check:
    """Check the book; `deep` also compares the words of each memory with its text and its postings."""
    wrong = sum(not _is_posted(*row) for row in tx.run(_POSTED)) if deep else 0
    found = [f"{wrong:,} memories whose postings differ from their words"] if wrong else []
    return schema.check(tx, _RULES, found, deep=deep)


def _is_posted(terms: bytes, number: int, total: int, counted: int) -> bool:
    hashes, counts = unpack_postings(terms)
    return (len(hashes), int(hashes.sum(dtype=np.int64)), int(counts.sum(dtype=np.int64))) == (number, total, counted)
