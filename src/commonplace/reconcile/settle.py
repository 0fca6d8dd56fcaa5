"""Write new memories beside the known ones: as a repetition, in place of others, as an addition, or as new.

How they stand to one another is judged before the transaction, so that no search and no model holds it up. What others
have written since is compared inside it, so that two writers of the same fact cannot miss each other. The model cannot
read there: where it would have a say, the plan is overtaken, and made again a few times before the claims decide alone.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from commonplace.memories.core import Core, Place
from commonplace.memories.write import make_records
from commonplace.reconcile.neighbours import REJECTED, Neighbour, Recent, find_last_said, unpack
from commonplace.reconcile.opinion import weigh
from commonplace.reconcile.plan import Arrival, Judged, Plan, make_plan, may_reverse_decision
from commonplace.reconcile.relate import NEAR, Comparison
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow, pack_terms
from commonplace.store.tables import links, memories, traces
from commonplace.store.tables.memories import Record
from commonplace.text import terms
from commonplace.values import ORIGINS, Draft, Json, Link, Memory, Origin, Relation, times
from commonplace.values.times import new_id

T = TypeVar("T")

MOST_ROWS = 32
"""Memories, new or changed, after which a transaction that need not write everything ends."""
_LONGEST = 0.02
"""Seconds of CPU after which it ends in any case."""
_LATE = 64
"""Memories written since a plan that are compared inside the transaction: the latest."""
_OF_ONESELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")
_LINKED = 3
"""Links to memories that a new one only adds to: the closest are enough."""
_TAKEN_BACK = Comparison(likeness="contradicts", reason="the decision was taken back", certainty=0.6)


class Overtaken(Exception):
    """Others have written something since the plan that the reader has to read first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The result of an arrival: the memory that stands for it now, and its links to others."""

    row: MemoryRow | None
    """None if it only took others out."""
    links: tuple[Link, ...]


class Written(NamedTuple):
    """The results of the first arrivals of a plan."""

    taken: int
    """How many arrivals are done, including those that were left out."""
    settled: list[Settled]


def remember(core: Core, place: Place, drafts: Sequence[Draft]) -> list[Memory]:
    """Store each draft beside what is known: as a new memory, or as a repetition of the one that is returned."""
    records = make_records(core, drafts, now=times.now())
    space = place.make()
    plan = make_plan(core, space, [Arrival(record=record) for record in records])
    # A repeated request gets what was recorded of the first, so only recordable values leave the transaction.
    settled = settle_plan(core, space, plan, lambda tx, plan: settle(tx, core, space, plan).settled)
    return [memories.decode(each.row) for each in settled if each.row is not None]


def settle_plan(core: Core, space: int, plan: Plan, work: Callable[[Tx, Plan], T]) -> T:
    """Run `work` with a plan in one transaction; if the plan was overtaken, make it again, a few times."""
    try:
        return core.store.write(lambda tx: work(tx, plan), space)
    except Overtaken:
        again = make_plan(core, space, plan.arrivals, plan.opinions, left=plan.left - 1)
    return settle_plan(core, space, again, work)


def settle(
    tx: Tx, core: Core, space: int, plan: Plan, *, most: int | None = None, without: Collection[str] = ()
) -> Written:
    """Write the arrivals of a plan, each beside what is known by then; with `most`, as many as a short transaction may.

    Arrivals whose message is among `without` are left out. Raises Overtaken if a plan that can be made again lacks an
    opinion.
    """
    core.ensure_generation(tx)
    work = _Settlement(tx=tx, space=space, generation=core.identity().generation, plan=plan)
    work.read()
    began = time.thread_time()
    settled: list[Settled] = []
    for taken, arrival in enumerate(plan.arrivals):
        if most is not None and settled and (work.rows >= most or time.thread_time() - began >= _LONGEST):
            return Written(taken, settled)
        if not (arrival.links and arrival.links[0].other in without):
            settled.append(work.settle(arrival))
    return Written(len(plan.arrivals), settled)


class _Rival(NamedTuple):
    """A known memory beside an arrival."""

    row: MemoryRow
    last_said: int
    closeness: float
    comparison: Comparison


@dataclass(slots=True, kw_only=True)
class _Settlement:
    """One transaction's view of the memories that its arrivals are compared with."""

    tx: Tx
    space: int
    generation: int
    plan: Plan
    known: dict[str, MemoryRow] = field(default_factory=dict)
    last_said: dict[str, int] = field(default_factory=dict)
    late: Recent = field(default_factory=Recent)
    """Memories that others have written since the plan."""
    own: list[str] = field(default_factory=list)
    """The memories that were written here."""
    merged: dict[str, str] = field(default_factory=dict)
    """For each arrival that only repeated something, the id of the memory that stands for it."""
    rejections: dict[str, list[str]] = field(default_factory=dict)
    """For the text of a decision, the memories of what was rejected for it."""
    rows: int = 0
    """How many memories were written or changed."""
    now: int = field(default_factory=times.now)

    def read(self) -> None:
        """Read the rivals as they stand now, and what others have written since the plan."""
        tx, space, plan = self.tx, self.space, self.plan
        wanted = {each.id for arrival in plan.arrivals for each in arrival.rivals}
        wanted |= {id for arrival in plan.arrivals for id in arrival.reverses or ()}
        most = _LATE + len(plan.own)
        late = memories.find_standing_since(tx, space, plan.seen, now=self.now, limit=most)
        if plan.left and len(late) == most:
            raise Overtaken
        # What the same plan has written in an earlier transaction was judged already.
        others = [row for row in late if row.id not in plan.own][-_LATE:]
        rows = [*memories.find_standing(tx, space, sorted(wanted), now=self.now), *others]
        self.last_said = find_last_said(tx, space, rows)
        for row in rows:
            self._keep(row)
        vectors = traces.vectors(tx, space, [row.seq for row in others]) if others else {}
        for row in others:
            vector = unpack(vectors.get(row.seq))
            self.late.add(Neighbour(row, vector, last_said=self.last_said[row.id]))

    def settle(self, arrival: Arrival) -> Settled:
        """Write one arrival."""
        record = arrival.record
        memories.date(record, self.now)
        rivals = self._compare(arrival)
        against = [each for each in rivals if each.comparison.likeness == "contradicts"]
        same = [each for each in rivals if each.comparison.likeness == "same" and _can_stand_for(each.row, record)]
        if same and not against:
            return self._repeat(arrival, max(same, key=lambda each: (each.comparison.certainty, each.closeness)))
        return self._add(arrival, against, rivals)

    def _compare(self, arrival: Arrival) -> list[_Rival]:
        """Return what an arrival has to do with; decisions that it reverses are contradicted in any case."""
        reversed_ids = self._find_reversed(arrival)
        reverses = [Judged(id, self.known[id].text, 0.0, _TAKEN_BACK) for id in reversed_ids]
        rivals: dict[str, _Rival] = {}
        for judged in (*reverses, *arrival.rivals, *self._compare_late(arrival)):
            row = self.known.get(self.merged.get(judged.id, judged.id))
            # What the record itself names as superseded is closed when it is written.
            if row is None or row.text != judged.text or row.id in rivals or row.id in arrival.record.supersedes:
                continue
            rivals[row.id] = _Rival(row, self.last_said[row.id], judged.closeness, judged.comparison)
        return [*rivals.values()]

    def _compare_late(self, arrival: Arrival) -> list[Judged]:
        """Judge an arrival and what others have written since the plan, by the claims or earlier opinions."""
        if not self.late.known:
            return []
        record, opinions = arrival.record, self.plan.opinions
        new = Neighbour(record, unpack(record.vector), last_said=record.said_at, act=arrival.act)
        near = [other for other in self.late.near(new) if other.scope == record.scope]
        if self.plan.left and any(opinions.lacks(new, other) for other in near):
            raise Overtaken
        return [
            Judged(other.id, other.text, new.closeness(other), weigh(new, other, opinions.find(new, other)))
            for other in near
        ]

    def _find_reversed(self, arrival: Arrival) -> list[str]:
        """Return the id of the one decision that an arrival can only take back; of several, none is certain."""
        if arrival.reverses is None:
            return []
        lately = [*arrival.reverses, *(other.id for other in self.late.known), *self.own]
        there = [self.known[id] for id in dict.fromkeys(lately) if id in self.known]
        found = [row.id for row in there if may_reverse_decision(arrival.record, row)]
        return found if len(found) == 1 else []

    def _add(self, arrival: Arrival, against: list[_Rival], rivals: list[_Rival]) -> Settled:
        """Write an arrival as a memory of its own; what it contradicts is closed, or closes it if that is newer."""
        record = arrival.record
        # A less trusted origin, or somebody else, may only dispute what is known.
        closed = [each for each in against if _may_close(record, each.row)]
        newer = [each for each in closed if each.last_said > record.said_at]
        disputed = [each for each in rivals if each.comparison.likeness == "disputes"]
        disputed += [each for each in against if each not in closed]
        made = [self._link(record.id, "disputes", each) for each in disputed]
        closest = sorted(filter(_is_beside, rivals), key=lambda each: -each.closeness)[:_LINKED]
        made += [self._link(record.id, "adds to", each) for each in closest]
        if newer:
            settled = self._insert_outdated(record, max(newer, key=lambda each: each.row.said_at))
        else:
            settled = self._insert_in_place_of(record, closed)
        made += [replace(link, id=record.id) for link in arrival.links]
        links.put(self.tx, self.space, made)
        return Settled(row=settled.row, links=(*settled.links, *made))

    def _insert_outdated(self, record: Record, by: _Rival) -> Settled:
        """Write what was said before something known: it is closed from the start."""
        record.valid_to, record.superseded_by = by.row.said_at, by.row.id
        record.reason = by.comparison.reason
        (row,) = memories.insert(self.tx, self.space, [record], generation=self.generation, now=self.now)
        self.rows += 1
        made = replace(self._link(by.row.id, "supersedes", by), other=record.id)
        links.put(self.tx, self.space, [made])
        return Settled(row=row, links=(made,))

    def _insert_in_place_of(self, record: Record, rivals: list[_Rival]) -> Settled:
        (row,) = memories.insert(self.tx, self.space, [record], generation=self.generation, now=self.now)
        self.rows += 1
        for each in rivals:
            self._close(each.row, record, each.comparison.reason)
        # After all of them, since a rejection may be one of the rivals itself.
        for each in rivals:
            self._take_back_rejections(record, each.row.text, each.comparison.reason)
        self._keep(row)
        self.last_said[row.id] = row.said_at
        self.own.append(row.id)
        return Settled(row=row, links=tuple(self._link(record.id, "supersedes", each) for each in rivals))

    def _take_back_rejections(self, record: Record, reversed_text: str, reason: str) -> None:
        """Close what a reversed decision had rejected if the new one is for it: advice against it would mislead."""
        again: object = json.loads(record.metadata).get("rejected")
        for known in [self.known[id] for id in self.rejections.get(reversed_text, ()) if id in self.known]:
            rejected = known.text.partition(REJECTED)[0]
            still = isinstance(again, list) and rejected in again
            if not still and rejected.casefold() in record.text.casefold():
                self._close(known, record, reason)

    def _close(self, known: MemoryRow, by: Record, reason: str) -> None:
        memories.close(self.tx, self.space, known.id, by=by, reason=reason, now=self.now)
        self.rows += 1
        del self.known[known.id]

    def _repeat(self, arrival: Arrival, same: _Rival) -> Settled:
        """Count an arrival as a repetition of what is known, in the better words of the two."""
        record, row, version = arrival.record, same.row, None
        trusted = _trust(record.origin) >= _trust(row.origin)
        if trusted and set(terms.query_terms(record.text)) > set(terms.query_terms(row.text)):
            version = row.version
            row = self._reword(row, record)
        if trusted:
            memories.count_feedback(self.tx, self.space, [row.id], "confirmed", now=self.now)
        source = arrival.links[0].other if arrival.links else new_id()
        detail = {**_draft(record), "version": version, "confirmed": trusted}
        made = [replace(self._link(row.id, "repeats", same), other=source, detail=detail)]
        # What was stated outright depends on no message: it would be forgotten with one that only repeats it.
        if trusted and links.find_from(self.tx, self.space, [row.id], "learned from"):
            made += [replace(link, id=row.id) for link in arrival.links]
        links.put(self.tx, self.space, made)
        self.last_said[row.id] = max(self.last_said[row.id], record.said_at)
        self.merged[record.id] = row.id
        self.rows += 1
        return Settled(row=row, links=tuple(made))

    def _reword(self, row: MemoryRow, record: Record) -> MemoryRow:
        kept = memories.record_of(self.tx, self.space, row)
        reworded = replace(
            kept, form=record.form, mime=record.mime, text=record.text, content=record.content,
            vector=record.vector, terms=pack_terms(record.text, kept.tags, kept.source),
            reason="said again in more detail",
        )  # fmt: skip
        row = memories.revise(self.tx, self.space, row, reworded, action="revised", now=self.now)
        self._keep(row)
        return row

    def _keep(self, row: MemoryRow) -> None:
        self.known[row.id] = row
        if REJECTED in row.text:
            decision = row.text.partition(REJECTED)[2]
            self.rejections.setdefault(decision, []).append(row.id)

    def _link(self, id: str, relation: Relation, other: _Rival) -> Link:
        at, reason = times.from_micros(self.now), other.comparison.reason
        return Link(id=id, relation=relation, other=other.row.id, at=at, reason=reason)


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
    named = re.match(rf"{re.escape(row.source)}\b", row.text, re.IGNORECASE)
    return named is None and _OF_ONESELF.search(row.text) is None


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
