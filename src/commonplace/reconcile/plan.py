"""Find the known memories that new ones may repeat, contradict or add to, before a transaction is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from commonplace.memories.core import Core, embed_query
from commonplace.recall.evidence import Judgement, judge
from commonplace.recall.settlement import THRESHOLD
from commonplace.reconcile.claims.changes import may_reverse
from commonplace.reconcile.claims.reader import read
from commonplace.reconcile.neighbours import make_assertion, unpack
from commonplace.reconcile.relate import decides, takes_back
from commonplace.store.base import Candidates, Choice, Probe, Where
from commonplace.store.row import MemoryRow
from commonplace.store.tables import memories, traces
from commonplace.store.tables.memories import Record
from commonplace.store.where import Selection, compile_where
from commonplace.text import terms
from commonplace.values import KINDS, Kind, Link, Within, times
from commonplace.values.arrays import Floats
from commonplace.values.extraction import TEAM, Act

_RIVALS = 16
"""Known memories that a new one is compared with."""
_DEPTH = 30
_LATE = 86_400_000_000
"""Microseconds for which "after all" may mean a decision."""
_LATELY = 20
_COMPARED = tuple(kind for kind in KINDS if kind != "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A memory on its way in: checked and embedded."""

    record: Record
    act: Act = "keep"
    links: Sequence[Link] = ()
    """Where it was learned; they go to the memory that comes to stand for it."""
    rivals: Sequence[str] = ()
    """The ids of memories that it may repeat, contradict or add to, the likeliest first."""
    reverses: Sequence[str] | None = None
    """The ids of decisions of which it may take one back without naming it; None if it takes none back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Arrivals with their rivals, as of a sequence number."""

    arrivals: Sequence[Arrival]
    seen: int


def make_plan(core: Core, space: int, arrivals: Sequence[Arrival]) -> Plan:
    """Search the likely rivals of each arrival."""
    seen = core.store.read(lambda tx: traces.last_seq(tx, space), space)
    where = _where(core, space, _COMPARED)
    planned = []
    for arrival in arrivals:
        record, said = arrival.record, make_assertion(arrival.record)
        rows = _search(core, space, unpack(record.vector), record.text, _COMPARED, 0.0, where)
        read(said.text, said.owner)  # the claim is cached, so that it takes no time inside the transaction
        rivals, reverses = [row.id for row in rows], _find_reversed(core, space, record)
        planned.append(replace(arrival, rivals=rivals, reverses=reverses))
    return Plan(arrivals=planned, seen=seen)


def find_about(core: Core, space: int, subject: str) -> list[MemoryRow]:
    """Return the memories and messages about a subject."""
    vector = embed_query(core.embedder, subject)
    return _search(core, space, vector, subject, KINDS, THRESHOLD, _where(core, space, KINDS))


def _where(core: Core, space: int, kinds: tuple[Kind, ...]) -> Where:
    return compile_where(core.store.syntax, space, Selection(kinds=kinds), now=times.now())


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
    core: Core, space: int, vector: Floats | None, text: str, kinds: tuple[Kind, ...], threshold: float, where: Where
) -> list[MemoryRow]:
    identity = core.identity()
    probe = Probe(
        vector=vector,
        terms=terms.query_terms(text),
        depth=_DEPTH,
        generation=identity.generation,
        now=times.now(),
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
