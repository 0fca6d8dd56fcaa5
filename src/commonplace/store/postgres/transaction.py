"""Transactions on a PostgreSQL book: how they begin, how statements are sent, and the search index that they write.

Each word of a memory is a row of `posting`. A GIN index would keep one list of a word for all spaces, so that searches
in small spaces pay for large ones, and row-level security forbids its use. A posting holds everything that a score
needs, so words are counted and ranked from the primary key alone.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from commonplace.errors import StoreError
from commonplace.settings import Settings
from commonplace.store.base import Indexed, Params, Reembedded, Row
from commonplace.store.postgres.address import DatabaseAddress
from commonplace.store.postgres.wire import Half, Numbers, PendingRows, VectorTypes, Wire
from commonplace.store.row import session_of
from commonplace.store.where import PostgresSyntax
from commonplace.text.terms import decode

SYNTAX = PostgresSyntax()
EVERY_SPACE = -1
"""The value of `commonplace.space` in a transaction that may touch all spaces: reindex, check, copy."""
GONE = "this book's space no longer exists, for example after a restore or a failover: open the book again"

_ROWS = 40
"""Rows of one INSERT: each statement has a fixed cost."""
_LARGE = 8_000_000
_TAKEN = "SELECT coalesce((SELECT last FROM census WHERE space = :space), 0)"
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_GIVES_ROWS = re.compile(r"\s*(SELECT|WITH|SHOW|EXPLAIN)\b|.*\bRETURNING\b", re.IGNORECASE | re.DOTALL)

CURRENT, CLOSED, ENDED = 0, 1, 2
"""States of a trace: visible to recall, superseded by a newer memory, replaced by a newer version."""

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
_GRAPHS = """SELECT c.relname FROM pg_class c WHERE c.relnamespace = CAST(current_schema() AS regnamespace)
    AND c.relkind = 'i' AND c.relname LIKE 'graph\\_%'"""


class ParsedStatement(NamedTuple):
    """A statement with numbered parameters."""

    text: bytes
    names: tuple[str, ...]
    """The names of $1, $2, …"""
    gives_rows: bool


@lru_cache(maxsize=4096)
def parse_statement(sql: str) -> ParsedStatement:
    """Replace :name by $1, $2, …, the same number for the same name."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    text = _PARAMETER.sub(number, sql)
    return ParsedStatement(text.encode(), tuple(names), _GIVES_ROWS.match(sql) is not None)


@lru_cache(maxsize=64)
def _repeat_row(sql: str) -> str:
    """Return an INSERT of many rows, whose parameter names end with the number of their row."""
    before, row, after = re.split(r"(?<=VALUES )(\(.*?\))", sql, maxsplit=1, flags=re.DOTALL)
    return before + ", ".join(_PARAMETER.sub(rf":\1_{i}", row) for i in range(_ROWS)) + after


