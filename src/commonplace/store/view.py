"""A space's search index in memory: vectors, posting lists, and a search over both.

Every state of a view is immutable, so threads can search while another one brings the index up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import simsimd

from commonplace.store.base import REACH, Candidates, Probe, Row
from commonplace.store.row import FOREVER, HEAD
from commonplace.text.terms import are_common
from commonplace.values.arrays import Bools, Floats, Ints

S = TypeVar("S", bound=np.generic)
Hashes = npt.NDArray[np.uint32]
Documents = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint8]
Holders = list[tuple[Documents, Counts]]
"""The documents that hold a term, in pieces; no document is in two pieces."""

# -- word weights --------------------------------------------------------------------------------------

K1 = 0.4
"""How slowly repetition of a word saturates: memories are short, so one mention is nearly enough."""
B = 1.0
"""Share of the damping that grows with length."""
PIVOT = 20.0
"""Texts of up to this many informative words are not damped. BM25 usually compares with the average length, which
rewards terse texts in a book of chat and means nothing in a book of one memory."""
_PRIOR = 50.0
"""A space counts as if it held this many more memories: it is a small sample of what its owner writes."""
_PRIOR_COMMON = 5.0
"""Number of those assumed to hold each common word."""


def weigh_terms(frequencies: Ints, population: int, common: Bools | None = None) -> Floats:
    """Weigh each word by its rarity; always above zero, also in a space of one memory."""
    found = np.minimum(frequencies, population).astype(np.float32)
    if common is not None:
        found += np.float32(_PRIOR_COMMON) * common.astype(np.float32)
    rarity: Floats = np.log1p((population + _PRIOR - found + 0.5) / (found + 0.5)).astype(np.float32)
    return rarity


def damping(lengths: Floats) -> Floats:
    """Return BM25's length term for texts of these lengths."""
    relative = np.maximum(lengths, PIVOT) / PIVOT
    damped: Floats = (K1 * (1.0 - B + B * relative)).astype(np.float32)
    return damped


