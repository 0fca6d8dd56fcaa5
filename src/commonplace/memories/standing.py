"""Which memories stand: what supersedes or withdraws them says so, as far as it is not itself in quarantine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import links, memories
from commonplace.values import Link, times

CLOSING = ("supersedes", "withdraws")
"""Relations by which one memory takes another out of recall."""


def resettle(tx: Tx, space: int, ids: Iterable[str], *, reason: str) -> None:
    """Close or open memories as their links say now; what is in quarantine stays there."""
    wanted = list(dict.fromkeys(ids))
    doubtful = memories.quarantined(tx, space, wanted)
    for row in memories.currents(tx, space, [id for id in wanted if id not in doubtful]):
        _settle(tx, space, row, reason)


def closed_by(tx: Tx, space: int, ids: Sequence[str]) -> list[str]:
    """What these memories take out of recall, through others that are in quarantine as well."""
    found: dict[str, None] = {}
    left = list(ids)
    while left:
        those = [link.other for relation in CLOSING for link in links.leading(tx, space, left, relation)]
        new = [id for id in dict.fromkeys(those) if id not in found]
        found |= dict.fromkeys(new)
        left = [*memories.quarantined(tx, space, new)]
    return list(found)


def _settle(tx: Tx, space: int, row: MemoryRow, reason: str) -> None:
    memory = memories.decode(row)
    by = _closers(tx, space, memory.id)
    if not by:
        # What was closed by something that is forgotten since stays closed: nothing says that it holds again.
        gone = memory.superseded_by is not None and not memories.known_ids(tx, space, [memory.superseded_by])
        if memory.valid_to is not None and not gone:
            memories.reopen(tx, space, memory.id, reason=reason, now=times.now())
    elif memory.valid_to is None or (memory.superseded_by or memory.id) not in {
        _pointer(link, memory.id) for link in by
    }:
        _close(tx, space, row, by[-1])


def _pointer(link: Link, id: str) -> str:
    """What a memory that this link closes says in `superseded_by`; its own id stands for nothing."""
    return link.id if link.relation == "supersedes" else id


def _close(tx: Tx, space: int, row: MemoryRow, by: Link) -> None:
    now, record = times.now(), memories.record_of(tx, space, row)
    if by.relation == "withdraws":
        closed = replace(record, valid_to=now, superseded_by=None, reason=by.reason)
        memories.revise(tx, space, row, closed, action="withdrawn", now=now)
        return
    said = memories.currents(tx, space, [by.id])[0].said_at
    closed = replace(record, valid_to=said, superseded_by=by.id, reason=by.reason)
    memories.revise(tx, space, row, closed, action="superseded", now=now)


def _closers(tx: Tx, space: int, id: str) -> list[Link]:
    """The links by which a memory is out of recall, the latest last.

    One that is in quarantine does not count; what took its place does: it speaks of the same thing.
    """
    found: list[Link] = []
    seen, left = {id}, [id]
    while left:
        leading = links.to(tx, space, left, "supersedes")
        leading += links.to(tx, space, left, "withdraws") if left == [id] else []
        new = {link.id for link in leading} - seen
        doubtful = memories.quarantined(tx, space, list(new))
        there = {row.id for row in memories.currents(tx, space, list(new - doubtful))}
        found += [link for link in leading if link.id in there]
        seen |= new
        left = sorted(doubtful)
    return sorted(found, key=lambda link: link.at)
