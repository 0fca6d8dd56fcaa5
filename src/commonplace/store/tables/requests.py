"""Statements on `request`: idempotency keys. A repeated request returns the first answer."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.store.base import Params, Tx

KEPT = 24 * 3600 * 1_000_000
"""Microseconds for which a key is remembered."""
_PORTION = 100
_FIND = "SELECT digest, result FROM request WHERE space = :space AND name = :name"
_ADD = """INSERT INTO request (space, name, digest, at, result) VALUES (:space, :name, :digest, :now, :result)"""
_SWEEP = """DELETE FROM request WHERE space = :space AND name IN
    (SELECT name FROM request WHERE space = :space AND at < :old ORDER BY at LIMIT :portion)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A completed request."""

    digest: str
    """Digest of the request's body."""
    result: str | None
    """The answer; None if it is not kept."""


def find(tx: Tx, space: int, name: str) -> Recorded | None:
    """Return the request with this key; None if there was none."""
    rows = tx.run(_FIND, {"space": space, "name": name})
    return Recorded(digest=rows[0][0], result=rows[0][1]) if rows else None


def add(tx: Tx, space: int, name: str, digest: str, result: str | None, *, now: int) -> None:
    """Record a request, and remove some of the expired ones."""
    tx.run(_SWEEP, {"space": space, "old": now - KEPT, "portion": _PORTION})
    tx.run(_ADD, {"space": space, "name": name, "digest": digest, "now": now, "result": result})


def put_result(tx: Tx, space: int, name: str, result: str | None, *, unless_purged: bool) -> None:
    """Replace the recorded answer; `unless_purged` only if it is still kept."""
    kept = " AND result IS NOT NULL" if unless_purged else ""
    tx.run(
        f"UPDATE request SET result = :result WHERE space = :space AND name = :name{kept}",
        {"space": space, "name": name, "result": result},
    )


def purge(tx: Tx, space: int) -> None:
    """Remove the answers, which may hold forgotten memories; the requests stay known."""
    tx.run("UPDATE request SET result = NULL WHERE space = :space AND result IS NOT NULL", {"space": space})


def purge_some(tx: Tx, space: int, *, limit: int) -> int:
    """Remove some of the answers and return how many."""
    params: Params = {"space": space, "limit": limit}
    some = "SELECT name FROM request WHERE space = :space AND result IS NOT NULL LIMIT :limit"
    sql = f"UPDATE request SET result = NULL WHERE space = :space AND name IN ({some}) RETURNING name"
    return len(tx.run(sql, params))


def forget_all(tx: Tx, space: int) -> None:
    """Remove every request of a space."""
    tx.run("DELETE FROM request WHERE space = :space", {"space": space})
