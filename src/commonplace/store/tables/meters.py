"""What keys have used, in the store: every statement on `meter`, and the levels that are counted where they stand.

Each statement compares and adds in one step, on a row that it locks: no two callers, of whatever thread, process or
server, can both take what is left.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from commonplace.store.base import Params, Tx

BUCKET = "rate"
EVERYWHERE = ""
"""The place of what is not counted by namespace."""

# A row is counted anew when its period is over, so that there is one for each limit, however old the key. A server
# whose clock is behind counts in the period that the others have begun.
_TOGETHER = "CASE WHEN meter.period >= excluded.period THEN meter.used + excluded.used ELSE excluded.used END"
_ADD = f"""INSERT INTO meter (key, name, place, period, used) VALUES (:key, :name, :place, :period, 1)
    ON CONFLICT (key, name, place) DO UPDATE SET used = {_TOGETHER},
    period = CASE WHEN meter.period >= excluded.period THEN meter.period ELSE excluded.period END
    WHERE {_TOGETHER} <= :most RETURNING used, period"""
_TAKE_BACK = """UPDATE meter SET used = used - :more
    WHERE key = :key AND name = :name AND place = :place AND period = :period AND used >= :more"""
# A bucket is kept as the moment at which it will be full again.
_FULL_AT = "CASE WHEN meter.used > excluded.used - :each THEN meter.used + :each ELSE excluded.used END"
_DRAW = f"""INSERT INTO meter (key, name, place, period, used) VALUES (:key, :name, '', 0, :full)
    ON CONFLICT (key, name, place) DO UPDATE SET used = {_FULL_AT}
    WHERE {_FULL_AT} <= :latest RETURNING used"""
_READ = "SELECT period, used FROM meter WHERE key = :key AND name = :name AND place = :place"
_SPENT = "SELECT name, period, used FROM meter WHERE key = :key AND place = ''"
_SWEEP = "DELETE FROM meter WHERE key = :key AND name = :name AND period < :before"

_STANDING = """SELECT count(*) FROM (SELECT 1 FROM memory WHERE space = :space AND ended_at IS NULL
    AND valid_to IS NULL AND (expires_at IS NULL OR expires_at > :now){limit}) m"""
_BYTES = """SELECT coalesce(sum(octet_length(value)), 0) FROM entry WHERE space = :space AND namespace = :namespace
    AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > :now)"""


class Spent(NamedTuple):
    """What was used of a limit in a period."""

    name: str
    period: int
    used: int


def lane(key: str) -> int:
    """The turn of whoever writes about a key and no space: a number that no space has, mostly its own."""
    return -2 - zlib.crc32(key.encode()) % 2**30


def add(tx: Tx, key: str, name: str, *, place: str, period: int, most: int) -> Spent | None:
    """Count one more; None, and nothing is counted, if that would be more than `most`."""
    if most < 1:
        return None
    params: Params = {"key": key, "name": name, "place": place, "period": period, "most": most}
    rows = tx.run(_ADD, params)
    return Spent(name, rows[0][1], rows[0][0]) if rows else None


def take_back(tx: Tx, key: str, name: str, *, place: str, period: int, more: int = 1) -> None:
    """Count so much less, if it still is the same period."""
    tx.run(_TAKE_BACK, {"key": key, "name": name, "place": place, "period": period, "more": more})


def draw(tx: Tx, key: str, *, now: int, each: int, burst: int) -> bool:
    """Draw one request from a bucket that holds `burst` and gets another every `each` microseconds."""
    params: Params = {"key": key, "name": BUCKET, "each": each, "full": now + each, "latest": now + burst * each}
    return bool(tx.run(_DRAW, params))


def read(tx: Tx, key: str, name: str, *, place: str = EVERYWHERE) -> Spent | None:
    """What was used of a limit in the last period that anything was."""
    rows = tx.run(_READ, {"key": key, "name": name, "place": place})
    return Spent(name, *rows[0]) if rows else None


def spent(tx: Tx, key: str) -> list[Spent]:
    """What was used of every limit that is not a namespace's."""
    return [Spent(*row) for row in tx.run(_SPENT, {"key": key})]


def sweep(tx: Tx, key: str, name: str, *, before: int) -> None:
    """Drop what was counted in periods that began before a moment."""
    tx.run(_SWEEP, {"key": key, "name": name, "before": before})


def memories(tx: Tx, space: int, *, now: int, most: int | None = None) -> int:
    """How many memories stand in a space; counting ends at `most`."""
    sql = _STANDING.format(limit="" if most is None else " LIMIT :most")
    params: dict[str, str | int | float | bytes | None] = {"space": space, "now": now}
    return int(tx.run(sql, params if most is None else {**params, "most": most})[0][0])


def namespace_bytes(tx: Tx, space: int, namespace: str, *, now: int) -> int:
    """How many bytes the values of a namespace have. Both engines know it without reading them."""
    return int(tx.run(_BYTES, {"space": space, "namespace": namespace, "now": now})[0][0])
