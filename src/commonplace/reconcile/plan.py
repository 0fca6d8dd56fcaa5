"""Judge how new memories stand to the known ones, before a transaction is open: it has to be short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from commonplace.filters import All, Field, Test
from commonplace.memories.core import Core, embed_query
from commonplace.recall.evidence import Judgement, judge
from commonplace.recall.settlement import THRESHOLD
from commonplace.reconcile.claims.changes import may_reverse
from commonplace.reconcile.neighbours import REJECTED, Neighbour, Recent, find_last_said, make_assertion, unpack
from commonplace.reconcile.opinion import Opinions, is_open, make_pair, weigh
from commonplace.reconcile.relate import NEAR, Comparison, decides, share_words, takes_back
from commonplace.store.base import Candidates, Choice, Found, Part, Probe
from commonplace.store.row import MemoryRow, hash_name
from commonplace.store.tables import memories, traces
from commonplace.store.tables.memories import Record
from commonplace.store.where import Selection, compile_where
from commonplace.text import terms
from commonplace.values import KINDS, Kind, Link, Scope, Within, times
from commonplace.values.arrays import Floats
from commonplace.values.extraction import TEAM, Act

_RIVALS = 16
"""Known memories that a new one is compared with by its claims."""
_READ = 6
"""Those of them, the likeliest first, that the reader reads together with it: a pair costs it some milliseconds."""
_ANYHOW = 2
"""Those that are read however far they are: what takes back a statement may share nothing with it."""
_FAR = 0.15
"""Cosine below which the others are read only if they share a word; one of eight unrelated pairs reaches it."""
_AGAIN = 2
"""How often a plan may be made again."""
_LINKED = 3
"""Links to memories that a new one only adds to: the closest are enough."""
_DEPTH = 30
_LATE = 86_400_000_000
"""Microseconds for which "after all" may mean a decision."""
_LATELY = 20
_COMPARED = tuple(kind for kind in KINDS if kind != "message")


class Judged(NamedTuple):
    """A known memory that an arrival has to do with, as judged before the transaction."""

    id: str
    text: str
    """Its words then: if others have changed them since, the judgement is void."""
    closeness: float
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A memory on its way in: checked and embedded."""

    record: Record
    act: Act = "keep"
    links: Sequence[Link] = ()
    """Where it was learned; they go to the memory that comes to stand for it."""
    rivals: Sequence[Judged] = ()
    """What it repeats, contradicts, disputes or adds to."""
    reverses: Sequence[str] | None = None
    """The ids of decisions of which it may take one back without naming it; None if it takes none back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Arrivals with what they have to do with, as of a sequence number."""

    arrivals: Sequence[Arrival]
    seen: int
    own: frozenset[str]
    """The ids of all arrivals that were planned together."""
    opinions: Opinions
    left: int
    """How often it may be made again because others have written what it does not know."""


def make_plan(
    core: Core, space: int, arrivals: Sequence[Arrival], opinions: Opinions | None = None, *, left: int = _AGAIN
) -> Plan:
    """Search what each arrival has to do with, also among the arrivals before it, and judge it.

    `opinions` are those of an earlier plan, which need not be formed again.
    """
    seen = core.store.read(lambda tx: traces.last_seq(tx, space), space)
    opinions = opinions or Opinions(core)
    new = [_make_neighbour(arrival) for arrival in arrivals]
    around = _find_around(core, space, new)
    opinions.read(
        make_pair(one, other) for one, others in zip(new, around, strict=True) for other in _find_open(one, others)
    )
    planned = [
        replace(arrival, rivals=_judge(one, others, opinions), reverses=_find_reversed(core, space, arrival.record))
        for arrival, one, others in zip(arrivals, new, around, strict=True)
    ]
    return Plan(arrivals=planned, seen=seen, own=frozenset(one.id for one in new), opinions=opinions, left=left)


def _make_neighbour(arrival: Arrival) -> Neighbour:
    record = arrival.record
    return Neighbour(record, unpack(record.vector), last_said=record.said_at, act=arrival.act)