class Transaction:
    """A Tx and its SearchIndex, which the server itself searches; the owner begins and ends it."""

    __slots__ = ("_wire", "index", "last", "population", "syntax")

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.syntax = SYNTAX
        self.population: Counter[int] = Counter()
        """Change of the number of current memories in each space."""
        self.index = self
        self.last: dict[int, int] = {}
        """Last sequence number taken in each space."""

    def run(self, sql: str, params: Params | Mapping[str, object] | None = None) -> list[Row]:
        answer = self.send(sql, params)
        # A statement without rows is not waited for: its error is raised with the next answer.
        return answer.fetchall() if parse_statement(sql).gives_rows else []

    def send(self, sql: str, params: Mapping[str, object] | None = None) -> PendingRows:
        """Send one statement without waiting for its answer."""
        text, names, _ = parse_statement(sql)
        return self._wire.send(text, [params[name] for name in names] if params else None)

    def many(self, sql: str, params: Iterable[Params | Mapping[str, object]]) -> None:
        rows = list(params)
        while len(rows) >= _ROWS and sql.startswith("INSERT"):
            some, rows = rows[:_ROWS], rows[_ROWS:]
            size = sum(len(value) for row in some for value in row.values() if isinstance(value, (str, bytes)))
            if size > _LARGE:  # the protocol limits the size of a message
                self._each(sql, some)
                continue
            self.send(_repeat_row(sql), {f"{name}_{i}": row[name] for i, row in enumerate(some) for name in row})
        self._each(sql, rows)

    def _each(self, sql: str, rows: Iterable[Params | Mapping[str, object]]) -> None:
        for row in rows:
            self.send(sql, row)

    def take(self, space: int, count: int) -> int:
        # Writers of a space take turns, so its numbers follow the order of its commits. Each space counts for itself.
        if space not in self.last:
            ((self.last[space],),) = self.run(_TAKEN, {"space": space})
        first = self.last[space] + 1
        self.last[space] += count
        self.population[space] += 0  # so that the last number is stored
        return first

    def add(self, space: int, added: Sequence[Indexed]) -> None:
        states = [CLOSED if each.closed else CURRENT for each in added]
        self.many(
            _ADD,
            [
                {
                    "space": space, "seq": each.seq, "state": state, "session": _signed(session_of(each.head)),
                    "vector": _half(each.vector), "terms": each.terms,
                }
                for each, state in zip(added, states, strict=True)
            ],
        )  # fmt: skip
        self._post(space, [(each.seq, state, each.terms) for each, state in zip(added, states, strict=True)])
        self.population[space] += sum(not each.closed for each in added)

    def end(self, space: int, was: int, *, by: int) -> None:
        self._unpost(space, [was])
        self.run(_END, {"space": space, "seq": was})

    def read(self, space: int, seq: int) -> tuple[bytes | None, bytes]:
        ((vector, terms),) = self.run(_READ, {"space": space, "seq": seq})
        return vector, terms

    def remove(self, space: int, versions: Sequence[tuple[int, bool]]) -> None:
        seqs = [seq for seq, _ in versions]
        self._unpost(space, seqs)
        for table in ("trace", "reembedded"):
            self.run(_REMOVE.format(table=table), {"space": space, "seqs": _integers(seqs)})

    def clear(self, space: int) -> None:
        for table in ("trace", "posting", "reembedded"):
            self.run(f"DELETE FROM {table} WHERE space = :space", {"space": space})
        self.run("UPDATE census SET population = 0 WHERE space = :space", {"space": space})
        self.population[space] = 0

    def keep_reembedded(self, rows: Sequence[Reembedded]) -> None:
        self.many(_KEEP, [{**row._asdict(), "vector": _half(row.vector)} for row in rows])

    def put_reembedded(self) -> None:
        # Words change only when commonplace itself reads texts in a new way.
        for space, seq, state, old, new in self.run(_OTHER_WORDS):
            self._remove_postings(space, [(seq, old)])
            self._post(space, [(seq, state, new)])
        # Graphs hold vectors of the old length.
        for (name,) in self.run(_GRAPHS):
            self.run(f"DROP INDEX {name}")
        self.run(_PUT)

    def _post(self, space: int, documents: Sequence[tuple[int, int, bytes]]) -> None:
        if not documents:
            return
        columns = [_postings(seq, state, terms) for seq, state, terms in documents]
        flat = [np.concatenate(column) for column in zip(*columns, strict=True)]
        # In key order, so that neighbours are written together.
        order = np.argsort(flat[0], kind="stable")
        names = ("terms", "seqs", "counts", "lengths", "states")
        self.run(_POST, {"space": space} | {name: Numbers(each[order]) for name, each in zip(names, flat, strict=True)})

    def _unpost(self, space: int, seqs: Sequence[int]) -> None:
        """Remove the postings of these versions, found by their words."""
        found = self.run(_READ_SOME, {"space": space, "seqs": _integers(seqs)})
        self.population[space] -= sum(state == CURRENT for _, state, _ in found)
        self._remove_postings(space, [(seq, terms) for seq, state, terms in found if state != ENDED])

    def _remove_postings(self, space: int, documents: Sequence[tuple[int, bytes]]) -> None:
        if documents:
            held = [unpack_postings(terms)[0] for _, terms in documents]
            seqs = np.repeat(np.array([seq for seq, _ in documents], np.int64), list(map(len, held)))
            terms = Numbers(np.concatenate(held))
            self.run(_UNPOST, {"space": space, "terms": terms, "seqs": Numbers(seqs)})


def unpack_postings(terms: bytes) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int16]]:
    """Return the distinct terms of a version with their counts: zero for tags and speakers."""
    hashes, counts = decode(terms)
    # Words come first, so a word with the same hash as a label keeps its count.
    distinct, first = np.unique(hashes, return_index=True)
    return distinct.astype(np.uint32).view(np.int32), counts[first].astype(np.int16)


