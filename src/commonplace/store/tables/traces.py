"""Making every vector and every word anew: the statements that are the same for both engines."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.errors import Conflict
from commonplace.store.base import Row, Tx
from commonplace.store.tables.spaces import PLANTED


def begin_reembedding(tx: Tx, goal: str) -> None:
    """Go on with a re-embedding for this goal; vectors gathered for another goal are dropped."""
    known = tx.run("SELECT value FROM book WHERE name = 'reembedding'")
    if known and known[0][0] == goal:
        return
    tx.run("DELETE FROM reembedded")
    tx.run(
        "INSERT INTO book (name, value) VALUES ('reembedding', :goal)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        {"goal": goal},
    )


def reembedding_progress(tx: Tx) -> tuple[int, int]:
    """How many of the users' versions have a new vector, and how many there are."""
    users = "space <> (SELECT number FROM space WHERE name = :planted)"
    ((done, total),) = tx.run(
        f"SELECT (SELECT count(*) FROM reembedded WHERE {users}), (SELECT count(*) FROM trace WHERE {users})",
        {"planted": PLANTED},
    )
    return int(done), int(total)


def not_reembedded(tx: Tx, limit: int) -> list[Row]:
    """Some of the versions without a new vector: sequence number, space, text, tags as JSON, source."""
    return tx.run(
        "SELECT m.seq, m.space, m.text, m.tags, m.source FROM memory m WHERE NOT EXISTS"
        " (SELECT 1 FROM reembedded r WHERE r.seq = m.seq AND r.space = m.space) ORDER BY m.seq LIMIT :limit",
        {"limit": limit},
    )


def ensure_goal(tx: Tx, goal: str) -> None:
    """Refuse to go on if another re-embedding, for another embedder, has taken over."""
    known = tx.run("SELECT value FROM book WHERE name = 'reembedding'")
    if not known or known[0][0] != goal:
        raise Conflict("another re-embedding has taken over: start again when it is done", current=0)


def keep_reembedded(tx: Tx, goal: str, rows: Sequence[tuple[int, int, bytes | None, bytes]]) -> None:
    """Keep new vectors and words beside the old ones; versions forgotten meanwhile are cleared at the end."""
    ensure_goal(tx, goal)
    tx.index.keep_reembedded(rows)


def put_reembedded(tx: Tx) -> None:
    """Put the new vectors and words in place and void what mirrors know."""
    tx.index.put_reembedded()
    tx.run("UPDATE space SET epoch = epoch + 1")
    tx.run("DELETE FROM reembedded")
    tx.run("DELETE FROM book WHERE name = 'reembedding'")
