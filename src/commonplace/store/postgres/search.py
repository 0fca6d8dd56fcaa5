"""Search in PostgreSQL: the server finds the nearest vectors and the best by words in one snapshot.

A large space has an HNSW index of its own: one index over all spaces would find a few hundredths of the true neighbours
in a small one. It is built in the background, without a lock that writers would notice. Until it is ready, and for
narrowed searches, vectors are scanned exactly.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import psycopg

from commonplace.errors import CommonplaceError, StoreError
from commonplace.settings import Settings
from commonplace.store.base import REACH, Candidates, Choose, Found, Probe, Row, Where
from commonplace.store.postgres.address import DatabaseAddress
from commonplace.store.postgres.connections import PostgresConnection, connect
from commonplace.store.postgres.transaction import GONE, Transaction
from commonplace.store.postgres.wire import Full, Half, Numbers
from commonplace.store.row import FeedbackRow, MemoryRow, pack_head
from commonplace.store.tables import memories
from commonplace.store.tables.memories import ensure_generation
from commonplace.store.view import K1, PIVOT, B, View, unpack_terms, weigh_terms
from commonplace.text.terms import are_common
from commonplace.values import Scope
from commonplace.values.arrays import Floats, Ints

J = TypeVar("J")
_LOG = logging.getLogger(__name__)

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
"""Up to this many rows of a narrowed search are listed by number; beyond that, the whole space is filtered."""
# Tables that were just filled have no statistics yet, and a nested loop over them would take seconds.
_NO_LOOP = "SELECT set_config('enable_nestloop', 'off', TRUE)"
_LOOP = "SELECT set_config('enable_nestloop', 'on', TRUE)"
# `+ 0` keeps the planner from using an HNSW index.
_BY_MEANING = """SELECT t.seq FROM trace t{join} WHERE t.space = :space AND t.vector IS NOT NULL AND {where}
    ORDER BY (t.vector <#> CAST(:half AS halfvec)) + 0, t.seq LIMIT :depth"""
# BM25 as in `view`; the weight of each word is a parameter. Rounded, since the order of addition changes the last
# digit, and of equal scores the first counts.
_BY_WORDS = """SELECT p.seq FROM posting p JOIN unnest(:terms, :weights) AS q (term, weight) ON q.term = p.term{join}
    WHERE p.space = :space AND p.term = ANY(:terms) AND p.count > 0 AND {where} GROUP BY p.seq
    ORDER BY CAST(sum(q.weight * p.count * {gain} / (p.count + {damping})) AS real) DESC, p.seq LIMIT :depth"""
# The neighbours of the best in their sessions are candidates too, if they are admitted. Each step reads the primary
# key; a candidate without a session needs none.
_CANDIDATES = f"""WITH best AS MATERIALIZED
    (SELECT t.seq, t.session FROM trace t WHERE t.space = :space AND t.seq = ANY(ARRAY({{chosen}})))
    SELECT t.seq, {{cosine}}, t.terms, t.session FROM trace t WHERE t.space = :space AND t.seq = ANY(ARRAY(
    SELECT b.seq FROM best b UNION SELECT t.seq FROM best b CROSS JOIN LATERAL (
    (SELECT n.seq, n.session, n.state FROM trace n WHERE n.space = :space AND n.seq < b.seq AND n.state < 2
    ORDER BY n.seq DESC LIMIT {REACH}) UNION ALL
    (SELECT n.seq, n.session, n.state FROM trace n WHERE n.space = :space AND n.seq > b.seq AND n.state < 2
    ORDER BY n.seq LIMIT {REACH})) t WHERE b.session <> 0 AND t.session = b.session AND {{where}}))
    ORDER BY t.seq"""
# One by one and before the condition: without statistics, the planner may read another index for the whole space.
_FETCH = f"""SELECT {memories.FROM_M}, t.vector, f.id, f.used, f.ignored, f.wrong, f.confirmed, f.last_at
    FROM unnest(:seqs) AS s (seq)
    CROSS JOIN LATERAL (SELECT * FROM memory WHERE space = :space AND seq = s.seq OFFSET 0) m
    CROSS JOIN LATERAL (SELECT vector FROM trace WHERE space = :space AND seq = s.seq OFFSET 0) t
    LEFT JOIN feedback f ON f.space = m.space AND f.id = m.id
    WHERE """
_IS_ADMITTED = """coalesce((SELECT {where} FROM (SELECT * FROM memory WHERE space = :space AND seq = t.seq OFFSET 0) m),
    FALSE)"""
_USES = 6
"""Number of feedback columns at the end of a row of _FETCH."""
_PAST = """SELECT m.seq, m.kind, m.scope_user, m.scope_agent, m.scope_session, m.expires_at, m.valid_to,
    t.vector, t.terms FROM memory m JOIN trace t ON t.space = m.space AND t.seq = m.seq
    WHERE m.space = :space AND m.recorded_at <= :as_of AND (m.ended_at IS NULL OR m.ended_at > :as_of) ORDER BY m.seq"""
# Every number is a float8: decimals would be thirty times slower.
_GAIN = f"float8 '{K1 + 1}'"
_DAMPING = f"float8 '{K1 * (1 - B)}' + float8 '{K1 * B / PIVOT}' * greatest(CAST(p.length AS float8), float8 '{PIVOT}')"
_EMPTY: Ints = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    """Which versions may be candidates: a join and conditions on the trace `t` and the posting `p`."""

    join: str = ""
    trace: str = "t.state = 0"
    posting: str = "p.current"
    neighbour: str = "t.state = 0"
    """The condition on a trace without the join."""
    params: Mapping[str, object] = field(default_factory=dict)
    searched: int | None = None
    """How many there are; None for everything that recall can find."""


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
    """Find candidates, let `choose` pick, and fetch the picked rows."""
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
    return _fetch(tx, candidates, choose, where)


def count_terms(tx: Transaction, space: int, terms: Sequence[int]) -> Ints:
    """Return the number of memories visible to recall that hold each term."""
    if not terms:
        return _EMPTY
    signed = _signed(terms)
    found: dict[int, int] = dict(tx.run(_FREQUENCIES, {"space": space, "terms": Numbers(signed)}))
    return np.array([found.get(term, 0) for term in signed.tolist()], np.int64)


def _admitted(tx: Transaction, probe: Probe, where: Where, *, narrow: bool) -> _Admitted:
    """Return which versions the search is narrowed to, by the rows themselves."""
    if not (narrow or probe.superseded or probe.kinds or probe.within or probe.labels):
        return _Admitted()
    ((searched, few),) = tx.run(_SEARCHED.format(where=where.sql, few=_FEW), where.params)
    if few is not None or not searched:
        params = {"admitted": Numbers(np.array(few or [], np.int64))}
        traces = "t.seq = ANY(:admitted)"
        posting = "p.seq = ANY(:admitted)"
        return _Admitted(trace=traces, posting=posting, neighbour=traces, params=params, searched=searched)
    return _Admitted(
        join=" JOIN memory m ON m.space = {of}.space AND m.seq = {of}.seq",
        trace=where.sql,
        posting=where.sql,
        neighbour=_IS_ADMITTED.format(where=where.sql),
        params=where.params,
        searched=searched,
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
        near = _BY_MEANING.format(join=admitted.join.format(of="t"), where=admitted.trace)
        chosen.append(graph if graph is not None else near)
    if frequencies.any():
        joined = admitted.join.format(of="p")
        chosen.append(_BY_WORDS.format(join=joined, where=admitted.posting, gain=_GAIN, damping=_DAMPING))
        rarity = weigh_terms(frequencies, population, are_common(probe.terms))
        params |= {"terms": Numbers(_signed(probe.terms)), "weights": Numbers(rarity.astype(np.float32))}
    rows: list[Row] = []
    if chosen:
        if admitted.join:
            tx.send(_NO_LOOP)
        union = " UNION ".join(f"({each})" for each in chosen)
        rows = tx.run(_CANDIDATES.format(cosine=cosine, chosen=union, where=admitted.neighbour), params)
        if admitted.join:
            tx.send(_LOOP)
    counts, lengths = _count_words([row[2] for row in rows], probe)
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


def _count_words(blobs: list[bytes], probe: Probe) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.uint8]], Floats]:
    """Return how often each candidate holds each query term, and its number of words."""
    held = unpack_terms(blobs, 0)
    counts = np.zeros((len(blobs), len(probe.terms)), np.uint8)
    for column, term in enumerate(probe.terms):
        at = np.flatnonzero(held.hashes == np.uint32(term))
        counts[held.documents[at], column] = held.counts[at]
    lengths = np.bincount(held.documents, weights=held.counts, minlength=len(blobs))
    return counts, lengths.astype(np.float32)


