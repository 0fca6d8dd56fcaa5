"""Statements on `trace` as a whole: replacing every vector by another embedder's."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.store.base import Tx


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
    """How many versions have a new vector, and how many there are."""
    ((done, total),) = tx.run("SELECT (SELECT count(*) FROM reembedded), (SELECT count(*) FROM trace)")
    return int(done), int(total)


def not_reembedded(tx: Tx, limit: int) -> list[tuple[int, int, str]]:
    """Some of the versions without a new vector: sequence number, space, text."""
    return tx.run(
        "SELECT m.seq, m.space, m.text FROM memory m WHERE NOT EXISTS"
        " (SELECT 1 FROM reembedded r WHERE r.seq = m.seq AND r.space = m.space) ORDER BY m.seq LIMIT :limit",
        {"limit": limit},
    )


def keep_reembedded(tx: Tx, rows: Sequence[tuple[int, int, bytes | None]]) -> None:
    """Keep new vectors beside the old ones; versions forgotten meanwhile are cleared at the end."""
    tx.many(
        "INSERT INTO reembedded (seq, space, vector) VALUES (:seq, :space, :vector) ON CONFLICT DO NOTHING",
        ({"seq": seq, "space": space, "vector": vector} for seq, space, vector in rows),
    )


def put_reembedded(tx: Tx) -> None:
    """Replace every vector by its new one and void what mirrors know."""
    tx.run(
        "UPDATE trace SET vector = (SELECT r.vector FROM reembedded r"
        " WHERE r.seq = trace.seq AND r.space = trace.space)"
    )
    tx.run("UPDATE space SET epoch = epoch + 1")
    tx.run("DELETE FROM reembedded")
    tx.run("DELETE FROM book WHERE name = 'reembedding'")
