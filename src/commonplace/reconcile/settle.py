"""Write new memories beside the known ones: as a repetition, in place of others, as an addition, or as new.

Rivals are searched before the transaction, so that no search holds it up. What was written since is compared inside
it, so that two writers of the same fact cannot miss each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commonplace.memories.core import Core, Place
from commonplace.memories.quarantine import HELD
from commonplace.memories.write import make_records
from commonplace.reconcile.neighbours import Known, Recent, make_assertion, unpack
from commonplace.reconcile.plan import Arrival, Plan, make_plan, may_reverse_decision
from commonplace.reconcile.relate import NEAR, Comparison, relate
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow, pack_terms
from commonplace.store.tables import links, memories, traces
from commonplace.store.tables.memories import Record
from commonplace.text import terms
from commonplace.values import ORIGINS, Draft, Json, Link, Memory, Origin, Relation, times
from commonplace.values.times import new_id

REJECTED = " was rejected: "
"""Between what was decided against and the decision."""
_LINKED = 3
"""Links to memories that a new one only adds to: the closest are enough."""
_TAKEN_BACK = Comparison(likeness="contradicts", reason="the decision was taken back", certainty=0.6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The result of an arrival: the memory that stands for it now, and its links to others."""

    row: MemoryRow | None
    """None if it only took others out."""
    links: tuple[Link, ...]


def remember(core: Core, place: Place, drafts: Sequence[Draft]) -> list[Memory]:
    """Store each draft beside what is known: as a new memory, or as a repetition of the one that is returned."""
    records = make_records(core, drafts, now=times.now())
    space = place.make()
    plan = make_plan(core, space, [Arrival(record=record) for record in records])
    settled = core.store.write(lambda tx: settle(tx, core, space, plan), space)
    return [memories.decode(each.row) for each in settled if each.row is not None]


def settle(tx: Tx, core: Core, space: int, plan: Plan) -> list[Settled]:
    """Write every arrival of a plan, each beside what is known by then."""
    core.ensure_generation(tx)
    work = _Settlement(tx=tx, space=space, generation=core.identity().generation)
    work.read(plan)
    return [work.settle(arrival) for arrival in plan.arrivals]


@dataclass(frozen=True, slots=True)
class _Rival:
    """A known memory beside an arrival."""

    known: Known
    closeness: float
    comparison: Comparison