def _find_around(core: Core, space: int, new: Sequence[Neighbour]) -> list[list[Neighbour]]:
    """Return for each new memory the known ones, and those before it in the list, that are nearest to it."""
    found = [_search(core, space, one.vector, one.text, _COMPARED, 0.0, one.scope) for one in new]
    rows = [row for each in found for row in each.rows]
    last_said = core.store.read(lambda tx: find_last_said(tx, space, rows), space)
    together: dict[Scope, Recent] = {}
    around = []
    for one, each in zip(new, found, strict=True):
        before = together.setdefault(one.scope, Recent())
        known = [
            Neighbour(row, vector if vector.any() else None, last_said=last_said[row.id])
            for row, vector in zip(each.rows, each.vectors, strict=True)
            if row.scope == one.scope
        ]
        around.append(known + before.near(one))
        before.add(one)
    return around


def _find_open(one: Neighbour, others: Sequence[Neighbour]) -> Iterator[Neighbour]:
    """Yield the nearest of those about which the claims leave something open; far ones only among few."""
    ranked = sorted(others, key=lambda other: -one.closeness(other))
    left = [other for other in ranked if is_open(one, other)][:_READ]
    for place, other in enumerate(left):
        near = one.closeness(other) >= _FAR or share_words(one.assertion, other.assertion)
        if place < _ANYHOW or near:
            yield other


def _judge(one: Neighbour, others: Sequence[Neighbour], opinions: Opinions) -> list[Judged]:
    """Return the others that matter when a memory is written."""
    judged = [
        Judged(other.id, other.text, one.closeness(other), weigh(one, other, opinions.find(one, other)))
        for other in others
    ]
    beside = [each for each in judged if each.comparison.likeness == "adds" and each.closeness >= NEAR]
    closest = sorted(beside, key=lambda each: -each.closeness)[:_LINKED]
    decisive = [
        each for each in judged if each.comparison.likeness not in ("adds", "unrelated") or REJECTED in each.text
    ]
    return [*decisive, *(each for each in closest if each not in decisive)]


def find_about(core: Core, space: int, subject: str) -> list[MemoryRow]:
    """Return the memories and messages about a subject."""
    return _search(core, space, embed_query(core.embedder, subject), subject, KINDS, THRESHOLD, None).rows


def _find_reversed(core: Core, space: int, record: Record) -> list[str] | None:
    """Return the late decisions that "going with Adyen after all" may take back; None if it takes none back."""
    if not may_reverse(record.text) or not takes_back(record.text, make_assertion(record).owner or TEAM):
        return None
    user, agent = record.scope.user, record.scope.agent
    within = Within(users=() if user is None else (user,), agents=() if agent is None else (agent,))
    where = compile_where(core.store.syntax, space, Selection(kinds=("decision",), within=within), now=times.now())
    rows = core.store.read(lambda tx: memories.page(tx, where, newest=True, limit=_LATELY, after=None), space)
    return [row.id for row in rows if may_reverse_decision(record, row)]


def may_reverse_decision(record: Record, row: MemoryRow) -> bool:
    """Tell whether a memory is a decision of the same scope, shortly before a new one."""
    decided = row.kind == "decision" and decides(row.text, TEAM)
    return decided and 0 <= record.said_at - row.said_at <= _LATE and record.scope == row.scope


def _search(
    core: Core,
    space: int,
    vector: Floats | None,
    text: str,
    kinds: tuple[Kind, ...],
    threshold: float,
    scope: Scope | None,
) -> Found[Judgement]:
    """Search the memories of some kinds nearest to a text, in one scope or in all."""
    identity, now = core.identity(), times.now()
    parts: tuple[tuple[Part, str | None], ...] = ()
    if scope is not None:
        parts = ("user", scope.user), ("agent", scope.agent), ("session", scope.session)
    inside = All(tuple(Test(Field(name), "$eq", (value,)) for name, value in parts))
    where = compile_where(core.store.syntax, space, Selection(kinds=kinds, filter=inside), now=now)
    probe = Probe(
        vector=vector,
        terms=terms.query_terms(text),
        depth=_DEPTH,
        generation=identity.generation,
        now=now,
        superseded=False,
        kinds=tuple(map(KINDS.index, kinds)) if kinds != KINDS else (),
        labels=(),
        within=tuple((name, (hash_name(value),)) for name, value in parts),
    )

    def choose(candidates: Candidates) -> Choice[Judgement]:
        judgement = judge(candidates, identity.background, probe.terms)
        order = np.argsort(-judgement.evidence, kind="stable")[:_RIVALS]
        return Choice(positions=order[judgement.relevance[order] >= threshold], judgement=judgement)

    return core.store.search(space, probe, where, choose, narrow=False, as_of=None)
