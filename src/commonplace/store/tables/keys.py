"""Statements on `api_key` and `meter`: keys, and how much each has used of its limits.

Keys are never deleted: a book that ever had keys is never open to everybody again. Each statement on `meter` compares
and adds in one step on a row that it locks: no two callers, in any process, can both take the rest.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from commonplace.store.base import Params, Row, Tx

NO_LIMITS = "{}"
"""The limits of a key without limits: its meters are not read."""
BUCKET = "rate"
EVERYWHERE = ""
"""The place of counts that are not by namespace."""


class KeyRow(NamedTuple):
    """A key; secrets as digests, spaces and limits as JSON text."""

    id: str
    secret: str
    old_secret: str | None
    old_until: int | None
    role: str
    spaces: str
    home: str
    label: str
    plan: str
    limits: str
    created_at: int
    expires_at: int | None
    used_at: int | None
    revoked_at: int | None


class Spent(NamedTuple):
    """How much of a limit was used in a period."""

    name: str
    period: int
    used: int


class Presented(NamedTuple):
    """The store's answer to an id that a caller presents."""

    any: bool
    """Whether the book has, or had, any key at all."""
    row: KeyRow | None
    spent: tuple[Spent, ...]
    """Use of the key's limits, except those of single namespaces."""


_COLUMNS = ", ".join(KeyRow._fields)
_INSERT = f"INSERT INTO api_key ({_COLUMNS}) VALUES ({', '.join(f':{name}' for name in KeyRow._fields)})"
# The smallest id is always read: it tells whether there are keys, and unknown ids take as long as known ones.
_PRESENTED = f"SELECT {_COLUMNS} FROM api_key WHERE id IN (:id, (SELECT min(id) FROM api_key))"
_ROTATE = f"""UPDATE api_key SET old_secret = secret, old_until = :until, secret = :secret
    WHERE id = :id AND revoked_at IS NULL RETURNING {_COLUMNS}"""
_REVOKE = f"""UPDATE api_key SET revoked_at = coalesce(revoked_at, CAST(:now AS bigint)), old_secret = NULL,
    old_until = NULL WHERE id = :id RETURNING {_COLUMNS}"""
_USED = "UPDATE api_key SET used_at = :now WHERE id = :id AND (used_at IS NULL OR used_at <= :before)"

# A row starts again when its period is over, so there is one for each limit. A server whose clock is behind counts in
# the period that the others have begun.
_TOGETHER = "CASE WHEN meter.period >= excluded.period THEN meter.used + excluded.used ELSE excluded.used END"
_ADD = f"""INSERT INTO meter (key, name, place, period, used) VALUES (:key, :name, :place, :period, 1)
    ON CONFLICT (key, name, place) DO UPDATE SET used = {_TOGETHER},
    period = CASE WHEN meter.period >= excluded.period THEN meter.period ELSE excluded.period END
    WHERE {_TOGETHER} <= :most RETURNING used, period"""
_TAKE_BACK = """UPDATE meter SET used = used - :more
    WHERE key = :key AND name = :name AND place = :place AND period = :period AND used >= :more"""
# A bucket is stored as the moment at which it will be full again.
_FULL_AT = "CASE WHEN meter.used > excluded.used - :each THEN meter.used + :each ELSE excluded.used END"
_DRAW = f"""INSERT INTO meter (key, name, place, period, used) VALUES (:key, :name, :place, 0, :full)
    ON CONFLICT (key, name, place) DO UPDATE SET used = {_FULL_AT}
    WHERE {_FULL_AT} <= :latest RETURNING used"""

_STANDING = """SELECT count(*) FROM (SELECT 1 FROM memory WHERE space = :space AND ended_at IS NULL
    AND valid_to IS NULL AND (expires_at IS NULL OR expires_at > :now){limit}) m"""
_BYTES = """SELECT coalesce(sum(octet_length(value)), 0) FROM entry WHERE space = :space AND namespace = :namespace
    AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > :now)"""
_NAMESPACES = """SELECT namespace, coalesce(sum(octet_length(value)), 0), sum(version) FROM entry WHERE space = :space
    GROUP BY namespace"""
# The engines know sizes without reading what is large.
_SPACE_BYTES = " + ".join(
    f"(SELECT coalesce(sum({size}), 0) FROM {table} WHERE space = :space)"
    for table, size in (
        ("memory", "octet_length(text) + octet_length(metadata) + coalesce(octet_length(content), 0)"),
        ("entry", "octet_length(value)"),
        ("file", "octet_length(content)"),
        ("message", "octet_length(content) + octet_length(metadata)"),
    )
)


def look_up(tx: Tx, id: str) -> Presented:
    """Look up an id that a caller presents."""
    found = [KeyRow._make(row) for row in tx.run(_PRESENTED, {"id": id})]
    row = next((each for each in found if each.id == id), None)
    limited = row is not None and row.limits != NO_LIMITS
    return Presented(bool(found), row, tuple(read_meters(tx, id)) if limited else ())


def insert(tx: Tx, row: KeyRow) -> None:
    """Store a new key."""
    tx.run(_INSERT, row._asdict())