@dataclass(slots=True, kw_only=True)
class _Settlement:
    """One transaction's view of the memories that its arrivals are compared with."""

    tx: Tx
    space: int
    generation: int
    known: dict[str, Known] = field(default_factory=dict)
    recent: Recent = field(default_factory=Recent)
    """Memories written since the search."""
    rejections: dict[str, list[str]] = field(default_factory=dict)
    """For the text of a decision, the memories of what was rejected for it."""
    now: int = field(default_factory=times.now)

    def read(self, plan: Plan) -> None:
        """Read the rivals as they stand now, and what came after them."""
        wanted = sorted({id for each in plan.arrivals for id in (*each.rivals, *(each.reverses or ()))})
        late = memories.find_standing_since(self.tx, self.space, plan.seen, now=self.now)
        rows = [*memories.find_standing(self.tx, self.space, wanted, now=self.now), *late]
        vectors = traces.vectors(self.tx, self.space, [row.seq for row in rows])
        for row in rows:
            self._keep(row, vectors.get(row.seq))
        for row in late:
            self.recent.add(self.known[row.id])

    def settle(self, arrival: Arrival) -> Settled:
        """Write one arrival."""
        record, reverses = arrival.record, self._find_reversed(arrival)
        memories.date(record, self.now)
        rivals = self._compare(arrival, reverses)
        against = [each for each in rivals if each.comparison.likeness == "contradicts"]
        same = [
            each for each in rivals if each.comparison.likeness == "same" and _can_stand_for(each.known.row, record)
        ]
        if same and not against:
            return self._repeat(arrival, max(same, key=lambda each: (each.comparison.certainty, each.closeness)))
        return self._add(arrival, against, [each for each in rivals if _is_beside(each)])

    def _compare(self, arrival: Arrival, reverses: Sequence[str]) -> list[_Rival]:
        """Compare an arrival with the memories near it; those that it reverses are contradicted in any case."""
        record, vector = arrival.record, unpack(arrival.record.vector)
        new = replace(make_assertion(record), act=arrival.act)
        ids = dict.fromkeys([*arrival.rivals, *self.recent.near(new, vector), *reverses])
        rivals = []
        for id in ids:
            known = self.known.get(id)
            # What the record itself names as superseded is closed when it is written.
            if known is None or known.row.scope != record.scope or id in record.supersedes:
                continue
            closeness = 0.0 if known.vector is None or vector is None else float(known.vector @ vector)
            comparison = _TAKEN_BACK if id in reverses else relate(new, known.assertion, closeness)
            rivals.append(_Rival(known, closeness, comparison))
        return rivals

    def _find_reversed(self, arrival: Arrival) -> list[str]:
        """Return the id of the one decision that an arrival can only take back; of several, none is certain."""
        if arrival.reverses is None:
            return []
        there = [self.known[id] for id in {*arrival.reverses, *self.recent.ids} if id in self.known]
        found = [known.id for known in there if may_reverse_decision(arrival.record, known.row)]
        return found if len(found) == 1 else []

    def _add(self, arrival: Arrival, against: list[_Rival], beside: list[_Rival]) -> Settled:
        """Write an arrival as a memory of its own; what it contradicts is closed, or closes it if that is newer."""
        record = arrival.record
        # A less trusted origin, or somebody else, may only dispute what is known.
        rivals = [each for each in against if _may_close(record, each.known.row)]
        newer = [each for each in rivals if self._last_said(each.known) > record.said_at]
        made = [self._link(record.id, "disputes", each) for each in against if each not in rivals]
        closest = sorted(beside, key=lambda each: -each.closeness)[:_LINKED]
        made += [self._link(record.id, "adds to", each) for each in closest]
        if newer:
            settled = self._insert_outdated(record, max(newer, key=lambda each: each.known.row.said_at))
        else:
            settled = self._insert_in_place_of(record, rivals)
        made += [replace(link, id=record.id) for link in arrival.links]
        links.put(self.tx, self.space, made)
        return Settled(row=settled.row, links=(*settled.links, *made))

    def _insert_outdated(self, record: Record, by: _Rival) -> Settled:
        """Write what was said before something known: it is closed from the start."""
        record.valid_to, record.superseded_by = by.known.row.said_at, by.known.id
        record.reason = by.comparison.reason
        (row,) = memories.insert(self.tx, self.space, [record], generation=self.generation, now=self.now)
        made = replace(self._link(by.known.id, "supersedes", by), other=record.id)
        links.put(self.tx, self.space, [made])
        return Settled(row=row, links=(made,))

    def _insert_in_place_of(self, record: Record, rivals: list[_Rival]) -> Settled:
        (row,) = memories.insert(self.tx, self.space, [record], generation=self.generation, now=self.now)
        for each in rivals:
            self._close(each.known, record, each.comparison.reason)
        # After all of them, since a rejection may be one of the rivals itself.
        for each in rivals:
            self._take_back_rejections(record, each.known.row.text, each.comparison.reason)
        self.recent.add(self._keep(row, record.vector))
        return Settled(row=row, links=tuple(self._link(record.id, "supersedes", each) for each in rivals))

    def _take_back_rejections(self, record: Record, reversed_text: str, reason: str) -> None:
        """Close what a reversed decision had rejected if the new one is for it: advice against it would mislead."""
        again: object = json.loads(record.metadata).get("rejected")
        for known in [self.known[id] for id in self.rejections.get(reversed_text, ()) if id in self.known]:
            rejected = known.row.text.partition(REJECTED)[0]
            still = isinstance(again, list) and rejected in again
            if not still and rejected.casefold() in record.text.casefold():
                self._close(known, record, reason)

    def _close(self, known: Known, by: Record, reason: str) -> None:
        memories.close(self.tx, self.space, known.id, by=by, reason=reason, now=self.now)
        del self.known[known.id]

    def _repeat(self, arrival: Arrival, same: _Rival) -> Settled:
        """Count an arrival as a repetition of what is known, in the better words of the two."""
        record, known = arrival.record, same.known
        row, version = known.row, None
        trusted = _trust(record.origin) >= _trust(row.origin)
        if trusted and set(terms.query_terms(record.text)) > set(terms.query_terms(row.text)):
            version = row.version
            row = self._reword(row, record)
        if trusted:
            memories.count_feedback(self.tx, self.space, [known.id], "confirmed", now=self.now)
        source = arrival.links[0].other if arrival.links else new_id()
        detail = {**_draft(record), "version": version, "confirmed": trusted}
        made = [replace(self._link(known.id, "repeats", same), other=source, detail=detail)]
        # What was stated outright depends on no message: it would be forgotten with one that only repeats it.
        if trusted and links.find_from(self.tx, self.space, [known.id], "learned from"):
            made += [replace(link, id=known.id) for link in arrival.links]
        links.put(self.tx, self.space, made)
        return Settled(row=row, links=tuple(made))

    def _reword(self, row: MemoryRow, record: Record) -> MemoryRow:
        kept = memories.record_of(self.tx, self.space, row)
        reworded = replace(
            kept, form=record.form, mime=record.mime, text=record.text, content=record.content,
            vector=record.vector, terms=pack_terms(record.text, kept.tags, kept.source),
            reason="said again in more detail",
        )  # fmt: skip
        row = memories.revise(self.tx, self.space, row, reworded, action="revised", now=self.now)
        self._keep(row, reworded.vector)
        return row

    def _keep(self, row: MemoryRow, vector: bytes | None) -> Known:
        known = self.known[row.id] = Known(row, vector)
        if REJECTED in row.text:
            decision = row.text.partition(REJECTED)[2]
            self.rejections.setdefault(decision, []).append(known.id)
        return known

    def _last_said(self, known: Known) -> int:
        """Return when a memory was said last: a later repetition is not outdated by what came in between."""
        again = links.find_from(self.tx, self.space, [known.id], "repeats")
        said = [link.detail.get("said_at") for link in again if not link.detail.get(HELD)]
        return max([known.row.said_at, *(moment for moment in said if isinstance(moment, int))])

    def _link(self, id: str, relation: Relation, other: _Rival) -> Link:
        at, reason = times.from_micros(self.now), other.comparison.reason
        return Link(id=id, relation=relation, other=other.known.id, at=at, reason=reason)


