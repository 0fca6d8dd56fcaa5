"""A space's search index in memory: rebuilt from the file at first use, then kept up by sequence number.

SQLite is the only truth. A mirror is brought level with the snapshot of the very transaction that asks,
so that it can neither miss an acknowledged write nor show a forgotten memory; and each state of it is
immutable, so that threads search side by side while another brings it up to date.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from commonplace.settings import Settings
from commonplace.store.base import Row, Tx, ensure_generation
from commonplace.store.bm25 import K1, damping, weights
from commonplace.store.candidates import REACH, Candidates, Probe
from commonplace.store.sqlite.postings import Counts, Documents, Postings, Tail, unpack
from commonplace.store.sqlite.vectors import Column, Vectors, column
from commonplace.store.trace import FOREVER, HEAD
from commonplace.text.terms import common
from commonplace.values.arrays import Floats, Ints

Mask = npt.NDArray[np.bool_]
Found = list[tuple[Documents, Counts]]

_TRACES = """SELECT seq, head, vector, terms FROM trace
    WHERE space = :space AND seq > :seq AND seq NOT IN (SELECT was FROM ended WHERE space = :space)
    ORDER BY seq LIMIT :limit"""
_COUNT = "SELECT count(*) FROM trace WHERE space = :space"
_STATE = """SELECT coalesce((SELECT epoch FROM space WHERE number = :space), 0),
    (SELECT value FROM counter WHERE name = 'seq'), (SELECT value FROM book WHERE name = 'dimension'),
    (SELECT value FROM book WHERE name = 'generation')"""
_BATCH = 20_000
_ENDED = "SELECT was FROM ended WHERE space = :space AND seq > :seq"
_TRACES_AS_OF = """SELECT t.seq, t.head, t.vector, t.terms FROM trace t JOIN memory m ON m.seq = t.seq
    WHERE t.space = :space AND m.recorded_at <= :as_of AND (m.ended_at IS NULL OR m.ended_at > :as_of)
    ORDER BY t.seq"""


class Graph(Protocol):
    """An approximate index over the vectors up to a sequence number (see segments)."""

    @property
    def seq(self) -> int: ...

    def nearest(self, query: Floats, count: int) -> Ints: ...


@dataclass(frozen=True, slots=True)
class View:
    """One state of a space's index. Documents are numbered in the order of their sequence numbers."""

    epoch: int
    seq: int
    """Every change up to this number is in the view."""
    seqs: Column[np.int64]
    heads: Column[np.void]
    lengths: Column[np.float32]
    vectors: Vectors
    postings: Postings
    alive: Mask
    current: Mask
    """Alive, and not closed by a newer memory: what word statistics are taken from."""
    population: int
    expiring: bool
    """Whether any document has a time to live, so that most searches need not look."""

    def search(self, probe: Probe, allowed: Ints | None, graph: Graph | None = None) -> Candidates:
        """The best by meaning and the best by words among the documents that the probe admits.

        A `graph` finds the closest of a large space, unless the search is narrowed: then a scan is exact and cheaper.
        """
        postings = [list(self.postings.find(term)) for term in probe.terms]
        frequencies = self._counted(postings)
        admitted = self._admitted(probe, allowed)
        wide = not (probe.kinds or probe.within or probe.labels or allowed is not None)
        closest = self._by_graph(probe, admitted, graph) if graph and wide else self._by_meaning(probe, admitted)
        best = _union([closest, self._by_words(probe, admitted, postings, frequencies)])
        chosen = self._with_neighbours(best, admitted)
        return Candidates(
            seqs=self.seqs.array[chosen],
            cosines=self.vectors.cosines(chosen, probe.vector),
            counts=_counts(postings, chosen, self.seqs.count),
            lengths=self.lengths.array[chosen],
            frequencies=frequencies,
            population=self.population,
            searched=self.population if admitted is None else int(np.count_nonzero(admitted)),
            sessions=self.heads.array["session"][chosen].astype(np.int64),
        )

    def frequencies(self, terms: Sequence[int]) -> Ints:
        """In how many of the current documents each term stands."""
        return self._counted([list(self.postings.find(term)) for term in terms])

    def _counted(self, postings: list[Found]) -> Ints:
        counted = [sum(int(np.count_nonzero(self.current[d])) for d, _ in found) for found in postings]
        return np.array(counted, np.int64)

    def rows(self, seqs: Ints) -> Floats:
        """The vectors of these documents."""
        return self.vectors.rows(self.seqs.array.searchsorted(seqs))

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.postings.nbytes + 50 * self.seqs.count

    def _admitted(self, probe: Probe, allowed: Ints | None) -> Mask | None:
        """Which documents may be candidates; None for all of them, the common case."""
        mask = self.alive if probe.superseded else self.current
        heads = self.heads.array
        if self.expiring:
            mask = mask & (heads["expires"] > probe.now)
        if probe.kinds:
            mask = mask & np.isin(heads["kind"], probe.kinds)
        for part, names in probe.within:
            mask = mask & np.isin(heads[part], names)
        for label in probe.labels:
            mask = mask & self._holders(label)
        if allowed is not None:
            mask = mask & self._members(allowed)
        return None if mask.all() else mask

    def _holders(self, term: int) -> Mask:
        holders = np.zeros(self.seqs.count, np.bool_)
        for documents, _ in self.postings.find(term):
            holders[documents] = True
        return holders

    def _members(self, allowed: Ints) -> Mask:
        members = np.zeros(self.seqs.count, np.bool_)
        members[_positions(self.seqs.array, allowed)] = True
        return members

    def _with_neighbours(self, best: Ints, admitted: Mask | None) -> Ints:
        """These documents and those that stand just before and after them in their sessions."""
        sessions = self.heads.array["session"]
        if not len(best) or not sessions[best].any():
            return best
        best_sessions, found = sessions[best], [best]
        # What has ended stands between nobody: how long it stays in the view depends on when that was loaded.
        standing = np.flatnonzero(self.alive)
        places = standing.searchsorted(best)
        for step in (*range(-REACH, 0), *range(1, REACH + 1)):
            near = standing[np.clip(places + step, 0, len(standing) - 1)]
            there = (sessions[near] == best_sessions) & (best_sessions != 0)
            found.append(near[there & self.current[near] if admitted is None else there & admitted[near]])
        return _union(found)

    def _by_meaning(self, probe: Probe, admitted: Mask | None) -> Ints:
        if probe.vector is None:
            return np.empty(0, np.int64)
        among = None if admitted is None else np.flatnonzero(admitted)
        # The scan is rough: some more than are wanted, of which the vectors as they are stored tell the best.
        best = np.sort(_best(self.vectors.scan(probe.vector, among), probe.depth + probe.depth // 4))
        near = best if among is None else among[best]
        if len(near) <= probe.depth:
            return near
        halved = probe.vector.astype(np.float16).astype(np.float32)
        return near[_best(self.vectors.cosines(near, halved), probe.depth)]

    def _by_graph(self, probe: Probe, admitted: Mask | None, graph: Graph) -> Ints:
        """The closest by the graph, and by a scan of what came after it."""
        if probe.vector is None:
            return np.empty(0, np.int64)
        # Twice as many, since some may be gone from the book.
        near = _positions(self.seqs.array, graph.nearest(probe.vector, 2 * probe.depth))
        later = np.arange(self.seqs.array.searchsorted(graph.seq, side="right"), self.seqs.count)
        if admitted is not None:
            near, later = near[admitted[near]], later[admitted[later]]
        if len(near) < min(probe.depth, self.population):
            # Too many of the closest are gone from the book: only a scan tells what stands behind them.
            return self._by_meaning(probe, admitted)
        best = _best(self.vectors.scan(probe.vector, later), probe.depth)
        return np.concatenate([near, later[best]])

    def _by_words(self, probe: Probe, admitted: Mask | None, postings: list[Found], frequencies: Ints) -> Ints:
        scores = np.zeros(self.seqs.count, np.float32)
        rarity = weights(frequencies, self.population, common(probe.terms))
        for found, weight in zip(postings, rarity, strict=True):
            for documents, counts in found:
                damped = damping(self.lengths.array[documents])
                scores[documents] += weight * (counts * np.float32(K1 + 1) / (counts + damped))
        holders = scores > 0
        among = np.flatnonzero(holders if admitted is None else holders & admitted)
        return among[_best(scores[among], probe.depth)]


def _union(parts: list[Ints]) -> Ints:
    """The distinct numbers of some short lists, rising."""
    every = np.sort(np.concatenate(parts))
    first = np.ones(len(every), np.bool_)
    np.not_equal(every[1:], every[:-1], out=first[1:])
    return every[first]


def _best(scores: Floats, depth: int) -> npt.NDArray[np.intp]:
    """Positions of the `depth` highest scores, in no order; of equal ones, the first."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    lowest = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    better = np.flatnonzero(scores > lowest)
    return np.concatenate([better, np.flatnonzero(scores == lowest)[: depth - len(better)]])


def _counts(postings: list[Found], chosen: Ints, total: int) -> Counts:
    """How often each chosen document holds each term."""
    table = np.zeros((len(chosen), len(postings)), np.uint8)
    held = np.zeros(total, np.uint8)
    for column_, found in enumerate(postings):
        for documents, counts in found:
            held[documents] = counts
        table[:, column_] = held[chosen]
        for documents, _ in found:
            held[documents] = 0
    return table


class Mirrors:
    """The mirrors of one process: at most one state a space, the longest unused dropped beyond a budget."""

    def __init__(self, settings: Settings) -> None:
        self._budget = settings.mirror_bytes
        self._views: OrderedDict[int, View] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        # One more for each space, so that loading a large one does not hold up the others.
        self._space_locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)

    def view(self, tx: Tx, space: int, as_of: int | None, generation: int) -> View | None:
        """The index as it stands in the snapshot of `tx`; None if the mirror is already past that snapshot."""
        epoch, seq, dimension, found = map(int, tx.run(_STATE, {"space": space})[0])
        ensure_generation(found, generation)
        if as_of is not None:
            rows = tx.run(_TRACES_AS_OF, {"space": space, "as_of": as_of})
            return extended(empty(epoch, dimension, room=len(rows)), [rows], [], seq)
        with self._lock:
            space_lock = self._space_locks[space]
        with space_lock:
            view = self._used(space)
            if view is not None and view.epoch == epoch and view.seq == seq:
                return view
            if view is not None and (view.seq > seq or view.epoch > epoch):
                return None
            view = self._caught_up(tx, space, view, epoch, seq, dimension)
            self._keep(space, view)
            return view

    def _caught_up(self, tx: Tx, space: int, view: View | None, epoch: int, seq: int, dimension: int) -> View:
        if view is None or view.epoch != epoch:
            ((room,),) = tx.run(_COUNT, {"space": space})
            view = empty(epoch, dimension, room=room)
        since = {"space": space, "seq": view.seq}
        return extended(view, _batches(tx, space, view.seq), tx.run(_ENDED, since), seq)

    def _used(self, space: int) -> View | None:
        with self._lock:
            if space in self._views:
                self._views.move_to_end(space)
            return self._views.get(space)

    def _keep(self, space: int, view: View) -> None:
        with self._lock:
            before = self._views.get(space)
            self._bytes += view.nbytes - (before.nbytes if before else 0)
            self._views[space] = view
            self._views.move_to_end(space)
            while self._bytes > self._budget and len(self._views) > 1:
                _, dropped = self._views.popitem(last=False)
                self._bytes -= dropped.nbytes


def _batches(tx: Tx, space: int, seq: int) -> Iterator[list[Row]]:
    """The traces after a sequence number that still stand, in batches that do not swell the process."""
    while True:
        rows = tx.run(_TRACES, {"space": space, "seq": seq, "limit": _BATCH})
        if rows:
            yield rows
        if len(rows) < _BATCH:
            return
        seq = rows[-1][0]


def empty(epoch: int, dimension: int, *, room: int) -> View:
    """The view of a space that holds nothing, with room for some documents."""
    return View(
        epoch=epoch,
        seq=0,
        seqs=column(np.dtype(np.int64), room=room),
        heads=column(HEAD),
        lengths=column(np.dtype(np.float32), room=room),
        vectors=Vectors.empty(dimension, room=room),
        postings=Postings(),
        alive=np.empty(0, np.bool_),
        current=np.empty(0, np.bool_),
        population=0,
        expiring=False,
    )


def extended(view: View, added: Iterable[list[Row]], ended: list[Row], seq: int) -> View:
    """The view after these batches of traces were added and those sequence numbers ended."""
    tails: list[Tail] = []
    before = view.seqs.count
    for rows in added:
        tails.append(unpack([row[3] for row in rows], view.seqs.count))
        view = _with_rows(view, rows, tails[-1])
    if not tails and not ended:
        return replace(view, seq=seq)
    alive = np.ones(view.seqs.count, np.bool_)
    alive[:before] = view.alive
    alive[_positions(view.seqs.array, np.array([was for (was,) in ended], np.int64))] = False
    current = alive & (view.heads.array["closed"] == 0)
    return replace(
        view,
        seq=seq,
        postings=view.postings.extended(tails) if tails else view.postings,
        alive=alive,
        current=current,
        population=int(np.count_nonzero(current)),
    )


def _with_rows(view: View, rows: list[Row], tail: Tail) -> View:
    heads = np.frombuffer(b"".join([row[1] for row in rows]), HEAD)
    lengths = np.bincount(tail.documents - view.seqs.count, weights=tail.counts, minlength=len(rows))
    return replace(
        view,
        seqs=view.seqs.extended(np.fromiter((row[0] for row in rows), np.int64, len(rows))),
        heads=view.heads.extended(heads),
        lengths=view.lengths.extended(lengths.astype(np.float32)),
        vectors=view.vectors.extended([row[2] for row in rows]),
        expiring=view.expiring or bool((heads["expires"] != FOREVER).any()),
    )


def _positions(seqs: Ints, wanted: Ints) -> Ints:
    """Where the wanted sequence numbers stand; the ones that are not there are left out."""
    at = seqs.searchsorted(wanted)
    inside = at < len(seqs)
    at, wanted = at[inside], wanted[inside]
    found: Ints = at[seqs[at] == wanted]
    return found
