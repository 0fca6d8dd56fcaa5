"""Requests by name in the store: every statement on `request`. What was done under a name is not done again."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.store.base import Tx

KEPT = 24 * 3600 * 1_000_000
"""Microseconds for which a name is known."""
_PORTION = 100
_FIND = "SELECT digest, result FROM request WHERE space = :space AND name = :name"
_ADD = """INSERT INTO request (space, name, digest, at, result) VALUES (:space, :name, :digest, :now, :result)"""
_SWEEP = """DELETE FROM request WHERE space = :space AND name IN
    (SELECT name FROM request WHERE space = :space AND at < :old ORDER BY at LIMIT :portion)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A request that was carried out."""

    digest: str
    """What it said."""
    result: str | None
    """What came of it; None if that is not kept."""


def find(tx: Tx, space: int, name: str) -> Recorded | None:
    """The request of a name; None if there was none."""
    rows = tx.run(_FIND, {"space": space, "name": name})
    return Recorded(digest=rows[0][0], result=rows[0][1]) if rows else None


def add(tx: Tx, space: int, name: str, digest: str, result: str | None, *, now: int) -> None:
    """Record a request; some of what is too old goes on the occasion."""
    tx.run(_SWEEP, {"space": space, "old": now - KEPT, "portion": _PORTION})
    tx.run(_ADD, {"space": space, "name": name, "digest": digest, "now": now, "result": result})


def put_result(tx: Tx, space: int, name: str, result: str | None, *, unless_purged: bool) -> None:
    """Put another result in the place of the recorded one; `unless_purged`: if that one is still kept."""
    kept = " AND result IS NOT NULL" if unless_purged else ""
    tx.run(
        f"UPDATE request SET result = :result WHERE space = :space AND name = :name{kept}",
        {"space": space, "name": name, "result": result},
    )


def purge(tx: Tx, space: int) -> None:
    """Drop what came of requests, which may hold what is being forgotten; that they were carried out stays known."""
    tx.run("UPDATE request SET result = NULL WHERE space = :space AND result IS NOT NULL", {"space": space})


def forget_all(tx: Tx, space: int) -> None:
    """Drop every request of a space."""
    tx.run("DELETE FROM request WHERE space = :space", {"space": space})
