"""Quarantine: memories of a doubtful source leave recall, and what they put out of place comes back."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.memories import repetition
from commonplace.memories.forget import Wanted, chosen
from commonplace.memories.standing import closed_by, resettle
from commonplace.store.base import Tx
from commonplace.store.tables import links, memories
from commonplace.values import times

RELEASED = "released from quarantine"


def quarantine(tx: Tx, space: int, wanted: Wanted, reason: str) -> tuple[str, ...]:
    """Take memories out of recall with what was learned from them alone; returns the ids of those that were not yet.

    What is closed already is marked as well: nothing may bring it back. What they closed, said again or reworded is
    taken back, as far as nothing else says so.
    """
    ids, put = chosen(tx, space, wanted), list[str]()
    while ids:
        known = memories.quarantined(tx, space, ids)
        new = [id for id in ids if id not in known]
        put += [id for id in new if memories.confine(tx, space, id, reason=reason, now=times.now())]
        ids = _without_support(tx, space, new)
    repetition.hold(tx, space, put, wanted)
    resettle(tx, space, closed_by(tx, space, put), reason="what closed it is in quarantine")
    return tuple(put)


def release(tx: Tx, space: int, wanted: Wanted) -> tuple[str, ...]:
    """Let memories stand again that were in quarantine, and close again what they had closed; returns their ids."""
    ids, let = chosen(tx, space, wanted), list[str]()
    while ids:
        known = memories.quarantined(tx, space, ids)
        new = [id for id in ids if id in known]
        for id in new:
            memories.reopen(tx, space, id, reason=RELEASED, now=times.now())
        let += new
        ids = tuple({link.id for link in links.to(tx, space, new, "learned from")} - set(let)) if new else ()
    repetition.let_go(tx, space, let, wanted)
    resettle(tx, space, [*let, *closed_by(tx, space, let)], reason=RELEASED)
    return tuple(let)


def _without_support(tx: Tx, space: int, ids: Sequence[str]) -> tuple[str, ...]:
    """What was learned from these memories and has no source left that is not in quarantine."""
    learned = list({link.id for link in links.to(tx, space, ids, "learned from")}) if ids else []
    sources = links.leading(tx, space, learned, "learned from") if learned else []
    doubtful = memories.quarantined(tx, space, [link.other for link in sources])
    supported = {link.id for link in sources if link.other not in doubtful}
    return tuple(id for id in sorted(learned) if id not in supported)
