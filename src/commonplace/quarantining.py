"""Quarantine: memories of a doubtful source leave recall, and what they put out of place comes back."""

from __future__ import annotations

from commonplace import times, undoing
from commonplace.forgetting import Wanted, chosen
from commonplace.store import links, memories
from commonplace.store.base import Tx

RELEASED = "released from quarantine"


def quarantine(tx: Tx, space: int, wanted: Wanted, reason: str) -> tuple[str, ...]:
    """Take memories out of recall with what was learned from them alone; returns the ids of those that were in it."""
    now = times.now()
    ids = chosen(tx, space, wanted)
    shut = tuple(id for id in ids if _shut(tx, space, id, reason, now))
    for link in links.leading(tx, space, ids, "supersedes"):
        # What is itself doubtful stays out.
        if link.other not in ids:
            undoing.reopen(tx, space, link.other, reason=f"{link.id} is in quarantine", was="superseded", by=link.id)
    return shut


def release(tx: Tx, space: int, wanted: Wanted) -> tuple[str, ...]:
    """Let memories stand again that were in quarantine; returns their ids."""
    ids = chosen(tx, space, wanted)
    return tuple(id for id in ids if undoing.reopen(tx, space, id, reason=RELEASED, was="quarantined"))


def _shut(tx: Tx, space: int, id: str, reason: str, now: int) -> bool:
    return memories.shut(tx, space, id, action="quarantined", reason=reason, now=now) is not None
