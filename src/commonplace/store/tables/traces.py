"""Statements on `trace` and `reembedded` that both engines share: vectors and re-embedding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.errors import Conflict
from commonplace.store.base import Reembedded, Tx
from commonplace.store.tables import spaces


class TextRow(NamedTuple):
    """The parts of a version that its vector and words are made of; tags as JSON text."""

    seq: int
    space: int
    text: str
    tags: str
    source: str | None


def last_seq(tx: Tx, space: int) -> int:
    """Return the sequence number of the last version written in a space; 0 if there is none."""
    return int(tx.run("SELECT coalesce(max(seq), 0) FROM trace WHERE space = :space", {"space": space})[0][0])


def vectors(tx: Tx, space: int, seqs: Sequence[int]) -> dict[int, bytes | None]:
    """Return the vectors of versions by sequence number."""
    among = tx.syntax.among("seq", ":seqs", "integer")
    rows = tx.run(
        f"SELECT seq, vector FROM trace WHERE space = :space AND {among}", {"space": space, "seqs": json.dumps(seqs)}
    )
    return {int(seq): vector for seq, vector in rows}


def begin_reembedding(tx: Tx, goal: str) -> None:
    """Start or continue a re-embedding for this goal; vectors made for another goal are dropped."""
    if spaces.read_value(tx, "reembedding") != goal:
        tx.run("DELETE FROM reembedded")
        spaces.write_value(tx, "reembedding", goal)


def reembedding_progress(tx: Tx) -> tuple[int, int]:
    """Return how many of the users' versions have a new vector, and how many there are."""
    users = "space <> (SELECT number FROM space WHERE name = :planted)"
    ((done, total),) = tx.run(
        f"SELECT (SELECT count(*) FROM reembedded WHERE {users}), (SELECT count(*) FROM trace WHERE {users})",
        {"planted": spaces.PLANTED},
    )
    return int(done), int(total)


def find_not_reembedded(tx: Tx, limit: int) -> list[TextRow]:
    """Return some of the versions without a new vector."""
    rows = tx.run(
        "SELECT m.seq, m.space, m.text, m.tags, m.source FROM memory m WHERE NOT EXISTS"
        " (SELECT 1 FROM reembedded r WHERE r.seq = m.seq AND r.space = m.space) ORDER BY m.seq LIMIT :limit",
        {"limit": limit},
    )
    return [*map(TextRow._make, rows)]


def ensure_goal(tx: Tx, goal: str) -> None:
    """Raise Conflict if a re-embedding with another embedder has taken over."""
    if spaces.read_value(tx, "reembedding") != goal:
        raise Conflict("another re-embedding has taken over: start again when it is done", current=0)


def keep_reembedded(tx: Tx, goal: str, rows: Sequence[Reembedded]) -> None:
    """Store new vectors and words beside the old ones; those of versions forgotten meanwhile are removed at the end."""
    ensure_goal(tx, goal)
    tx.index.keep_reembedded(rows)


def put_reembedded(tx: Tx) -> None:
    """Replace all vectors and words by the new ones, and invalidate the mirrors."""
    tx.index.put_reembedded()
    tx.run("UPDATE space SET epoch = epoch + 1")
    tx.run("DELETE FROM reembedded")
    tx.run("DELETE FROM book WHERE name = 'reembedding'")