def _fetch(tx: Transaction, candidates: Candidates, choose: Choose[J], where: Where) -> Found[J]:
    """Return the picked rows with vectors and feedback, without those for which the condition does not hold."""
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
        vectors=_unpack_vectors([row[-_USES - 1] for row in found]),
    )


def _unpack_vectors(blobs: list[bytes | None]) -> Floats:
    size = max((len(blob) for blob in blobs if blob is not None), default=0)
    flat = b"".join(blob if blob is not None else bytes(size) for blob in blobs)
    return np.frombuffer(flat, "<f2").reshape(len(blobs), size // 2).astype(np.float32)


def _search_past(
    tx: Transaction, space: int, probe: Probe, where: Where, choose: Choose[J], as_of: int, dimension: int
) -> Found[J]:
    """Search the past in memory: only the rows tell what was current then."""
    rows = [_trace_row(row) for row in tx.run(_PAST, {"space": space, "as_of": as_of})]
    view, tail = View.empty(0, dimension, room=len(rows)).add(rows)
    view = view.settle([tail], [], 0)
    candidates = view.search(probe, memories.select_seqs(tx, where))
    return memories.fetch(tx, candidates, choose(candidates), where, view.rows)


def _trace_row(row: Row) -> Row:
    seq, kind, user, agent, session, expires_at, valid_to, vector, terms = row
    scope = Scope(user=user, agent=agent, session=session)
    head = pack_head(kind=kind, scope=scope, expires_at=expires_at, closed=valid_to is not None)
    return seq, head, vector, terms


def _signed(terms: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return terms as signed numbers: PostgreSQL has no unsigned ones."""
    return np.array(terms, np.uint32).view(np.int32)


# -- graphs --------------------------------------------------------------------------------------------

_WIDTH = "SELECT set_config('hnsw.ef_search', :width, TRUE), set_config('hnsw.iterative_scan', 'relaxed_order', TRUE)"
_MOST_WIDTH = 1000
# Our own numbers are part of the text, so that the planner can match the index.
_NEAREST = """SELECT t.seq FROM trace t WHERE t.space = {space} AND t.state = 0
    ORDER BY CAST(t.vector AS halfvec({dimension})) <#> CAST(:half AS halfvec({dimension})) LIMIT {depth}"""
_BUILD = """CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} USING hnsw
    ((CAST(vector AS {types}.halfvec({dimension}))) {types}.halfvec_ip_ops) WHERE space = {space} AND state = 0"""
_HALF_BUILT = """SELECT 1 FROM pg_index i WHERE i.indexrelid = to_regclass($1) AND NOT i.indisvalid
    AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)"""
_TABLE = "SELECT CAST(CAST(tableoid AS regclass) AS text) FROM {schema}.trace WHERE space = $1 LIMIT 1"


class Graphs:
    """The HNSW indexes of one book."""

    def __init__(self, address: DatabaseAddress, settings: Settings, types: str) -> None:
        self._address = address
        self._settings = settings
        self._types = types
        self._lock = threading.Lock()
        self._builder: threading.Thread | None = None
        self._building: PostgresConnection | None = None
        self._given_up: set[int] = set()

    def find(
        self, tx: Transaction, space: int, *, ready: bool, population: int, dimension: int, depth: int
    ) -> str | None:
        """Return the statement that searches a space's graph; None if a scan is needed."""
        if population < self._settings.graph_rows:
            return None
        if not ready:
            self._build_later(space, dimension)
            return None
        tx.send(_WIDTH, {"width": str(min(max(2 * depth, 100), _MOST_WIDTH))})
        return _NEAREST.format(space=space, dimension=dimension, depth=depth)

    def close(self) -> None:
        """Stop building; the next builder drops a half-built index."""
        with self._lock:
            builder, building = self._builder, self._building
        if builder is not None and builder.is_alive():
            if building is not None:
                with suppress(psycopg.Error):
                    building.cancel_safe(timeout=5)
            builder.join(timeout=10)
        atexit.unregister(self.close)

    def _build_later(self, space: int, dimension: int) -> None:
        with self._lock:
            if space in self._given_up or (self._builder is not None and self._builder.is_alive()):
                return
            self._builder = threading.Thread(
                target=self._build, args=(space, dimension), name="commonplace-hnsw", daemon=True
            )
            self._builder.start()
        atexit.register(self.close)

    def _build(self, space: int, dimension: int) -> None:
        # After any failure, searches go on scanning, and this process does not try again.
        self._given_up.add(space)
        try:
            self._connect_and_build(space, dimension)
        except psycopg.errors.QueryCanceled:
            pass  # the book was closed
        except (psycopg.Error, CommonplaceError) as error:
            _LOG.warning("no graph for a large space of %s, which is scanned instead: %s", self._address.shown, error)
        finally:
            self._building = None

    def _connect_and_build(self, space: int, dimension: int) -> None:
        with connect(self._address.url, self._address.shown, self._settings) as connection:
            self._building = connection
            name = f"{self._address.quoted}.{graph_name(space)}"
            if connection.execute(_HALF_BUILT, [name]).fetchall():
                connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}".encode())
            with connection.transaction():  # row-level security needs the space
                connection.execute("SELECT set_config('commonplace.space', $1, TRUE)", [str(space)])
                table = connection.execute(_TABLE.format(schema=self._address.quoted).encode(), [space]).fetchall()
            for (part,) in table:
                sql = _BUILD.format(
                    name=graph_name(space), table=part, types=self._types, dimension=dimension, space=space
                )
                connection.execute(sql.encode())


def graph_name(space: int) -> str:
    """Return the name of a space's graph in the book's schema."""
    return f"graph_{space}"