# -- vectors -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GrowingArray(Generic[S]):
    """A growing array whose earlier states stay valid: growth writes only beyond their end.

    Only the newest state may be extended, by one thread at a time.
    """

    buffer: npt.NDArray[S]
    count: int = 0

    @classmethod
    def empty(cls, dtype: np.dtype[S], width: int | None = None, *, room: int = 0) -> GrowingArray[S]:
        return cls(np.empty((room,) if width is None else (room, width), dtype))

    @property
    def array(self) -> npt.NDArray[S]:
        return self.buffer[: self.count]

    def extend(self, rows: npt.NDArray[S]) -> GrowingArray[S]:
        """Return the column with these rows at its end."""
        total = self.count + len(rows)
        buffer = self.buffer
        if total > len(buffer):
            buffer = np.empty((max(total, len(buffer) * 3 // 2, 64), *buffer.shape[1:]), buffer.dtype)
            buffer[: self.count] = self.array
        buffer[self.count : total] = rows
        return GrowingArray(buffer, total)


@dataclass(frozen=True, slots=True)
class Vectors:
    """A space's vectors by document number; a document without a vector has zeros.

    A scan of the int8 codes takes a quarter of the time of one over float32 and errs by about a thousandth of a
    cosine. The candidates that it finds are scored again with the stored float16 vectors.
    """

    codes: GrowingArray[np.int8]
    halves: GrowingArray[np.float16]

    @classmethod
    def empty(cls, dimension: int, *, room: int) -> Vectors:
        codes, halves = np.dtype(np.int8), np.dtype(np.float16)
        return cls(GrowingArray.empty(codes, dimension, room=room), GrowingArray.empty(halves, dimension, room=room))

    def extend(self, blobs: Sequence[bytes | None]) -> Vectors:
        dimension = self.halves.buffer.shape[1]
        zeros = bytes(2 * dimension)
        flat = np.frombuffer(b"".join([blob or zeros for blob in blobs]), "<f2")
        rows = flat.reshape(len(blobs), dimension)
        return Vectors(self.codes.extend(_codes(dimension)[rows.view(np.uint16)]), self.halves.extend(rows))

    def scan(self, query: Floats, among: Ints | None) -> Floats:
        """Return the approximate cosine of the query with every document, or with those `among`."""
        codes = self.codes.array if among is None else self.codes.array[among]
        if not len(codes):
            return np.empty(0, np.float32)
        coded = _codes(len(query))[query.astype(np.float16).view(np.uint16)]
        dots = np.asarray(simsimd.dot(coded, codes))
        return dots.reshape(-1).astype(np.float32)

    def cosines(self, documents: Ints, query: Floats | None) -> Floats:
        """Return the exact cosine of the query with these documents."""
        if query is None:
            return np.zeros(len(documents), np.float32)
        # Not by BLAS: its threads wait for one another when the cores are busy.
        found: Floats = np.einsum("ij,j->i", self.rows(documents), query)
        return found

    def rows(self, documents: Ints) -> Floats:
        return self.halves.array[documents].astype(np.float32)

    @property
    def nbytes(self) -> int:
        return self.codes.buffer.nbytes + self.halves.buffer.nbytes


@lru_cache
def _codes(dimension: int) -> npt.NDArray[np.int8]:
    """Return the int8 code of every float16, by its bits; with one scale for all, dots of codes rank like cosines.

    A table, because numpy converts float16 slowly: reading 100,000 vectors takes 30 ms this way and 700 ms by
    arithmetic.
    """
    # Components of a unit vector spread by 1/sqrt(d); eight times that covers all but rare outliers.
    limit = min(1.0, 8 / dimension**0.5)
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    bounded = np.clip(np.nan_to_num(every, nan=0.0), -limit, limit)
    codes: npt.NDArray[np.int8] = np.rint(bounded * (127 / limit)).astype(np.int8)
    return codes


# -- posting lists -------------------------------------------------------------------------------------

TAIL_LIMIT = 16_384
"""Up to this many unsorted postings are scanned (about 20 µs a term), then sorted into a run."""
FAN = 4
"""A run is merged with the later ones when they hold together more than 1/FAN of its postings."""


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Postings sorted by term: `documents[starts[i]:starts[i + 1]]` hold `hashes[i]`."""

    hashes: Hashes
    starts: npt.NDArray[np.int64]
    documents: Documents
    counts: Counts

    def find(self, term: int) -> tuple[Documents, Counts] | None:
        at = int(self.hashes.searchsorted(np.uint32(term)))
        if at == len(self.hashes) or self.hashes[at] != term:
            return None
        here = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.documents[here], self.counts[here]


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest postings, in the order of their documents."""

    hashes: Hashes
    documents: Documents
    counts: Counts

    def find(self, term: int) -> tuple[Documents, Counts] | None:
        at = np.flatnonzero(self.hashes == np.uint32(term))
        return (self.documents[at], self.counts[at]) if len(at) else None


_EMPTY_TAIL = Tail(np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8))


@dataclass(frozen=True, slots=True)
class Postings:
    """Which documents hold a term, and how often. Immutable: `extend` returns a new one that shares the old runs.

    SQLite's FTS5 ranks with statistics of the whole table, so other spaces would leak into a score, and its bm25()
    visits every document of every term: 12 ms for a question of five words over 100,000 memories, here 0.4 ms.
    """

    runs: tuple[SortedRun, ...] = ()
    tail: Tail = _EMPTY_TAIL

    def find(self, term: int) -> Holders:
        return [found for part in self.parts if (found := part.find(term)) is not None]

    def extend(self, added: Sequence[Tail]) -> Postings:
        """Return these postings with those of new documents."""
        tail = _concatenate([self.tail, *added])
        if len(tail.hashes) <= TAIL_LIMIT:
            return Postings(self.runs, tail)
        return Postings(_merge([*self.runs, _sort(tail)]), _EMPTY_TAIL)

    @property
    def parts(self) -> tuple[SortedRun | Tail, ...]:
        return (*self.runs, self.tail)

    @property
    def nbytes(self) -> int:
        return sum(part.hashes.nbytes + part.documents.nbytes + part.counts.nbytes for part in self.parts)


def unpack_terms(blobs: Sequence[bytes], first: int) -> Tail:
    """Lay packed terms out as flat arrays, without a Python loop over the terms."""
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs)) // 5
    flat = np.frombuffer(b"".join(blobs), np.uint8)
    # A document is 4n bytes of hashes followed by n bytes of counts.
    lengths = np.empty(2 * len(blobs), np.int64)
    lengths[0::2], lengths[1::2] = 4 * sizes, sizes
    is_hash = np.repeat(np.arange(len(lengths)) % 2 == 0, lengths)
    hashes = flat[is_hash].view("<u4")
    documents = np.repeat(np.arange(first, first + len(blobs), dtype=np.int32), sizes)
    return Tail(hashes, documents, flat[~is_hash])


