"""What search keeps in PostgreSQL: a trace with the vector of each version, and one posting for each word.

Postings are rows, not a GIN index: a GIN index keeps one list of a word for all spaces, so that a question in a
small space pays for the large ones, and row-level security forbids it to be asked at all. A posting holds all
that a score needs, so that words are counted and ranked from the primary key alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from commonplace.store.base import Indexed, Row
from commonplace.store.postgres.types import Half, Numbers
from commonplace.store.trace import session_of
from commonplace.text.terms import decode

if TYPE_CHECKING:
    from commonplace.store.postgres.transaction import Transaction

CURRENT, CLOSED, ENDED = 0, 1, 2
"""States of a trace: what recall sees, what a newer memory replaced, what a newer version replaced."""

_ADD = """INSERT INTO trace (space, seq, state, session, vector, terms)
    VALUES (:space, :seq, :state, :session, :vector, :terms)"""
_POST = """INSERT INTO posting (space, term, seq, count, length, current)
    SELECT :space, p.term, p.seq, p.count, p.length, p.state = 0
    FROM unnest(:terms, :seqs, :counts, :lengths, :states) AS p (term, seq, count, length, state)"""
_UNPOST = """DELETE FROM posting WHERE space = :space AND (term, seq) IN
    (SELECT p.term, p.seq FROM unnest(:terms, :seqs) AS p (term, seq))"""
_READ = "SELECT vector, terms FROM trace WHERE space = :space AND seq = :seq"
_READ_SOME = "SELECT seq, state, terms FROM trace WHERE space = :space AND seq = ANY(:seqs)"
_END = "UPDATE trace SET state = 2 WHERE space = :space AND seq = :seq"
_REMOVE = "DELETE FROM {table} WHERE space = :space AND seq = ANY(:seqs)"
_KEEP = """INSERT INTO reembedded (space, seq, vector, terms) VALUES (:space, :seq, :vector, :terms)
    ON CONFLICT DO NOTHING"""
_OTHER_WORDS = """SELECT t.space, t.seq, t.state, t.terms, r.terms FROM trace t JOIN reembedded r
    ON r.space = t.space AND r.seq = t.seq WHERE r.terms <> t.terms AND t.state < 2"""
_PUT = """UPDATE trace SET vector = r.vector, terms = r.terms FROM reembedded r
    WHERE r.space = trace.space AND r.seq = trace.seq"""


class PostgresIndex:
    """An Index that the server itself searches."""

    __slots__ = ("_tx",)

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def add(self, space: int, added: Sequence[Indexed]) -> None:
        self._tx.many(
            _ADD,
            [
                {
                    "space": space,
                    "seq": each.seq,
                    "state": CLOSED if each.closed else CURRENT,
                    "session": _signed(session_of(each.head)),
                    "vector": _half(each.vector),
                    "terms": each.terms,
                }
                for each in added
            ],
        )
        self._post(space, [(each.seq, CLOSED if each.closed else CURRENT, each.terms) for each in added])
        self._tx.population[space] += sum(not each.closed for each in added)

    def end(self, space: int, was: int, *, by: int) -> None:
        self._unpost(space, [was])
        self._tx.run(_END, {"space": space, "seq": was})

    def read(self, space: int, seq: int) -> tuple[bytes | None, bytes]:
        ((vector, terms),) = self._tx.run(_READ, {"space": space, "seq": seq})
        return vector, terms

    def remove(self, space: int, versions: Sequence[tuple[int, bool]]) -> None:
        seqs = [seq for seq, _ in versions]
        self._unpost(space, seqs)
        for table in ("trace", "reembedded"):
            self._tx.run(_REMOVE.format(table=table), {"space": space, "seqs": _integers(seqs)})

    def clear(self, space: int) -> None:
        for table in ("trace", "posting", "reembedded"):
            self._tx.run(f"DELETE FROM {table} WHERE space = :space", {"space": space})
        self._tx.run("UPDATE census SET population = 0 WHERE space = :space", {"space": space})
        self._tx.population[space] = 0

    def keep_reembedded(self, rows: Sequence[Row]) -> None:
        self._tx.many(
            _KEEP,
            [
                {"space": space, "seq": seq, "vector": _half(vector), "terms": terms}
                for seq, space, vector, terms in rows
            ],
        )

    def put_reembedded(self) -> None:
        from commonplace.store.postgres import graphs  # it needs transactions, which need this

        # Words are the same as before unless commonplace itself reads texts in a new way.
        for space, seq, state, old, new in self._tx.run(_OTHER_WORDS):
            self._drop_postings(space, [(seq, old)])
            self._post(space, [(seq, state, new)])
        graphs.drop_all(self._tx)
        self._tx.run(_PUT)

    def _post(self, space: int, documents: Sequence[tuple[int, int, bytes]]) -> None:
        if not documents:
            return
        columns = [_postings(seq, state, terms) for seq, state, terms in documents]
        flat = [np.concatenate(column) for column in zip(*columns, strict=True)]
        # In the order of the key, so that neighbours are written together.
        order = np.argsort(flat[0], kind="stable")
        terms, seqs, counts, lengths, states = (column[order] for column in flat)
        self._tx.run(
            _POST,
            {
                "space": space,
                "terms": Numbers(terms),
                "seqs": Numbers(seqs),
                "counts": Numbers(counts),
                "lengths": Numbers(lengths),
                "states": Numbers(states),
            },
        )

    def _unpost(self, space: int, seqs: Sequence[int]) -> None:
        """Drop the postings of these versions, which only their own words lead to."""
        found = self._tx.run(_READ_SOME, {"space": space, "seqs": _integers(seqs)})
        self._tx.population[space] -= sum(state == CURRENT for _, state, _ in found)
        self._drop_postings(space, [(seq, terms) for seq, state, terms in found if state != ENDED])

    def _drop_postings(self, space: int, documents: Sequence[tuple[int, bytes]]) -> None:
        if documents:
            held = [posted(terms)[0] for _, terms in documents]
            seqs = np.repeat(np.array([seq for seq, _ in documents], np.int64), list(map(len, held)))
            terms = Numbers(np.concatenate(held))
            self._tx.run(_UNPOST, {"space": space, "terms": terms, "seqs": Numbers(seqs)})


def posted(terms: bytes) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int16]]:
    """The terms of a version, each once, with their counts: zero for tags and speakers, which are only counted."""
    hashes, counts = decode(terms)
    # Words come first, so that one which is a label's number as well keeps its count.
    distinct, first = np.unique(hashes, return_index=True)
    return distinct.astype(np.uint32).view(np.int32), counts[first].astype(np.int16)


def _postings(seq: int, state: int, terms: bytes) -> tuple[np.ndarray[tuple[int], np.dtype[np.generic]], ...]:
    """Columns of the postings of one version."""
    hashes, counted = posted(terms)
    n, length = len(hashes), int(counted.sum(dtype=np.int64))
    return (
        hashes,
        np.full(n, seq, np.int64),
        counted,
        np.full(n, length, np.int32),
        np.full(n, state, np.int16),
    )


def _half(vector: bytes | None) -> Half | None:
    return None if vector is None else Half(vector)


def _signed(number: int) -> int:
    """A number of 32 bits as PostgreSQL keeps it: it has none without a sign."""
    return number - (1 << 32) if number >= 1 << 31 else number


def _integers(values: Sequence[int]) -> Numbers:
    return Numbers(np.array(values, np.int64))