def _is_beside(each: _Rival) -> bool:
    """Tell whether a link is worth making: a shared subject alone, such as the team, tells nobody anything."""
    likeness = each.comparison.likeness
    return likeness == "same" or (likeness == "adds" and each.closeness >= NEAR)


def _may_close(record: Record, row: MemoryRow) -> bool:
    """Tell whether a statement may close what is known: not with less trust, nor what a person says of themselves."""
    if _trust(record.origin) < _trust(row.origin):
        return False
    if row.source is None or record.source is None or record.source.casefold() == row.source.casefold():
        return True
    own = re.match(rf"{re.escape(row.source)}\b", row.text, re.IGNORECASE)
    return own is None


def _trust(origin: Origin) -> int:
    """Return how far an origin is trusted; the first of ORIGINS is trusted most."""
    return -ORIGINS.index(origin)


def _can_stand_for(row: MemoryRow, record: Record) -> bool:
    """Tell whether nothing is lost if a known memory stands for a new one: an id, a content, a longer life."""
    plain = record.form == "text" and record.content is None and not record.named and not record.supersedes
    return plain and row.expires_at in (None, record.expires_at)


def _draft(record: Record) -> dict[str, Json]:
    """Return the fields from which a repetition can become a memory of its own."""
    return {
        "text": record.text,
        "kind": record.kind,
        "tags": list(record.tags),
        "metadata": json.loads(record.metadata),
        "importance": record.importance,
        "user": record.scope.user,
        "agent": record.scope.agent,
        "session": record.scope.session,
        "source": record.source,
        "origin": record.origin,
        "said_at": record.said_at,
    }