def _concatenate(parts: list[Tail]) -> Tail:
    return Tail(
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def _sort(tail: Tail) -> SortedRun:
    # Hash and position in one number sort several times faster than an index sort by hash alone.
    keyed = tail.hashes.astype(np.uint64) << np.uint64(32) | np.arange(len(tail.hashes), dtype=np.uint64)
    keyed.sort()
    order = (keyed & np.uint64(0xFFFFFFFF)).astype(np.int64)
    hashes = (keyed >> np.uint64(32)).astype(np.uint32)
    first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    starts = np.append(first, len(hashes))
    return SortedRun(hashes[first], starts, tail.documents[order], tail.counts[order])


def _merge(runs: list[SortedRun]) -> tuple[SortedRun, ...]:
    """Keep few runs: merge from the end while the newer ones are a fair part of the older."""
    while len(runs) > 1 and FAN * len(runs[-1].counts) > len(runs[-2].counts):
        pair = runs[-2:]
        flat = [Tail(np.repeat(part.hashes, np.diff(part.starts)), part.documents, part.counts) for part in pair]
        runs[-2:] = [_sort(_concatenate(flat))]
    return tuple(runs)


# -- search --------------------------------------------------------------------------------------------


class Graph(Protocol):
    """An approximate index over the vectors up to a sequence number."""

    @property
    def seq(self) -> int: ...

    def nearest(self, query: Floats, count: int) -> Ints: ...


@dataclass(frozen=True, slots=True)
class View:
    """One state of a space's index. Documents are numbered in the order of their sequence numbers."""

    epoch: int
    seq: int
    """Every change up to this number is in the view."""
    seqs: GrowingArray[np.int64]
    heads: GrowingArray[np.void]
    lengths: GrowingArray[np.float32]
    vectors: Vectors
    postings: Postings
    alive: Bools
    current: Bools
    """Alive and not superseded; word statistics count only these."""
    population: int
    expiring: bool
    """Whether any document has a time to live."""

    @classmethod
    def empty(cls, epoch: int, dimension: int, *, room: int) -> View:
        """Return the view of an empty space, with room for some documents."""
        return cls(
            epoch=epoch,
            seq=0,
            seqs=GrowingArray.empty(np.dtype(np.int64), room=room),
            heads=GrowingArray.empty(HEAD),
            lengths=GrowingArray.empty(np.dtype(np.float32), room=room),
            vectors=Vectors.empty(dimension, room=room),
            postings=Postings(),
            alive=np.empty(0, np.bool_),
            current=np.empty(0, np.bool_),
            population=0,
            expiring=False,
        )

    def add(self, rows: Sequence[Row]) -> tuple[View, Tail]:
        """Add traces: sequence number, head, vector, terms. `settle` completes the view after the last ones."""
        tail = unpack_terms([row[3] for row in rows], self.seqs.count)
        heads = np.frombuffer(b"".join([row[1] for row in rows]), HEAD)
        lengths = np.bincount(tail.documents - self.seqs.count, weights=tail.counts, minlength=len(rows))
        added = replace(
            self,
            seqs=self.seqs.extend(np.fromiter((row[0] for row in rows), np.int64, len(rows))),
            heads=self.heads.extend(heads),
            lengths=self.lengths.extend(lengths.astype(np.float32)),
            vectors=self.vectors.extend([row[2] for row in rows]),
            expiring=self.expiring or bool((heads["expires"] != FOREVER).any()),
        )
        return added, tail

    def settle(self, tails: Sequence[Tail], ended: Sequence[int], seq: int) -> View:
        """Return the view at `seq`: with the postings of what was added, without the versions that ended."""
        if not tails and not ended:
            return replace(self, seq=seq)
        alive = np.ones(self.seqs.count, np.bool_)
        alive[: len(self.alive)] = self.alive
        alive[_positions(self.seqs.array, np.array(ended, np.int64))] = False
        current = alive & (self.heads.array["closed"] == 0)
        return replace(
            self,
            seq=seq,
            postings=self.postings.extend(tails) if tails else self.postings,
            alive=alive,
            current=current,
            population=int(np.count_nonzero(current)),
        )

    def search(self, probe: Probe, allowed: Ints | None, graph: Graph | None = None) -> Candidates:
        """Return the best by meaning and the best by words among the documents that the probe admits.

        A `graph` finds the nearest vectors of a large space. A narrowed search scans instead: exact, and cheaper.
        """
        postings = [self.postings.find(term) for term in probe.terms]
        frequencies = self._count(postings)
        admitted = self._admitted(probe, allowed)
        wide = not (probe.kinds or probe.within or probe.labels or allowed is not None)
        nearest = self._by_graph(probe, admitted, graph) if graph and wide else self._by_meaning(probe, admitted)
        best = _union([nearest, self._by_words(probe, admitted, postings, frequencies)])
        chosen = self._with_neighbours(best, admitted)
        return Candidates(
            seqs=self.seqs.array[chosen],
            cosines=self.vectors.cosines(chosen, probe.vector),
            counts=_count_terms(postings, chosen, self.seqs.count),
            lengths=self.lengths.array[chosen],
            frequencies=frequencies,
            population=self.population,
            searched=self.population if admitted is None else int(np.count_nonzero(admitted)),
            sessions=self.heads.array["session"][chosen].astype(np.int64),
        )

    def frequencies(self, terms: Sequence[int]) -> Ints:
        """Return the number of current documents that hold each term."""
        return self._count([self.postings.find(term) for term in terms])

    def rows(self, seqs: Ints) -> Floats:
        """Return the vectors of these documents."""
        return self.vectors.rows(self.seqs.array.searchsorted(seqs))

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.postings.nbytes + 50 * self.seqs.count

    def _count(self, postings: list[Holders]) -> Ints:
        counted = [sum(int(np.count_nonzero(self.current[d])) for d, _ in found) for found in postings]
        return np.array(counted, np.int64)

    def _admitted(self, probe: Probe, allowed: Ints | None) -> Bools | None:
        """Return which documents may be candidates; None for all, the common case."""
        mask = self.alive if probe.superseded else self.current
        heads = self.heads.array
        if self.expiring:
            mask = mask & (heads["expires"] > probe.now)
        if probe.kinds:
            mask = mask & np.isin(heads["kind"], probe.kinds)
        for part, names in probe.within:
            mask = mask & np.isin(heads[part], names)
        for label in probe.labels:
            mask = mask & self._mark(*(documents for documents, _ in self.postings.find(label)))
        if allowed is not None:
            mask = mask & self._mark(_positions(self.seqs.array, allowed))
        return None if mask.all() else mask

    def _mark(self, *pieces: Documents | Ints) -> Bools:
        marked = np.zeros(self.seqs.count, np.bool_)
        for documents in pieces:
            marked[documents] = True
        return marked

    def _with_neighbours(self, best: Ints, admitted: Bools | None) -> Ints:
        """Return these documents and those just before and after them in their sessions."""
        sessions = self.heads.array["session"]
        if not len(best) or not sessions[best].any():
            return best
        best_sessions, found = sessions[best], [best]
        # Ended documents do not count as neighbours: how long they stay in the view depends on when it was loaded.
        standing = np.flatnonzero(self.alive)
        places = standing.searchsorted(best)
        for step in (*range(-REACH, 0), *range(1, REACH + 1)):
            near = standing[np.clip(places + step, 0, len(standing) - 1)]
            there = (sessions[near] == best_sessions) & (best_sessions != 0)
            found.append(near[there & self.current[near] if admitted is None else there & admitted[near]])
        return _union(found)

    def _by_meaning(self, probe: Probe, admitted: Bools | None) -> Ints:
        if probe.vector is None:
            return np.empty(0, np.int64)
        among = None if admitted is None else np.flatnonzero(admitted)
        # The scan is approximate: take some more than needed and let the stored vectors decide.
        best = np.sort(_best(self.vectors.scan(probe.vector, among), probe.depth + probe.depth // 4))
        near = best if among is None else among[best]
        if len(near) <= probe.depth:
            return near
        halved = probe.vector.astype(np.float16).astype(np.float32)
        return near[_best(self.vectors.cosines(near, halved), probe.depth)]

    def _by_graph(self, probe: Probe, admitted: Bools | None, graph: Graph) -> Ints:
        """Return the nearest by the graph, and by a scan of later documents."""
        if probe.vector is None:
            return np.empty(0, np.int64)
        # Twice as many, since some may have been forgotten.
        near = _positions(self.seqs.array, graph.nearest(probe.vector, 2 * probe.depth))
        later = np.arange(self.seqs.array.searchsorted(graph.seq, side="right"), self.seqs.count)
        if admitted is not None:
            near, later = near[admitted[near]], later[admitted[later]]
        if len(near) < min(probe.depth, self.population):
            # Too many of the nearest have been forgotten: only a scan finds the next ones.
            return self._by_meaning(probe, admitted)
        best = _best(self.vectors.scan(probe.vector, later), probe.depth)
        return np.concatenate([near, later[best]])

    def _by_words(self, probe: Probe, admitted: Bools | None, postings: list[Holders], frequencies: Ints) -> Ints:
        scores = np.zeros(self.seqs.count, np.float32)
        rarity = weigh_terms(frequencies, self.population, are_common(probe.terms))
        for found, weight in zip(postings, rarity, strict=True):
            for documents, counts in found:
                damped = damping(self.lengths.array[documents])
                scores[documents] += weight * (counts * np.float32(K1 + 1) / (counts + damped))
        holders = scores > 0
        among = np.flatnonzero(holders if admitted is None else holders & admitted)
        return among[_best(scores[among], probe.depth)]


def _union(parts: list[Ints]) -> Ints:
    """Return the distinct numbers of some short lists, ascending."""
    every = np.sort(np.concatenate(parts))
    first = np.ones(len(every), np.bool_)
    np.not_equal(every[1:], every[:-1], out=first[1:])
    return every[first]


def _best(scores: Floats, depth: int) -> npt.NDArray[np.intp]:
    """Return the positions of the `depth` highest scores, unordered; of equal scores, the first."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    lowest = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    better = np.flatnonzero(scores > lowest)
    return np.concatenate([better, np.flatnonzero(scores == lowest)[: depth - len(better)]])


def _count_terms(postings: list[Holders], chosen: Ints, total: int) -> Counts:
    """Return how often each chosen document holds each term."""
    table = np.zeros((len(chosen), len(postings)), np.uint8)
    held = np.zeros(total, np.uint8)
    for column, found in enumerate(postings):
        for documents, counts in found:
            held[documents] = counts
        table[:, column] = held[chosen]
        for documents, _ in found:
            held[documents] = 0
    return table


def _positions(seqs: Ints, wanted: Ints) -> Ints:
    """Return where the wanted sequence numbers are; missing ones are left out."""
    at = seqs.searchsorted(wanted)
    inside = at < len(seqs)
    at, wanted = at[inside], wanted[inside]
    found: Ints = at[seqs[at] == wanted]
    return found
