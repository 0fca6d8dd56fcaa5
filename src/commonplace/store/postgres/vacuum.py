"""The bytes of deleted rows in tables and indexes: removing them, and looking for what is left.

A deleted row stays in its page until a vacuum, and even then its bytes stay in the page's free space until something
else is written there. An UPDATE before the DELETE would only add a row. So the tables are written anew, without what
no transaction can see any more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count

import psycopg

from commonplace.settings import Settings
from commonplace.store.base import BytesSeen
from commonplace.store.blocks import count_bytes
from commonplace.store.postgres.address import DatabaseAddress
from commonplace.store.postgres.connections import PostgresConnection, connect

WAITING = "rows that were deleted in tables and indexes: settle the receipts"
OLD_READER = "rows that a transaction of before still sees"
LOCKED = "a table that another transaction uses"
NOT_OWNER = "tables that only their owner may write anew"

_GLANCE = 0.02
_LONGEST = 5.0
"""Seconds to wait for transactions and locks."""
# Every transaction holds the lock on its own virtual number, and everybody may see those.
_OTHERS = """SELECT virtualtransaction FROM pg_locks WHERE locktype = 'virtualxid' AND pid <> pg_backend_pid()"""
_PARTS = """SELECT CAST(c.oid AS regclass)::text, pg_has_role(c.relowner, 'USAGE') FROM pg_inherits i
    JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class c ON c.oid = i.inhrelid
    WHERE p.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND p.relkind = 'p'
    AND satisfies_hash_partition(p.oid, (SELECT CAST(count(*) AS integer) FROM pg_inherits o WHERE o.inhparent = p.oid),
    CAST(substring(c.relname FROM '[0-9]+$') AS integer), CAST($2 AS integer)) ORDER BY 1"""
# Each needs a right of its own: without it, the server does it at its next checkpoint.
_AFTER = ("VACUUM (FULL) pg_catalog.pg_statistic", "SELECT pg_switch_wal()", "CHECKPOINT")


def rewrite(address: DatabaseAddress, settings: Settings, space: int) -> tuple[str, ...]:
    """Write the tables of a space anew; return the places where erased bytes may be left."""
    patience = min(_LONGEST, settings.busy_timeout)
    with connect(address.url, address.shown, settings) as connection:
        parts = connection.execute(_PARTS, [address.schema, str(space)]).fetchall()
        if not all(owned for _, owned in parts):
            return (NOT_OWNER,)
        if not _wait_for_others(connection, patience):
            return (OLD_READER,)
        connection.execute(f"SET lock_timeout = {int(patience * 1000)}".encode())
        connection.execute(b"SET statement_timeout = 0")
        try:
            for name, _ in parts:
                connection.execute(f"VACUUM (FULL, ANALYZE) {name}".encode())
        except psycopg.errors.LockNotAvailable:
            return (LOCKED,)
        for statement in _AFTER:
            with suppress(psycopg.Error):
                connection.execute(statement.encode())
    return ()


def _wait_for_others(connection: PostgresConnection, patience: float) -> bool:
    """Wait until every transaction of this moment has ended: one of them may see what was deleted."""
    deadline = time.monotonic() + patience
    before = {number for (number,) in connection.execute(_OTHERS).fetchall()}
    while before and time.monotonic() < deadline:
        time.sleep(_GLANCE)
        before &= {number for (number,) in connection.execute(_OTHERS).fetchall()}
    return not before


# -- looking -------------------------------------------------------------------------------------------

_BLOCK, _PART = 1 << 20, 1 << 30
_RELATIONS = """SELECT c.relname, pg_relation_filepath(c.oid) FROM pg_class c
    WHERE (c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) OR c.oid IN (SELECT p.reltoastrelid
    FROM pg_class p WHERE p.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1))
    OR c.oid IN (SELECT x.indexrelid FROM pg_index x JOIN pg_class p ON p.reltoastrelid = x.indrelid
    WHERE p.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1))
    OR c.oid = CAST('pg_catalog.pg_statistic' AS regclass))
    AND pg_relation_filepath(c.oid) IS NOT NULL ORDER BY c.relname"""
_LOG = "SELECT name, 'pg_wal/' || name FROM pg_ls_waldir() ORDER BY name"
_READ = "SELECT pg_read_binary_file($1, $2, $3, TRUE)"
_COMPRESSED = "large values that the server has compressed"
_FORBIDDEN = (
    "pages of tables and indexes, free space included, and the write-ahead log: only a role that may read the server's"
    " files (pg_read_server_files, pg_monitor) sees them"
)


def find_bytes(address: DatabaseAddress, settings: Settings, wanted: Sequence[bytes]) -> BytesSeen:
    """Return how often some bytes occur in the files of a book's relations and in the write-ahead log."""
    found: dict[str, int] = {}
    with connect(address.url, address.shown, settings) as connection:
        try:
            connection.execute(b"CHECKPOINT")
            files = connection.execute(_RELATIONS, [address.schema]).fetchall()
            files += connection.execute(_LOG.encode()).fetchall()
            for name, path in files:
                found[str(name)] = count_bytes(_read_blocks(connection, str(path)), wanted)
        except psycopg.errors.InsufficientPrivilege:
            return BytesSeen(found, (_FORBIDDEN, _COMPRESSED))
    return BytesSeen(found, (_COMPRESSED, "replicas and archived logs"))


def _read_blocks(connection: PostgresConnection, path: str) -> Iterator[bytes]:
    """Yield a file of the server, and its further parts of 1 GB, block by block."""
    for part in count():
        place, at = path if not part else f"{path}.{part}", 0
        while block := connection.execute(_READ, [place, str(at), str(_BLOCK)]).fetchall()[0][0]:
            yield block
            at += len(block)
        if at < _PART:
            return
