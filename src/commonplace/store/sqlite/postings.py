"""An inverted index in memory: which documents hold a term, and how often.

SQLite's FTS5 ranks with statistics of the whole table, so other spaces would leak into a score, and its
bm25() visits every document of every term: 12 ms for a question of five words over 100,000 memories where
this takes 0.4. The words are stored in the same transaction as the row; this is only their arrangement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint32]
Documents = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint8]

TAIL_LIMIT = 16_384
"""Unsorted postings are scanned up to this number (about 20 µs a term), then sorted into a segment."""
FAN = 4
"""A segment is merged with the ones after it when they hold together more than 1/FAN of its postings."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings sorted by term, immutable: `documents[starts[i]:starts[i + 1]]` hold `hashes[i]`."""

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


EMPTY_TAIL = Tail(np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8))


@dataclass(frozen=True, slots=True)
class Postings:
    """Immutable: `extended` returns a new one that shares the old segments."""

    segments: tuple[Segment, ...] = ()
    tail: Tail = EMPTY_TAIL

    def find(self, term: int) -> Iterator[tuple[Documents, Counts]]:
        """The documents that hold a term, in pieces; no document is in two pieces."""
        for part in self.parts:
            found = part.find(term)
            if found is not None:
                yield found

    def extended(self, added: list[Tail]) -> Postings:
        """With the postings of documents that are not in it yet."""
        tail = _concatenated([self.tail, *added])
        if len(tail.hashes) <= TAIL_LIMIT:
            return Postings(self.segments, tail)
        return Postings(_merged([*self.segments, _sorted(tail)]), EMPTY_TAIL)

    @property
    def parts(self) -> tuple[Segment | Tail, ...]:
        return (*self.segments, self.tail)

    @property
    def nbytes(self) -> int:
        return sum(part.hashes.nbytes + part.documents.nbytes + part.counts.nbytes for part in self.parts)


def unpack(blobs: Sequence[bytes], first: int) -> Tail:
    """Lay packed terms out as flat arrays, without a Python loop over the terms."""
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs)) // 5
    flat = np.frombuffer(b"".join(blobs), np.uint8)
    # A document's bytes are 4n of hashes and then n of counts: tell the two kinds of bytes apart.
    lengths = np.empty(2 * len(blobs), np.int64)
    lengths[0::2], lengths[1::2] = 4 * sizes, sizes
    is_hash = np.repeat(np.arange(len(lengths)) % 2 == 0, lengths)
    hashes = flat[is_hash].view("<u4")
    documents = np.repeat(np.arange(first, first + len(blobs), dtype=np.int32), sizes)
    return Tail(hashes, documents, flat[~is_hash])


def _concatenated(parts: list[Tail]) -> Tail:
    return Tail(
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def _sorted(tail: Tail) -> Segment:
    # Numbers of hash and position together sort several times faster than an index sort by hash alone.
    keyed = tail.hashes.astype(np.uint64) << np.uint64(32) | np.arange(len(tail.hashes), dtype=np.uint64)
    keyed.sort()
    order = (keyed & np.uint64(0xFFFFFFFF)).astype(np.int64)
    hashes = (keyed >> np.uint64(32)).astype(np.uint32)
    first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    starts = np.append(first, len(hashes))
    return Segment(hashes[first], starts, tail.documents[order], tail.counts[order])


def _merged(segments: list[Segment]) -> tuple[Segment, ...]:
    """Keep few segments: merge from the end while the newer ones weigh a fair part of the older."""
    while len(segments) > 1 and FAN * len(segments[-1].counts) > len(segments[-2].counts):
        newer, older = segments.pop(), segments.pop()
        segments.append(_sorted(_joined(older, newer)))
    return tuple(segments)


def _joined(older: Segment, newer: Segment) -> Tail:
    return _concatenated(
        [Tail(np.repeat(part.hashes, np.diff(part.starts)), part.documents, part.counts) for part in (older, newer)]
    )
