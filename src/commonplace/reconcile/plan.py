"""What becomes of a memory beside those that are known: said again, in place of them, more of the same, or new.

The likely rivals are searched before the transaction, which no search may hold up; whatever was written since is
looked at inside it, so that two writers of the same fact cannot both miss the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from commonplace.memories.core import Core, Place, embed_query
from commonplace.memories.quarantine import HELD
from commonplace.memories.write import make_records
from commonplace.recall.answer import THRESHOLD
from commonplace.recall.evidence import Judgement, judge
from commonplace.reconcile.claims.changes import may_reverse
from commonplace.reconcile.claims.reading import read
from commonplace.reconcile.neighbours import Known, Recent, stated
from commonplace.reconcile.relate import NEAR, decides, relate, takes_back
from commonplace.reconcile.statements import Link as Likeness
from commonplace.reconcile.statements import Relation, Statement
from commonplace.store.base import Candidates, Choice, Probe, Tx, Where
from commonplace.store.row import MemoryRow, pack_terms
from commonplace.store.tables import links, memories, traces
from commonplace.store.tables.memories import Record
from commonplace.store.where import Selection, compile_where
from commonplace.text import terms
from commonplace.values import KINDS, ORIGINS, Draft, Json, Kind, Link, Memory, Origin, Within, times
from commonplace.values import Relation as Named
from commonplace.values.arrays import Floats
from commonplace.values.extraction import TEAM, Act
from commonplace.values.times import new_id

_RIVALS = 16
"""Known memories that a new one is compared with."""
_DEPTH = 30
_LINKED = 3
"""Links to memories that a new one only adds to: the closest say enough."""
_LATE = 86_400_000_000
"""Microseconds for which a decision is what "after all" may mean."""
_LATELY = 20
_TAKEN_BACK = Relation(link="contradicts", reason="the decision was taken back", certainty=0.6)
REJECTED = " was rejected: "
"""Between what was decided against and the decision."""
_COMPARED = tuple(kind for kind in KINDS if kind != "message")


@dataclass(slots=True, kw_only=True)
class Arrival:
    """A memory on its way in: checked and embedded."""

    record: Record
    act: Act = "keep"
    links: Sequence[Link] = ()
    """Where it was learned; they follow the memory that comes to stand for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What came of an arrival: the memory that stands for it now, and how it stands to others."""

    row: MemoryRow | None
    """None if it only took others out."""
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Arrivals with the ids of memories that they may have to do with, as of a sequence number."""

    arrivals: Sequence[Arrival]
    rivals: Sequence[Sequence[str]]
    seen: int
    meant: Sequence[Sequence[str] | None]
    """For each arrival that takes back a decision without naming it, those that it may mean; None for any other."""


def plan(core: Core, space: int, arrivals: Sequence[Arrival]) -> Plan:
    """Search the likely rivals of each arrival."""
    seen = core.store.read(lambda tx: traces.last_seq(tx, space), space)
    where = _where(core, space, _COMPARED)
    rivals = [_rivals(core, space, each.record, where) for each in arrivals]
    for said in (stated(each.record) for each in arrivals):
        read(said.text, said.owner)  # it is kept: nobody has to wait for it inside the transaction
    return Plan(arrivals=arrivals, rivals=rivals, seen=seen, meant=[_meant(core, space, each) for each in arrivals])


def remember(core: Core, place: Place, drafts: Sequence[Draft]) -> list[Memory]:
    """Store each draft beside what is known: as a new memory, or as a repetition of the one that is returned."""
    records = make_records(core, drafts, now=times.now())
    space = place.make()
    planned = plan(core, space, [Arrival(record=record) for record in records])
    settled = core.store.write(lambda tx: settle(tx, core, space, planned), space)
    return [memories.decode(each.row) for each in settled if each.row is not None]


def settle(tx: Tx, core: Core, space: int, planned: Plan) -> list[Settled]:
    """Write every arrival of a plan, each beside what is known by then."""
    core.ensure_generation(tx)
    desk = _Desk(tx=tx, space=space, generation=core.identity().generation)
    desk.lay_out(planned)
    given = zip(planned.arrivals, planned.rivals, planned.meant, strict=True)
    return [desk.settle(arrival, rivals, desk.meant(arrival, late)) for arrival, rivals, late in given]