def exist(tx: Tx) -> bool:
    """Whether the book has, or had, any key."""
    return bool(tx.run("SELECT 1 FROM api_key LIMIT 1"))


def find(tx: Tx, id: str) -> KeyRow | None:
    """Return a key."""
    return _first(tx.run(f"SELECT {_COLUMNS} FROM api_key WHERE id = :id", {"id": id}))


def read_all(tx: Tx) -> list[KeyRow]:
    """Return every key, oldest first, including revoked ones."""
    return [*map(KeyRow._make, tx.run(f"SELECT {_COLUMNS} FROM api_key ORDER BY created_at, id"))]


def rotate(tx: Tx, id: str, secret: str, *, until: int) -> KeyRow | None:
    """Give a key a new secret; the old one stays valid until then. None if there is no such key, or it is revoked."""
    return _first(tx.run(_ROTATE, {"id": id, "secret": secret, "until": until}))


def revoke(tx: Tx, id: str, *, now: int) -> KeyRow | None:
    """Revoke a key; None if there is none."""
    return _first(tx.run(_REVOKE, {"id": id, "now": now}))


def note_use(tx: Tx, id: str, *, now: int, before: int) -> None:
    """Record that a key was used, unless a use after `before` is recorded."""
    tx.run(_USED, {"id": id, "now": now, "before": before})


def _first(rows: list[Row]) -> KeyRow | None:
    return KeyRow._make(rows[0]) if rows else None


# -- meters --------------------------------------------------------------------------------------------


def lane(key: str) -> int:
    """Return the number that writers about a key lock instead of a space; no space has it."""
    return -2 - zlib.crc32(key.encode()) % 2**30


def add(tx: Tx, key: str, name: str, *, place: str, period: int, most: int) -> Spent | None:
    """Count one more use; None, and nothing is counted, if that would exceed `most`."""
    if most < 1:
        return None
    params: Params = {"key": key, "name": name, "place": place, "period": period, "most": most}
    rows = tx.run(_ADD, params)
    return Spent(name, rows[0][1], rows[0][0]) if rows else None


def take_back(tx: Tx, key: str, name: str, *, place: str, period: int, more: int = 1) -> None:
    """Count so much less, if the period is still the same."""
    tx.run(_TAKE_BACK, {"key": key, "name": name, "place": place, "period": period, "more": more})


def draw(tx: Tx, key: str, *, now: int, each: int, burst: int, place: str = EVERYWHERE) -> bool:
    """Draw one request from a bucket that holds `burst` and gets another every `each` microseconds."""
    params: Params = {"key": key, "name": BUCKET, "place": place}
    return bool(tx.run(_DRAW, {**params, "each": each, "full": now + each, "latest": now + burst * each}))


def sweep_full(tx: Tx, key: str, *, now: int) -> None:
    """Remove the buckets of single places that are full: they are as those that were never used."""
    params: Params = {"key": key, "name": BUCKET, "now": now}
    tx.run("DELETE FROM meter WHERE key = :key AND name = :name AND place <> '' AND used <= :now", params)


def read_meter(tx: Tx, key: str, name: str, *, place: str = EVERYWHERE) -> Spent | None:
    """Return the use of a limit in its last period."""
    rows = tx.run(
        "SELECT name, period, used FROM meter WHERE key = :key AND name = :name AND place = :place",
        {"key": key, "name": name, "place": place},
    )
    return Spent._make(rows[0]) if rows else None


def read_meters(tx: Tx, key: str) -> list[Spent]:
    """Return the use of every limit that is not a namespace's."""
    rows = tx.run("SELECT name, period, used FROM meter WHERE key = :key AND place = ''", {"key": key})
    return [*map(Spent._make, rows)]


def sweep(tx: Tx, key: str, name: str, *, before: int) -> None:
    """Remove counts of periods that began before a moment."""
    params: Params = {"key": key, "name": name, "before": before}
    tx.run("DELETE FROM meter WHERE key = :key AND name = :name AND period < :before", params)


def count_memories(tx: Tx, space: int, *, now: int, most: int | None = None) -> int:
    """Return the number of memories in a space; counting stops at `most`."""
    sql = _STANDING.format(limit="" if most is None else " LIMIT :most")
    params = {"space": space, "now": now} | ({} if most is None else {"most": most})
    return int(tx.run(sql, params)[0][0])


def count_bytes(tx: Tx, space: int, namespace: str, *, now: int) -> int:
    """Return the bytes of a namespace's values. Both engines know sizes without reading the values."""
    return int(tx.run(_BYTES, {"space": space, "namespace": namespace, "now": now})[0][0])


def count_space_bytes(tx: Tx, space: int) -> int:
    """Return the bytes of all that a space holds, with every version and revision."""
    return int(tx.run(f"SELECT {_SPACE_BYTES}", {"space": space})[0][0])


def read_namespaces(tx: Tx, space: int) -> dict[str, tuple[int, int]]:
    """Return the bytes of each namespace's values, and the sum of their versions, which every write raises."""
    return {name: (int(size), int(writes)) for name, size, writes in tx.run(_NAMESPACES, {"space": space})}
