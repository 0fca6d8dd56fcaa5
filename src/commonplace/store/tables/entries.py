"""Key-value entries in the store: every statement on `entry`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from commonplace.errors import Conflict, InvalidInput, TooLarge
from commonplace.store.base import Params, Row, Tx
from commonplace.values import Entry, Json, times

_GET = """SELECT key, value, version, updated_at, expires_at FROM entry
    WHERE space = :space AND namespace = :namespace AND key = :key"""
_PUT = """INSERT INTO entry (space, namespace, key, version, value, updated_at, expires_at)
    VALUES (:space, :namespace, :key, :version, :value, :now, :expires)
    ON CONFLICT (space, namespace, key) DO UPDATE SET version = excluded.version, value = excluded.value,
        updated_at = excluded.updated_at, expires_at = excluded.expires_at"""
_KEYS = """SELECT key FROM entry WHERE space = :space AND namespace = :namespace AND value IS NOT NULL
    AND (expires_at IS NULL OR expires_at > :now) AND substr(key, 1, length(:prefix)) = :prefix ORDER BY key"""
_NAMESPACES = """SELECT DISTINCT namespace FROM entry WHERE space = :space AND value IS NOT NULL
    AND (expires_at IS NULL OR expires_at > :now) ORDER BY namespace"""
_ALL = """SELECT namespace, key, value, version, updated_at, expires_at FROM entry WHERE space = :space
    ORDER BY namespace, key"""
_SWEEP = """UPDATE entry SET value = NULL, expires_at = NULL, version = version + 1
    WHERE space = :space AND expires_at <= :now"""
_COUNT = """SELECT count(*) FROM entry WHERE space = :space AND value IS NOT NULL
    AND (expires_at IS NULL OR expires_at > :now)"""


def get(tx: Tx, space: int, namespace: str, key: str, *, now: int) -> Entry | None:
    """The entry as it stands; None if it was never set, was deleted, or has expired."""
    row = _row(tx, space, namespace, key)
    return decode(row) if row is not None and _stands(row, now) else None


def put(
    tx: Tx,
    space: int,
    namespace: str,
    key: str,
    value: str | None,
    *,
    now: int,
    expires: int | None,
    if_version: int | None,
) -> int:
    """Set an entry to JSON text (None deletes it) and return its new version; Conflict if it moved on.

    What has expired is swept away on the occasion.
    """
    tx.run(_SWEEP, {"space": space, "now": now})
    row = _row(tx, space, namespace, key)
    standing = row[2] if row is not None and _stands(row, now) else 0
    if if_version is not None and if_version != standing:
        raise Conflict(f"{namespace}/{key} is at version {standing}, not {if_version}: read it again", current=standing)
    version = (row[2] if row is not None else 0) + 1
    place: Params = {"space": space, "namespace": namespace, "key": key}
    tx.run(_PUT, {**place, "version": version, "value": value, "now": now, "expires": expires})
    return int(version)


def remove(tx: Tx, space: int, namespace: str, key: str, *, now: int, if_version: int | None) -> bool:
    """Delete an entry, keeping only its version; False if nothing stood there."""
    if get(tx, space, namespace, key, now=now) is None and not if_version:
        return False
    put(tx, space, namespace, key, None, now=now, expires=None, if_version=if_version)
    return True


def append(tx: Tx, space: int, namespace: str, key: str, items: Sequence[Json], *, now: int, limit: int) -> Entry:
    """Add items to the end of a list, making it if it is not there; nothing of a concurrent append is lost."""
    row = _row(tx, space, namespace, key)
    standing = row is not None and _stands(row, now)
    before = json.loads(row[1]) if row is not None and standing else []
    if not isinstance(before, list):
        raise InvalidInput(f"{namespace}/{key} holds {type(before).__name__}, not a list: append needs a list")
    expires = row[4] if row is not None and standing else None
    text = json.dumps([*before, *items], ensure_ascii=False)
    if len(text.encode()) > limit:
        raise TooLarge(f"{namespace}/{key} would grow beyond {limit:,} bytes")
    version = put(tx, space, namespace, key, text, now=now, expires=expires, if_version=None)
    return decode((key, text, version, now, expires))


def keys(tx: Tx, space: int, namespace: str, *, prefix: str, now: int) -> list[str]:
    """The keys that stand, sorted."""
    rows = tx.run(_KEYS, {"space": space, "namespace": namespace, "prefix": prefix, "now": now})
    return [row[0] for row in rows]


def namespaces(tx: Tx, space: int, *, now: int) -> list[str]:
    """The namespaces that hold anything, sorted."""
    return [row[0] for row in tx.run(_NAMESPACES, {"space": space, "now": now})]


def count(tx: Tx, space: int, *, now: int) -> int:
    """How many entries stand."""
    return int(tx.run(_COUNT, {"space": space, "now": now})[0][0])


def everything(tx: Tx, space: int) -> list[Row]:
    """Every entry, deleted ones too: namespace, key, value, version, updated_at, expires_at."""
    return tx.run(_ALL, {"space": space})


def restore(tx: Tx, space: int, row: Row) -> bool:
    """Put back one row of `everything`; False if the entry is already at that version or beyond."""
    namespace, key, value, version, updated, expires = row
    place: Params = {"space": space, "namespace": namespace, "key": key}
    known = tx.run(_GET, place)
    if known and known[0][2] >= version:
        return False
    tx.run(_PUT, {**place, "version": version, "value": value, "now": updated, "expires": expires})
    return True


def forget_all(tx: Tx, space: int) -> None:
    """Remove every entry of a space, tombstones too."""
    tx.run("DELETE FROM entry WHERE space = :space", {"space": space})


def decode(row: Row) -> Entry:
    key, value, version, updated, expires = row
    return Entry(
        key=key,
        value=json.loads(value),
        version=version,
        updated_at=times.from_micros(updated),
        expires_at=None if expires is None else times.from_micros(expires),
    )


def _row(tx: Tx, space: int, namespace: str, key: str) -> Row | None:
    rows = tx.run(_GET, {"space": space, "namespace": namespace, "key": key})
    return rows[0] if rows else None


def _stands(row: Row, now: int) -> bool:
    return row[1] is not None and (row[4] is None or row[4] > now)
