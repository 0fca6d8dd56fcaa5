"""A search in one snapshot: count the question's words, let the server find the closest by meaning and by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from commonplace.errors import StoreError
from commonplace.store import trace
from commonplace.store.base import Choose, Found, Row, Where, ensure_generation
from commonplace.store.bm25 import K1, PIVOT, B, weights
from commonplace.store.candidates import REACH, Candidates, Probe
from commonplace.store.postgres.beginning import GONE
from commonplace.store.postgres.graphs import Graphs, graph_name
from commonplace.store.postgres.transaction import Transaction
from commonplace.store.postgres.types import Full, Half, Numbers
from commonplace.store.row import FeedbackRow, MemoryRow
from commonplace.store.sqlite.mirror import View, empty, extended
from commonplace.store.sqlite.postings import unpack
from commonplace.store.tables import memories
from commonplace.text.terms import common
from commonplace.values import Scope
from commonplace.values.arrays import Floats, Ints

J = TypeVar("J")
_STATE = """SELECT (SELECT value FROM book WHERE name = 'generation'),
    (SELECT value FROM book WHERE name = 'dimension'),
    coalesce((SELECT population FROM census WHERE space = :space), 0),
    EXISTS (SELECT 1 FROM memory WHERE space = :space AND expires_at <= :now AND ended_at IS NULL),
    coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:graph)), FALSE),
    :space < 1 OR EXISTS (SELECT 1 FROM space WHERE number = :space)"""
_FREQUENCIES = """SELECT term, count(*) FROM posting WHERE space = :space AND term = ANY(:terms) AND current
    GROUP BY term"""
_SEARCHED = """SELECT count(*), CASE WHEN count(*) <= {few} THEN array_agg(m.seq) END FROM memory m WHERE {where}"""
_FEW = 2_000
"""So many rows that a search is narrowed to are looked up one by one; beyond that all of the space are sieved."""
# Tables that were just filled have no statistics yet, and a loop in a loop over them would take seconds.
_SIEVE = "SELECT set_config('enable_nestloop', 'off', TRUE)"
_SIEVED = "SELECT set_config('enable_nestloop', 'on', TRUE)"
# `+ 0` keeps the order of a scan from being mistaken for the order of an index.
_NEAR = """SELECT t.seq FROM trace t{join} WHERE t.space = :space AND t.vector IS NOT NULL AND {where}
    ORDER BY (t.vector <#> CAST(:half AS halfvec)) + 0, t.seq LIMIT :depth"""
# BM25 as `store.bm25` has it; the weight of each word comes with the question. Rounded, since the same words add
# up to another last digit in another order, and of equal ones the first is taken.
_SAID = """SELECT p.seq FROM posting p JOIN unnest(:terms, :weights) AS q (term, weight) ON q.term = p.term{join}
    WHERE p.space = :space AND p.term = ANY(:terms) AND p.count > 0 AND {where} GROUP BY p.seq
    ORDER BY CAST(sum(q.weight * p.count * {gain} / (p.count + {damping})) AS real) DESC, p.seq LIMIT :depth"""
# Whatever stands just before and after the best in their sessions comes along, if it is admitted itself. Each step
# is a look at the primary key; a candidate without a session takes none.
_CANDIDATES = f"""WITH best AS MATERIALIZED
    (SELECT t.seq, t.session FROM trace t WHERE t.space = :space AND t.seq = ANY(ARRAY({{chosen}})))
    SELECT t.seq, {{cosine}}, t.terms, t.session FROM trace t WHERE t.space = :space AND t.seq = ANY(ARRAY(
    SELECT b.seq FROM best b UNION SELECT t.seq FROM best b CROSS JOIN LATERAL (
    (SELECT n.seq, n.session, n.state FROM trace n WHERE n.space = :space AND n.seq < b.seq AND n.state < 2
    ORDER BY n.seq DESC LIMIT {REACH}) UNION ALL
    (SELECT n.seq, n.session, n.state FROM trace n WHERE n.space = :space AND n.seq > b.seq AND n.state < 2
    ORDER BY n.seq LIMIT {REACH})) t WHERE b.session <> 0 AND t.session = b.session AND {{where}}))
    ORDER BY t.seq"""
# One by one and apart from the condition: without statistics any other index would look as good as the key, and be
# read for the whole space.
_FETCH = f"""SELECT {memories.FROM_M}, t.vector, f.id, f.used, f.ignored, f.wrong, f.confirmed, f.last_at
    FROM unnest(:seqs) AS s (seq)
    CROSS JOIN LATERAL (SELECT * FROM memory WHERE space = :space AND seq = s.seq OFFSET 0) m
    CROSS JOIN LATERAL (SELECT vector FROM trace WHERE space = :space AND seq = s.seq OFFSET 0) t
    LEFT JOIN feedback f ON f.space = m.space AND f.id = m.id
    WHERE """
_IS_ADMITTED = """coalesce((SELECT {where} FROM (SELECT * FROM memory WHERE space = :space AND seq = t.seq OFFSET 0) m),
    FALSE)"""
_USES = 6
"""How many columns of feedback end a row of it."""
_PAST = """SELECT m.seq, m.kind, m.scope_user, m.scope_agent, m.scope_session, m.expires_at, m.valid_to,
    t.vector, t.terms FROM memory m JOIN trace t ON t.space = m.space AND t.seq = m.seq
    WHERE m.space = :space AND m.recorded_at <= :as_of AND (m.ended_at IS NULL OR m.ended_at > :as_of) ORDER BY m.seq"""
# Every number is a float8 from the start: PostgreSQL would count in decimals, thirty times slower.
_GAIN = f"float8 '{K1 + 1}'"
_DAMPING = f"float8 '{K1 * (1 - B)}' + float8 '{K1 * B / PIVOT}' * greatest(CAST(p.length AS float8), float8 '{PIVOT}')"
_EMPTY: Ints = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    """Which versions may be candidates: a join and a condition on the trace and on the posting, called {of}."""

    join: str = ""
    near: str = "t.state = 0"
    said: str = "p.current"
    beside: str = "t.state = 0"
    """A condition on a trace that may not join anything."""
    params: Mapping[str, object] = field(default_factory=dict)
    searched: int | None = None
    """How many there are; None if it is everything that recall sees."""
    sieved: bool = False


def search(
    tx: Transaction,
    graphs: Graphs,
    space: int,
    probe: Probe,
    where: Where,
    choose: Choose[J],
    *,
    narrow: bool,
    as_of: int | None,
) -> Found[J]:
    """Find candidates, let `choose` pick, and fetch what it picked."""
    state = tx.send(_STATE, {"space": space, "now": probe.now, "graph": graph_name(space)})
    frequencies = count_terms(tx, space, probe.terms)
    ((generation, dimension, population, expiring, ready, there),) = state.fetchall()
    if not there:
        raise StoreError(GONE)
    ensure_generation(int(generation), probe.generation)
    if as_of is not None:
        return _search_past(tx, space, probe, where, choose, as_of, int(dimension))
    admitted = _admitted(tx, probe, where, narrow=narrow or expiring)
    graph = None
    if admitted.searched is None and probe.vector is not None:
        graph = graphs.find(tx, space, ready=ready, population=population, dimension=int(dimension), depth=probe.depth)
    candidates = _candidates(tx, space, probe, admitted, frequencies, population, graph)
    return _fetched(tx, candidates, choose, where)


def count_terms(tx: Transaction, space: int, terms: Sequence[int]) -> Ints:
    """In how many of the memories that recall sees each term stands."""
    if not terms:
        return _EMPTY
    signed = _signed(terms)
    found: dict[int, int] = dict(tx.run(_FREQUENCIES, {"space": space, "terms": Numbers(signed)}))
    return np.array([found.get(term, 0) for term in signed.tolist()], np.int64)


def _admitted(tx: Transaction, probe: Probe, where: Where, *, narrow: bool) -> _Admitted:
    """What the search is narrowed to, asked of the rows themselves: what they say is exact."""
    if not (narrow or probe.superseded or probe.kinds or probe.within or probe.labels):
        return _Admitted()
    ((searched, few),) = tx.run(_SEARCHED.format(where=where.sql, few=_FEW), where.params)
    if few is not None or not searched:
        params = {"admitted": Numbers(np.array(few or [], np.int64))}
        traces = "t.seq = ANY(:admitted)"
        return _Admitted(near=traces, said="p.seq = ANY(:admitted)", beside=traces, params=params, searched=searched)
    return _Admitted(
        join=" JOIN memory m ON m.space = {of}.space AND m.seq = {of}.seq",
        near=where.sql,
        said=where.sql,
        beside=_IS_ADMITTED.format(where=where.sql),
        params=where.params,
        searched=searched,
        sieved=True,
    )


def _candidates(
    tx: Transaction,
    space: int,
    probe: Probe,
    admitted: _Admitted,
    frequencies: Ints,
    population: int,
    graph: str | None,
) -> Candidates:
    params: dict[str, object] = {**admitted.params, "space": space, "depth": probe.depth}
    chosen, cosine = [], "CAST(0 AS real)"
    if probe.vector is not None:
        params |= {"half": Half(probe.vector.astype("<f2").tobytes()), "full": Full(probe.vector)}
        cosine = "coalesce(-(CAST(t.vector AS vector) <#> CAST(:full AS vector)), 0)"
        near = _NEAR.format(join=admitted.join.format(of="t"), where=admitted.near)
        chosen.append(graph if graph is not None else near)
    if frequencies.any():
        said = _SAID.format(join=admitted.join.format(of="p"), where=admitted.said, gain=_GAIN, damping=_DAMPING)
        chosen.append(said)
        rarity = weights(frequencies, population, common(probe.terms))
        params |= {"terms": Numbers(_signed(probe.terms)), "weights": Numbers(rarity.astype(np.float32))}
    rows: list[Row] = []
    if chosen:
        if admitted.sieved:
            tx.send(_SIEVE)
        union = " UNION ".join(f"({each})" for each in chosen)
        rows = tx.run(_CANDIDATES.format(cosine=cosine, chosen=union, where=admitted.beside), params)
        if admitted.sieved:
            tx.send(_SIEVED)
    counts, lengths = _counted([row[2] for row in rows], probe)
    return Candidates(
        seqs=np.array([row[0] for row in rows], np.int64),
        cosines=np.array([row[1] for row in rows], np.float32),
        counts=counts,
        lengths=lengths,
        frequencies=frequencies,
        population=population,
        searched=population if admitted.searched is None else admitted.searched,
        sessions=np.array([row[3] for row in rows], np.int64),
    )


def _counted(blobs: list[bytes], probe: Probe) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.uint8]], Floats]:
    """How often each candidate holds each word of the question, and how many words it has."""
    held = unpack(blobs, 0)
    counts = np.zeros((len(blobs), len(probe.terms)), np.uint8)
    for column, term in enumerate(probe.terms):
        at = np.flatnonzero(held.hashes == np.uint32(term))
        counts[held.documents[at], column] = held.counts[at]
    lengths = np.bincount(held.documents, weights=held.counts, minlength=len(blobs))
    return counts, lengths.astype(np.float32)


