"""Making a book in a database, and looking after it: migrations, size, backup, check."""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg

from commonplace.errors import NotABook, StoreUnavailable
from commonplace.settings import Settings
from commonplace.store import schema, verify
from commonplace.store.base import Store, Tx
from commonplace.store.postgres import tables
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.connections import Link, connect, vector_types
from commonplace.store.postgres.index import posted
from commonplace.store.postgres.transaction import Transaction
from commonplace.store.postgres.types import VectorTypes
from commonplace.values import Check

_OLDEST = 130000
_OLDEST_PGVECTOR = (0, 8)
_TABLES = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"
_SIZE = """SELECT coalesce(CAST(sum(pg_total_relation_size(c.oid)) AS bigint), 0) FROM pg_class c
    WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'"""

_RULES = {
    "traces whose state is not their memory's": """SELECT count(*) FROM trace t JOIN memory m
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
    """What opening a book found out about its server."""

    types: VectorTypes
    engine: str
    position: str
    """How far the server's log reached."""
    connection: Link
    """What it was asked over: connecting takes as long as everything else, so that it is used further."""


def prepare(address: Address, settings: Settings) -> Prepared:
    """Make the book if the database holds none, or bring it up to date."""
    connection = connect(address.url, address.shown, settings)
    try:
        return _prepared(connection, address)
    except BaseException:
        connection.close()
        raise


def _prepared(connection: Link, address: Address) -> Prepared:
    server = connection.info.server_version
    if server < _OLDEST:
        raise StoreUnavailable(f"{address.shown} is PostgreSQL {server // 10000}: 13 is the oldest that will do")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreUnavailable(f"{address.shown} keeps texts as {encoding}: make a database with ENCODING 'UTF8'")
    if _version(connection, address) < schema.VERSION:
        _migrate(connection, address)
    types = vector_types(connection, address.shown)
    ((pgvector,),) = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchall()
    if tuple(map(int, pgvector.split(".")[:2])) < _OLDEST_PGVECTOR:
        raise StoreUnavailable(f"{address.shown} has pgvector {pgvector}: 0.8 is the oldest that will do")
    release = f"{server // 10000}.{server % 10000}"
    position = _swept(connection, address)
    engine = f"PostgreSQL {release}, pgvector {pgvector}"
    return Prepared(types=types, engine=engine, position=position, connection=connection)


def _swept(connection: Link, address: Address) -> str:
    """Remove receipts that nobody will ask for any more, and return how far the server's log reaches."""
    ((standby,),) = connection.execute("SELECT pg_is_in_recovery()").fetchall()
    if standby:  # good for reading
        return "0/0"
    # Without these it is good for reading, too.
    with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction):
        connection.execute(f"DELETE FROM {address.quoted}.receipt WHERE at < now() - interval '1 day'".encode())
    ((position,),) = connection.execute("SELECT CAST(pg_current_wal_insert_lsn() AS text)").fetchall()
    return str(position)


def holds_a_book(address: Address, settings: Settings) -> bool:
    """Whether somebody has made a book there already."""
    with connect(address.url, address.shown, settings) as connection:
        return _version(connection, address) > 0


def _version(connection: Link, address: Address) -> int:
    """The book's schema version; 0 if there is no book."""
    found = {name for (name,) in connection.execute(_TABLES, [address.schema]).fetchall()}
    if "book" not in found:
        if found:
            raise NotABook(f"schema {address.schema} of {address.shown} holds tables of another program")
        return 0
    rows = connection.execute(
        f"SELECT name, value FROM {address.quoted}.book WHERE name IN ('schema', 'oldest')"
    ).fetchall()
    written = {name: int(value) for name, value in rows}
    if "schema" not in written:
        raise NotABook(f"table book in schema {address.schema} of {address.shown} is another program's")
    schema.ensure_known(written["schema"], written.get("oldest"), address.shown)
    return written["schema"]


def _migrate(connection: Link, address: Address) -> None:
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
        types = vector_types(connection, address.shown)
        connection.execute(f"SET LOCAL search_path TO {address.quoted}, {types.schema}")
        with connection.piped() as wire:
            tx = Transaction(wire)
            schema.migrate(tx, tables.types(address.partitions), current=current)
            tx.run(
                "INSERT INTO book (name, value) VALUES ('schema', :version)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                {"version": str(schema.VERSION)},
            )


def _ensure_schema(connection: Link, address: Address) -> None:
    # A role that was given the schema may not be allowed to make one.
    if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", [address.schema]).fetchall():
        connection.execute(f"CREATE SCHEMA {address.quoted}".encode())


def _ensure_extension(connection: Link, address: Address) -> None:
    # The extension belongs to the database: books of other schemas may be made at the same moment.
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
    """Bytes of every table with its indexes."""
    return int(tx.run(_SIZE)[0][0])


def backup(store: Store, path: Path, settings: Settings) -> None:
    """Copy the whole book into a new SQLite file, which opens as a book of its own."""
    from commonplace.transfer.copy import End, back_up  # few programs back up from here

    back_up(End(store, "the source"), path, settings)


def check(tx: Tx, *, deep: bool) -> Check:
    """Every problem found, in words. `deep` analyses each text again and compares its words with its postings."""
    problems = verify.broken(tx, {**verify.RULES, **_RULES})
    if deep:
        problems += verify.words(tx)
        wrong = sum(not _is_posted(*row) for row in tx.run(_POSTED))
        problems += [f"{wrong:,} memories whose postings differ from their words"] if wrong else []
    return Check(problems=tuple(problems), checked=verify.counted(tx))


def _is_posted(terms: bytes, number: int, total: int, counted: int) -> bool:
    hashes, counts = posted(terms)
    return (len(hashes), int(hashes.sum(dtype=np.int64)), int(counts.sum(dtype=np.int64))) == (number, total, counted)
