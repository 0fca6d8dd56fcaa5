"""Undo reconciliation: two memories that it brought together become separate again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from commonplace.errors import NotFound
from commonplace.memories import quarantine
from commonplace.memories.core import Core
from commonplace.memories.write import add_vectors
from commonplace.store.base import Tx
from commonplace.store.row import pack_terms
from commonplace.store.tables import links, memories
from commonplace.store.tables.memories import Record
from commonplace.values import TEXT, Link, Scope, times
from commonplace.values.times import new_id

UNDONE = "reconciliation undone"
_RECONCILED = ("supersedes", "repeats", "adds to", "disputes", "withdraws")


def undo(core: Core, space: int, id: str, other: str) -> list[Link]:
    """Undo every link that reconciliation made between two memories; raise NotFound if there is none."""
    core.identity()  # it cannot be proven inside a transaction
    found = core.store.read(lambda tx: _links_between(tx, space, id, other), space)
    # Embedded before the transaction; a link is never changed, only removed.
    again = [link for link in found if link.relation == "repeats" and isinstance(link.detail.get("text"), str)]
    records = [_make_record(link.detail, times.now()) for link in again]
    records = add_vectors(records, [None] * len(records), core.embedder)
    separate = {link.other: record for link, record in zip(again, records, strict=True)}

    def work(tx: Tx) -> list[Link]:
        core.ensure_generation(tx)
        undone = _links_between(tx, space, id, other)
        if not undone:
            raise NotFound(_explain_nothing(tx, space, id, other))
        for link in undone:
            links.remove(tx, space, link)
            if link.relation == "repeats" and link.other in separate:
                _separate(tx, core, space, link, separate[link.other])
            elif link.relation == "repeats" and not link.detail.get(quarantine.HELD):
                # An imported link may lack the text of the repetition: no memory can be made of it.
                quarantine.take_back(tx, space, link, reason=UNDONE)
        closed = [link.other for link in undone if link.relation in quarantine.CLOSING]
        # One in quarantine hides what it closed itself, for as long as something stands in its place.
        hidden = quarantine.find_closed(tx, space, list(memories.find_quarantined(tx, space, closed)))
        quarantine.resettle(tx, space, [*closed, *hidden], reason=UNDONE)
        return undone

    return core.store.write(work, space)


def _explain_nothing(tx: Tx, space: int, id: str, other: str) -> str:
    if not memories.known_ids(tx, space, [id]):
        return f"no memory with id {id!r} in this space"
    if not memories.known_ids(tx, space, [other]):
        return f"no memory or message with id {other!r} has to do with {id!r}: `links` shows what has"
    return f"nothing was reconciled between {id!r} and {other!r}: `links` shows what was"


def _links_between(tx: Tx, space: int, id: str, other: str) -> list[Link]:
    return [
        link
        for link in links.find_all(tx, space, id)
        if {link.id, link.other} == {id, other} and link.relation in _RECONCILED
    ]


def _make_record(said: Mapping[str, Any], now: int) -> Record:
    tags = tuple(said.get("tags") or ())
    return Record(
        id=new_id(),
        named=False,
        kind=said.get("kind", "note"),
        form="text",
        mime=TEXT,
        text=said["text"],
        content=None,
        tags=tags,
        metadata=json.dumps(said.get("metadata") or {}, ensure_ascii=False),
        importance=said.get("importance", 0.5),
        scope=Scope(user=said.get("user"), agent=said.get("agent"), session=said.get("session")),
        source=said.get("source"),
        origin=said.get("origin", "import"),
        said_at=said.get("said_at", now),
        created_at=now,
        expires_at=None,
        vector=None,
        terms=pack_terms(said["text"], tags, said.get("source")),
        reason=UNDONE,
    )


def _separate(tx: Tx, core: Core, space: int, link: Link, record: Record) -> None:
    """Make a repetition a memory of its own, and take back what it added to the other."""
    memories.insert(tx, space, [record], generation=core.identity().generation)
    learned = links.find(tx, space, link.id, "learned from", link.other)
    if learned is not None:
        links.remove(tx, space, learned)
        links.put(tx, space, [replace(learned, id=record.id)])
    if link.detail.get(quarantine.HELD):
        memories.confine(tx, space, record.id, reason="what it was said in is in quarantine", now=times.now())
    else:
        quarantine.take_back(tx, space, link, reason=UNDONE)