def _fetched(tx: Transaction, candidates: Candidates, choose: Choose[J], where: Where) -> Found[J]:
    """The picked rows with their vectors and feedback, less those for which the condition does not hold."""
    chosen = choose(candidates)
    picked = chosen.positions
    found = tx.run(_FETCH + where.sql, {**where.params, "seqs": Numbers(candidates.seqs[picked])})
    rows = [MemoryRow._make(row[: -_USES - 1]) for row in found]
    place = {int(seq): position for position, seq in zip(picked, candidates.seqs[picked], strict=True)}
    return Found(
        candidates=candidates,
        judgement=chosen.judgement,
        positions=np.array([place[row.seq] for row in rows], np.int64),
        rows=rows,
        uses={row[1]: FeedbackRow._make(row[-_USES:]) for row in found if row[-_USES] is not None},
        vectors=_unpacked([row[-_USES - 1] for row in found]),
    )


def _unpacked(blobs: list[bytes | None]) -> Floats:
    size = max((len(blob) for blob in blobs if blob is not None), default=0)
    flat = b"".join(blob if blob is not None else bytes(size) for blob in blobs)
    return np.frombuffer(flat, "<f2").reshape(len(blobs), size // 2).astype(np.float32)


def _search_past(
    tx: Transaction, space: int, probe: Probe, where: Where, choose: Choose[J], as_of: int, dimension: int
) -> Found[J]:
    """Of the past, the rows alone know what stood then: they are read, and searched here as SQLite's mirror is."""
    rows = [_traced(row) for row in tx.run(_PAST, {"space": space, "as_of": as_of})]
    view: View = extended(empty(0, dimension, room=len(rows)), [rows] if rows else [], [], 0)
    candidates = view.search(probe, memories.select_seqs(tx, where))
    chosen = choose(candidates)
    positions, found, uses = memories.fetch(tx, candidates.seqs, chosen.positions, where)
    return Found(
        candidates=candidates,
        judgement=chosen.judgement,
        positions=positions,
        rows=found,
        uses=uses,
        vectors=view.rows(candidates.seqs[positions]),
    )


def _traced(row: Row) -> Row:
    seq, kind, user, agent, session, expires_at, valid_to, vector, terms = row
    scope = Scope(user=user, agent=agent, session=session)
    head = trace.head(kind=kind, scope=scope, expires_at=expires_at, closed=valid_to is not None)
    return seq, head, vector, terms


def _signed(terms: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Terms as PostgreSQL keeps them: it has no unsigned numbers."""
    return np.array(terms, np.uint32).view(np.int32)