def about(core: Core, space: int, subject: str) -> list[MemoryRow]:
    """The memories and messages that bear on a subject."""
    vector = embed_query(core.embedder, subject)
    return _search(core, space, vector, subject, KINDS, THRESHOLD, _where(core, space, KINDS))


def _where(core: Core, space: int, kinds: tuple[Kind, ...]) -> Where:
    return compile_where(core.store.syntax, space, Selection(kinds=kinds), now=times.now())


def _rivals(core: Core, space: int, record: Record, where: Where) -> list[str]:
    """The ids of memories that a new one may repeat, contradict or add to, the likeliest first."""
    rows = _search(core, space, _floats(record.vector), record.text, _COMPARED, 0.0, where)
    return [row.id for row in rows]


def _meant(core: Core, space: int, arrival: Arrival) -> list[str] | None:
    """The decisions of late that "going with Adyen after all" may take back; None for what takes back none."""
    record = arrival.record
    if not may_reverse(record.text) or not takes_back(record.text, stated(record).owner or TEAM):
        return None
    scope = Within(users=_only(record.scope.user), agents=_only(record.scope.agent))
    where = compile_where(core.store.syntax, space, Selection(kinds=("decision",), within=scope), now=times.now())
    rows = core.store.read(lambda tx: memories.page(tx, where, newest=True, limit=_LATELY, after=None), space)
    return [row.id for row in rows if _may_mean(record, row)]


def _may_mean(record: Record, row: MemoryRow) -> bool:
    since = record.said_at - row.said_at
    decided = row.kind == "decision" and decides(row.text, TEAM)
    return decided and 0 <= since <= _LATE and _same_scope(record, row)