def _postings(seq: int, state: int, terms: bytes) -> tuple[np.ndarray[tuple[int], np.dtype[np.generic]], ...]:
    """Return the columns of a version's postings."""
    hashes, counted = unpack_postings(terms)
    n, length = len(hashes), int(counted.sum(dtype=np.int64))
    return hashes, np.full(n, seq, np.int64), counted, np.full(n, length, np.int32), np.full(n, state, np.int16)


def _half(vector: bytes | None) -> Half | None:
    return None if vector is None else Half(vector)


def _signed(number: int) -> int:
    """Return an unsigned 32-bit number as a signed one: PostgreSQL has only those."""
    return number - (1 << 32) if number >= 1 << 31 else number


def _integers(values: Sequence[int]) -> Numbers:
    return Numbers(np.array(values, np.int64))


# -- beginning -----------------------------------------------------------------------------------------

# Statements are planned once for all spaces: planning takes as long as running. They are too short to be compiled or
# run in parallel.
_SETTINGS = """SELECT set_config('search_path', :path, TRUE), set_config('commonplace.space', :space, TRUE),
    set_config('statement_timeout', :statement, TRUE), set_config('lock_timeout', :lock, TRUE),
    set_config('jit', 'off', TRUE), set_config('max_parallel_workers_per_gather', '0', TRUE),
    set_config('plan_cache_mode', 'force_generic_plan', TRUE), set_config('enable_seqscan', :scan, TRUE)"""
# A statement of its own, so that the time-outs above apply to it and the next one sees the state after the wait.
_TURN = """SELECT pg_advisory_xact_lock_shared(CAST(:book AS integer), -1),
    pg_advisory_xact_lock(CAST(:book AS integer), CAST(:space AS integer))"""
_WHOLE_TURN = "SELECT pg_advisory_xact_lock(CAST(:book AS integer), -1)"
# The transaction's number, whether the space still exists, and its last sequence number.
_BEGUN = """SELECT CAST(pg_current_xact_id() AS text),
    CAST(:space AS integer) < 1 OR EXISTS (SELECT 1 FROM space WHERE number = CAST(:space AS integer)),
    coalesce((SELECT last FROM census WHERE space = CAST(:space AS integer)), 0)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The first statements of every transaction on a book.

    Search path, row-level security and time-outs are set for one transaction, so that a pooler may give the connection
    to anybody afterwards.
    """

    path: str
    statement: str
    lock: str
    book: int
    """First key of the book's advisory locks."""

    def begin_reading(self, tx: Transaction, space: int | None) -> None:
        """Begin a read-only snapshot of a space, or of all spaces with None."""
        tx.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        tx.send(_SETTINGS, self._params(space))

    def begin_writing(self, tx: Transaction, space: int | None) -> str:
        """Begin a write when it is its turn, and return the transaction's number."""
        tx.send("BEGIN")
        params = self._params(space)
        tx.send(_SETTINGS, params)
        tx.send(_WHOLE_TURN if space is None else _TURN, params)
        ((number, there, last),) = tx.run(_BEGUN, params)
        if not there:
            raise StoreError(GONE)
        if space is not None:
            tx.last[space] = last
        return str(number)

    def _params(self, space: int | None) -> dict[str, object]:
        return {
            "path": self.path,
            "space": str(EVERY_SPACE if space is None else space),
            # Every key begins with the space: no statement on one space needs a sequential scan.
            "scan": "on" if space is None else "off",
            # Work on the whole book may take long.
            "statement": self.statement if space is not None else "0",
            "lock": self.lock,
            "book": self.book,
        }


def make_beginning(address: DatabaseAddress, settings: Settings, types: VectorTypes) -> Beginning:
    """Return the first statements of a book's transactions."""
    return Beginning(
        path=f"{address.quoted}, {types.schema}",
        statement=_milliseconds(settings.statement_timeout),
        lock=_milliseconds(settings.busy_timeout),
        book=zlib.crc32(address.schema.encode()) - (1 << 31),
    )


def _milliseconds(seconds: float) -> str:
    """Return a time-out for the server: at least 1, since 0 means none, and no more than it can count."""
    return str(min(max(int(1000 * seconds), 1), 2**31 - 1))