def _only(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _search(
    core: Core, space: int, vector: Floats | None, text: str, kinds: tuple[Kind, ...], threshold: float, where: Where
) -> list[MemoryRow]:
    identity, now = core.identity(), times.now()
    probe = Probe(
        vector=vector,
        terms=terms.query_terms(text),
        depth=_DEPTH,
        generation=identity.generation,
        now=now,
        superseded=False,
        kinds=tuple(map(KINDS.index, kinds)) if kinds != KINDS else (),
        labels=(),
        within=(),
    )

    def choose(candidates: Candidates) -> Choice[Judgement]:
        judgement = judge(candidates, identity.background, probe.terms)
        order = np.argsort(-judgement.evidence, kind="stable")[:_RIVALS]
        return Choice(positions=order[judgement.relevance[order] >= threshold], judgement=judgement)

    return core.store.search(space, probe, where, choose, narrow=False, as_of=None).rows


@dataclass(frozen=True, slots=True)
class _Compared:
    """A known memory and what an arrival has to do with it."""

    known: Known
    closeness: float
    relation: Relation


@dataclass(slots=True, kw_only=True)
class _Desk:
    """One transaction's view of the memories that its arrivals are compared with."""

    tx: Tx
    space: int
    generation: int
    known: dict[str, Known] = field(default_factory=dict)
    recent: Recent = field(default_factory=Recent)
    """What was written since the search: every arrival is compared with what is near to it there."""
    rejections: dict[str, list[str]] = field(default_factory=dict)
    """For the text of a decision, the memories of what was rejected for it."""
    now: int = field(default_factory=times.now)

    def lay_out(self, planned: Plan) -> None:
        """Read the rivals as they stand now, and what came after them."""
        wanted = sorted({id for ids in (*planned.rivals, *planned.meant) for id in ids or ()})
        late = memories.find_standing_since(self.tx, self.space, planned.seen, now=self.now)
        rows = [*memories.find_standing(self.tx, self.space, wanted, now=self.now), *late]
        vectors = traces.vectors(self.tx, self.space, [row.seq for row in rows])
        for row in rows:
            self._keep(row, vectors.get(row.seq))
        for row in late:
            self.recent.add(self.known[row.id])

    def meant(self, arrival: Arrival, late: Sequence[str] | None) -> str | None:
        """The one decision that an arrival can only take back; of several, none is plain."""
        if late is None:
            return None
        there = [self.known[id] for id in {*late, *self.recent.ids} if id in self.known]
        found = [known.id for known in there if _may_mean(arrival.record, known.row)]
        return found[0] if len(found) == 1 else None

    def settle(self, arrival: Arrival, rivals: Sequence[str], meant: str | None = None) -> Settled:
        """Write one arrival; what it can only mean is taken back, whatever its words are."""
        memories.date(arrival.record, self.now)
        # What it names itself as superseded is closed when it is written.
        new, vector = replace(stated(arrival.record), act=arrival.act), _floats(arrival.record.vector)
        near = dict.fromkeys([*rivals, *self.recent.near(new, vector), *([] if meant is None else [meant])])
        compared = list(
            self._compare(arrival.record, new, vector, [id for id in near if id not in arrival.record.supersedes])
        )
        compared = [replace(each, relation=_TAKEN_BACK) if each.known.id == meant else each for each in compared]
        same = _strongest((each for each in compared if _can_stand_for(each.known.row, arrival.record)), "same")
        against = [each for each in compared if each.relation.link == "contradicts"]
        if same is not None and not against:
            return self._repeat(arrival, same)
        return self._add(arrival, against, [each for each in compared if _is_beside(each)])

    def _compare(
        self, record: Record, new: Statement, vector: Floats | None, ids: Iterable[str]
    ) -> Iterator[_Compared]:
        for id in ids:
            known = self.known.get(id)
            if known is not None and known.scope == record.scope:
                closeness = _cosine(known.vector, vector)
                yield _Compared(known, closeness, relate(new, known.statement, closeness))

    def _add(self, arrival: Arrival, against: list[_Compared], beside: list[_Compared]) -> Settled:
        """Write an arrival as a memory of its own; what it contradicts is closed, or closes it if that is newer."""
        record = arrival.record
        # What is trusted less may dispute what is known, and no more.
        rivals = [each for each in against if _trust(record.origin) >= _trust(each.known.row.origin)]
        newer = [each for each in rivals if self._last_said(each.known) > record.said_at]
        made = [self._link(record.id, "disputes", each) for each in against if each not in rivals]
        made += [
            self._link(record.id, "adds to", each)
            for each in sorted(beside, key=lambda each: -each.closeness)[:_LINKED]
        ]
        if newer:
            settled = self._insert_outdated(record, max(newer, key=lambda each: each.known.row.said_at))
        else:
            settled = self._insert_in_place_of(record, rivals)
        made += [replace(link, id=record.id) for link in arrival.links]
        links.put(self.tx, self.space, made)
        return Settled(row=settled.row, links=(*settled.links, *made))

    def _insert_outdated(self, record: Record, by: _Compared) -> Settled:
        """Write what was said before something known: it is closed from the start."""
        record.valid_to, record.superseded_by = by.known.row.said_at, by.known.id
        record.reason = by.relation.reason
        (row,) = memories.insert(self.tx, self.space, [record], generation=self.generation, now=self.now)
        made = replace(self._link(by.known.id, "supersedes", by), other=record.id)
        links.put(self.tx, self.space, [made])
        return Settled(row=row, links=(made,))

    def _insert_in_place_of(self, record: Record, rivals: list[_Compared]) -> Settled:
        (row,) = memories.insert(self.tx, self.space, [record], generation=self.generation, now=self.now)
        for each in rivals:
            memories.close(self.tx, self.space, each.known.id, by=record, reason=each.relation.reason, now=self.now)
            del self.known[each.known.id]
        # After all of them, since a rejection may be one of the rivals itself.
        for each in rivals:
            self._take_back_rejections(record, each.known.row.text, each.relation.reason)
        self.recent.add(self._keep(row, record.vector))
        return Settled(row=row, links=tuple(self._link(record.id, "supersedes", each) for each in rivals))

    def _take_back_rejections(self, record: Record, reversed_text: str, reason: str) -> None:
        """Close what a reversed decision had rejected, if the new one is for it: advice against it would mislead."""
        again: object = json.loads(record.metadata).get("rejected")
        for known in [self.known[id] for id in self.rejections.get(reversed_text, ()) if id in self.known]:
            rejected = known.row.text.partition(REJECTED)[0]
            if isinstance(again, list) and rejected in again:
                continue
            if rejected.casefold() in record.text.casefold():
                memories.close(self.tx, self.space, known.id, by=record, reason=reason, now=self.now)
                del self.known[known.id]

    def _repeat(self, arrival: Arrival, same: _Compared) -> Settled:
        """Count an arrival as a repetition of what is known, in the better words of the two."""
        record, known = arrival.record, same.known
        row, before = known.row, known.row.version
        trusted = _trust(record.origin) >= _trust(row.origin)
        if trusted and _says_more(record.text, row.text):
            kept = memories.record_of(self.tx, self.space, row)
            reworded = replace(
                kept, form=record.form, mime=record.mime, text=record.text, content=record.content,
                vector=record.vector, terms=pack_terms(record.text, kept.tags, kept.source),
                reason="said again in more detail",
            )  # fmt: skip
            row = memories.revise(self.tx, self.space, row, reworded, action="revised", now=self.now)
            self._keep(row, reworded.vector)
        if trusted:
            memories.count_feedback(self.tx, self.space, [known.id], "confirmed", now=self.now)
        source = arrival.links[0].other if arrival.links else new_id()
        again = replace(
            self._link(known.id, "repeats", same), other=source,
            detail={**_draft(record), "version": before if row is not known.row else None, "confirmed": trusted},
        )  # fmt: skip
        made = [again]
        # What somebody stated outright hangs on no message: it would be forgotten with one that only repeats it.
        if trusted and links.find_from(self.tx, self.space, [known.id], "learned from"):
            made += [replace(link, id=known.id) for link in arrival.links]
        links.put(self.tx, self.space, made)
        return Settled(row=row, links=tuple(made))

    def _keep(self, row: MemoryRow, vector: bytes | None) -> Known:
        known = Known(row, _floats(vector))
        self.known[known.id] = known
        if REJECTED in row.text:
            decision = row.text.partition(REJECTED)[2]
            self.rejections.setdefault(decision, []).append(known.id)
        return known

    def _last_said(self, known: Known) -> int:
        """When a memory was said last: what was repeated since is not outdated by what came in between."""
        again = links.find_from(self.tx, self.space, [known.id], "repeats")
        said = [link.detail.get("said_at") for link in again if not link.detail.get(HELD)]
        return max([known.row.said_at, *(moment for moment in said if isinstance(moment, int))])

    def _link(self, id: str, relation: Named, other: _Compared) -> Link:
        at, reason = times.from_micros(self.now), other.relation.reason
        return Link(id=id, relation=relation, other=other.known.id, at=at, reason=reason)


def _is_beside(each: _Compared) -> bool:
    """Whether a link is worth making: one subject alone, such as the team, tells nobody anything."""
    return each.relation.link == "same" or (each.relation.link == "adds" and each.closeness >= NEAR)


def _strongest(compared: Iterable[_Compared], likeness: Likeness) -> _Compared | None:
    found = [each for each in compared if each.relation.link == likeness]
    return max(found, key=lambda each: (each.relation.certainty, each.closeness), default=None)


def _says_more(new: str, old: str) -> bool:
    """Whether a text has all the words of another, and more."""
    return set(terms.query_terms(new)) > set(terms.query_terms(old))


def _trust(origin: Origin) -> int:
    """How far an origin is trusted: what comes first in the list, most."""
    return -ORIGINS.index(origin)


def _same_scope(record: Record, row: MemoryRow) -> bool:
    return record.scope == row.scope


def _can_stand_for(row: MemoryRow, record: Record) -> bool:
    """Whether nothing is lost if a known memory stands for a new one: an id, a content, a longer life."""
    plain = record.form == "text" and record.content is None and not record.named and not record.supersedes
    return plain and row.expires_at in (None, record.expires_at)


def _floats(vector: bytes | None) -> Floats | None:
    return None if vector is None else np.frombuffer(vector, "<f2").astype(np.float32)


def _cosine(one: Floats | None, other: Floats | None) -> float:
    """How close two vectors are; nothing is close to what has none."""
    return 0.0 if one is None or other is None else float(one @ other)


def _draft(record: Record) -> dict[str, Json]:
    """What it takes to make a repetition a memory of its own."""
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
