"""Whole records on their way from one store to another: read in pages, put in place in batches, removed by key.

Standard SQL only, so that every engine can be either end. Sequence numbers are an engine's own: they are
given anew and count for nothing when two records are compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby
from typing import Protocol

from commonplace.errors import Conflict
from commonplace.store import trace
from commonplace.store.base import Indexed, Params, Row, Tx
from commonplace.store.row import MemoryRow
from commonplace.store.tables import links, memories

MOST_ROWS = 500
MOST_BYTES = 16_000_000
"""A page ends with the record that reaches this: contents of 32 MB must not fill the memory by the hundred."""

_ENDED_AT = memories._NAMES.index("ended_at")
# The bound above keeps an engine from adding up everything that follows before it takes the first few.
_SIZES = """SELECT sum(octet_length(text) + coalesce(octet_length(content), 0)), count(*), id FROM memory
    WHERE space = :space AND id > :after AND id <= (SELECT max(n.id) FROM (SELECT DISTINCT id FROM memory
    WHERE space = :space AND id > :after ORDER BY id LIMIT :limit) n) GROUP BY id ORDER BY id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing that is moved whole; equal fingerprints mean equal to the bit."""

    key: Row
    rows: tuple[Row, ...]
    vectors: tuple[bytes | None, ...] = ()
    """One for each version of a memory; none at all if one has lost what search keeps of it."""
    terms: tuple[bytes, ...] = ()
    """The words of each version, once the record is ready to be written."""
    fingerprint: int


class Shelf(Protocol):
    """One kind of record in a space."""

    @property
    def name(self) -> str: ...

    @property
    def start(self) -> Row:
        """A key before every other."""

    def count(self, tx: Tx, space: int) -> int: ...

    def page(self, tx: Tx, space: int, after: Row) -> list[Record]:
        """The next records by key, in the engine's own order; none after the last."""

    def ready(self, records: Sequence[Record]) -> list[Record]:
        """The records with all that writing them takes: the slow part, done before a transaction is open."""

    def put(
        self, tx: Tx, space: int, new: Sequence[Record], changed: Sequence[Record], *, overwrite: bool
    ) -> list[Record]:
        """Put ready records in place and return those that are further on here and were left alone.

        Conflict if something else has a record's key, unless it may be overwritten.
        """

    def remove(self, tx: Tx, space: int, keys: Sequence[Row]) -> None: ...


def fingerprint(values: object, blobs: Iterable[bytes | None] = ()) -> int:
    """128 bits over plain values, and over bytes that would be costly to spell out."""
    found = blake2b(repr(values).encode(), digest_size=16)
    for blob in blobs:
        found.update(b"-" if blob is None else b"%d:" % len(blob))
        found.update(blob or b"")
    return int.from_bytes(found.digest(), "big")


def _fitting(sizes: Iterable[Row]) -> int:
    """How many records make a page."""
    count = total = 0
    for size, *_ in sizes:
        count, total = count + 1, total + int(size or 0)
        if total >= MOST_BYTES:
            break
    return count


def _among(tx: Tx, column: str, space: int, names: Sequence[str]) -> tuple[str, Params]:
    """A condition on a space and a list of texts, with its parameters."""
    params: Params = {"space": space, "names": json.dumps(list(names))}
    return f"space = :space AND {tx.dialect.among(column, ':names', 'text')}", params


# -- memories ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Memories:
    """Memories, each with all of its versions and vectors."""

    name: str = "memories"
    start: Row = ("",)

    def count(self, tx: Tx, space: int) -> int:
        return int(tx.run("SELECT count(DISTINCT id) FROM memory WHERE space = :space", {"space": space})[0][0])

    def page(self, tx: Tx, space: int, after: Row) -> list[Record]:
        (last,) = after
        sizes = tx.run(_SIZES, {"space": space, "after": last, "limit": MOST_ROWS})
        sizes = sizes[: _fitting(sizes)]
        found = memories.whole_memories(tx, space, last, limit=len(sizes)) if sizes else []
        if len(found) < sum(count for _, count, _ in sizes):
            return _damaged(tx, space, [id for _, _, id in sizes], found)
        return [_whole(id, list(versions)) for id, versions in groupby(found, lambda each: each[0].id)]

    def ready(self, records: Sequence[Record]) -> list[Record]:
        return [replace(record, terms=tuple(_terms(MemoryRow._make(row)) for row in record.rows)) for record in records]

    def put(
        self, tx: Tx, space: int, new: Sequence[Record], changed: Sequence[Record], *, overwrite: bool
    ) -> list[Record]:
        records = [*new, *changed]
        standing = _standing(tx, space, [id for record in records for id in record.key])
        _insert(tx, space, [record for record in records if record.key[0] not in standing])
        return [
            record
            for record in records
            if record.key[0] in standing
            and not _change(tx, space, record, standing[record.key[0]], overwrite=overwrite)
        ]

    def remove(self, tx: Tx, space: int, keys: Sequence[Row]) -> None:
        memories.forget(tx, space, [id for (id,) in keys])


def _whole(id: str, versions: list[tuple[MemoryRow, bytes | None]]) -> Record:
    rows = tuple(_plain(row) for row, _ in versions)
    vectors = tuple(vector for _, vector in versions)
    blobs = [_bytes(row[-1]) for row in rows]
    return Record(
        key=(id,),
        rows=rows,
        vectors=vectors,
        fingerprint=fingerprint([row[1:-1] for row in rows], [*blobs, *vectors]),
    )


def _damaged(tx: Tx, space: int, ids: Sequence[str], found: Sequence[tuple[MemoryRow, bytes | None]]) -> list[Record]:
    """The memories of a page on which versions have lost their traces, those without any vector."""
    vectors = {row[0]: vector for row, vector in found}
    records = []
    for id, rows in _standing(tx, space, ids).items():
        if all(row[0] in vectors for row in rows):
            records.append(_whole(id, [(row, vectors[row[0]]) for row in rows]))
        else:
            records.append(Record(key=(id,), rows=tuple(rows), fingerprint=fingerprint("no trace")))
    return records


def _plain(row: MemoryRow) -> MemoryRow:
    """A row of COLUMNS with its content as its form says: an engine may keep text and bytes in one type."""
    if not isinstance(row.content, bytes) or row.form == "bytes":
        return row
    return row._replace(content=row.content.decode())


def _bytes(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


def _standing(tx: Tx, space: int, ids: Sequence[str]) -> dict[str, list[MemoryRow]]:
    """The versions, oldest first, of those of the memories that are there."""
    where, params = _among(tx, "id", space, ids)
    found = tx.run(f"SELECT {memories.COLUMNS} FROM memory WHERE {where} ORDER BY id, version", params)
    standing: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in map(MemoryRow._make, found):
        standing[row.id].append(_plain(row))
    return standing


def _tags(row: MemoryRow) -> list[str]:
    return list(json.loads(row.tags)) if row.tags != "[]" else []


def _terms(row: MemoryRow) -> bytes:
    return trace.terms(row.text, _tags(row), row.source)


def _insert(tx: Tx, space: int, records: Sequence[Record]) -> int:
    """Write memories that are not there, every version as it was; returns the first one's sequence number."""
    count = sum(len(record.rows) for record in records)
    if not count:
        return 0
    first = tx.take(space, count)
    versions = (MemoryRow._make(row) for record in records for row in record.rows)
    rows = [row._replace(seq=seq, content=_bytes(row.content)) for seq, row in enumerate(versions, first)]
    tx.many(memories._INSERT, (dict(zip(memories._NAMES, row, strict=True), space=space) for row in rows))
    tx.many(memories._INSERT_TAG, ({"space": space, "tag": tag, "seq": row.seq} for row in rows for tag in _tags(row)))
    traces = ((vector, terms) for record in records for vector, terms in zip(record.vectors, record.terms, strict=True))
    tx.index.add(space, [_indexed(row, *found) for row, found in zip(rows, traces, strict=True)])
    for row in rows:
        if row.ended_at is not None:  # within a memory, each version was ended by the next one
            tx.index.end(space, row.seq, by=row.seq + 1)
    return first


def _indexed(row: MemoryRow, vector: bytes | None, terms: bytes) -> Indexed:
    closed = row.valid_to is not None
    head = trace.head(kind=row.kind, scope=row.scope, expires_at=row.expires_at, closed=closed)
    return Indexed(row.seq, head, closed, vector, terms)


def _change(tx: Tx, space: int, record: Record, known: Sequence[Row], *, overwrite: bool) -> bool:
    """Bring a memory that is there to where the record is; False if it is further on and was left alone."""
    shared = min(len(known), len(record.rows))
    same = all(_said(mine) == _said(theirs) for mine, theirs in zip(record.rows, known, strict=False))
    if same and len(known) < len(record.rows) and _vectors(tx, space, known) == list(record.vectors[:shared]):
        _append(tx, space, record, known)
    elif overwrite or (same and len(known) <= len(record.rows)):
        _replace(tx, space, record)
    elif same:
        return False
    else:
        raise Conflict(f"another memory with id {record.key[0]!r} exists already", current=known[-1][2])
    return True


def _said(row: Row) -> Row:
    """What a version is by itself: not its number in the engine, nor when the next one came."""
    return (*row[1:_ENDED_AT], *row[_ENDED_AT + 1 :])


def _vectors(tx: Tx, space: int, rows: Sequence[Row]) -> list[bytes | None] | None:
    """The vectors of versions; None if one has lost its trace."""
    try:
        return [tx.index.read(space, row[0])[0] for row in rows]
    except ValueError:
        return None


def _append(tx: Tx, space: int, record: Record, known: Sequence[Row]) -> None:
    """Write the versions that a memory got since."""
    count, last = len(known), known[-1]
    newer = replace(record, rows=record.rows[count:], vectors=record.vectors[count:], terms=record.terms[count:])
    first = _insert(tx, space, [newer])
    tx.run(memories._END, {"space": space, "seq": last[0], "now": record.rows[count - 1][_ENDED_AT]})
    tx.index.end(space, last[0], by=first)


def _replace(tx: Tx, space: int, record: Record) -> None:
    """Write a memory anew; the feedback and the links that it has here stay."""
    feedback, linked = FEEDBACK.of(tx, space, [record.key]), links.of(tx, space, record.key[0])
    memories.forget(tx, space, record.key)
    _insert(tx, space, [record])
    FEEDBACK.put(tx, space, feedback, [], overwrite=False)
    links.put(tx, space, linked)


# -- everything else -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Records that are one row each."""

    name: str
    table: str
    start: Row
    columns: tuple[str, ...]
    """Those of the key first."""
    rank: str | None = None
    """The column that tells which of two different rows is the later one; without it they are in conflict."""
    counted: bool = False
    """Whether rows are counts, which two stores may have taken at one moment without a quarrel."""
    size: str = "0"
    """How large a row is, in SQL."""

    @property
    def _key(self) -> tuple[str, ...]:
        return self.columns[: len(self.start)]

    @property
    def _one(self) -> str:
        return " AND ".join(f"{name} = :{name}" for name in ("space", *self._key))

    @property
    def _after(self) -> str:
        key, last = ", ".join(self._key), ", ".join(f":{name}" for name in self._key)
        return f"FROM {self.table} WHERE space = :space AND ({key}) > ({last}) ORDER BY {key} LIMIT :limit"

    def count(self, tx: Tx, space: int) -> int:
        return int(tx.run(f"SELECT count(*) FROM {self.table} WHERE space = :space", {"space": space})[0][0])

    def page(self, tx: Tx, space: int, after: Row) -> list[Record]:
        params = {**self._params(space, after), "limit": MOST_ROWS}
        limit = _fitting(tx.run(f"SELECT {self.size} {self._after}", params))
        if not limit:
            return []
        found = tx.run(f"SELECT {', '.join(self.columns)} {self._after}", {**params, "limit": limit})
        return [self._record(row) for row in found]

    def of(self, tx: Tx, space: int, keys: Sequence[Row]) -> list[Record]:
        """The records with these keys, of a table whose key is one column."""
        where, params = _among(tx, self._key[0], space, [name for (name,) in keys])
        found = tx.run(f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE {where}", params)
        return [self._record(row) for row in found]

    def ready(self, records: Sequence[Record]) -> list[Record]:
        return list(records)

    def put(
        self, tx: Tx, space: int, new: Sequence[Record], changed: Sequence[Record], *, overwrite: bool
    ) -> list[Record]:
        names = ("space", *self.columns)
        values = ", ".join(f":{name}" for name in names)
        insert = f"INSERT INTO {self.table} ({', '.join(names)}) VALUES ({values}) ON CONFLICT"
        tx.many(f"{insert} DO NOTHING", [self._params(space, record.rows[0]) for record in new])
        ahead = [not overwrite and self._is_ahead(tx, space, record) for record in changed]
        rest = ", ".join(f"{name} = excluded.{name}" for name in self.columns[len(self.start) :])
        tx.many(
            f"{insert} (space, {', '.join(self._key)}) DO UPDATE SET {rest}",
            [self._params(space, record.rows[0]) for record, left in zip(changed, ahead, strict=True) if not left],
        )
        return [record for record, left in zip(changed, ahead, strict=True) if left]

    def remove(self, tx: Tx, space: int, keys: Sequence[Row]) -> None:
        tx.many(f"DELETE FROM {self.table} WHERE {self._one}", [self._params(space, key) for key in keys])

    def _is_ahead(self, tx: Tx, space: int, record: Record) -> bool:
        """Whether what stands at a record's key is later than the record."""
        sql = f"SELECT {self.rank or 0} FROM {self.table} WHERE {self._one}"
        found = tx.run(sql, self._params(space, record.key))
        if not found:
            return False
        here = found[0][0]
        there = record.rows[0][self.columns.index(self.rank)] if self.rank else here
        if here == there and not self.counted:
            raise Conflict(f"something else stands at {describe(record.key)} already", current=int(here))
        return bool(here > there)

    def _params(self, space: int, row: Row) -> Params:
        return {"space": space, **dict(zip(self.columns, row, strict=False))}

    def _record(self, row: Row) -> Record:
        return Record(key=row[: len(self.start)], rows=(row,), fingerprint=fingerprint(row))


def describe(key: Row) -> str:
    """A key for people."""
    return "/".join(map(str, key))


MEMORIES = Memories()
FEEDBACK = Table(
    name="feedback",
    table="feedback",
    start=("",),
    columns=("id", "used", "ignored", "wrong", "confirmed", "last_at"),
    rank="last_at",
    counted=True,
)
ENTRIES = Table(
    name="entries",
    table="entry",
    start=("", ""),
    columns=("namespace", "key", "value", "version", "updated_at", "expires_at"),
    rank="version",
    size="octet_length(value)",
)
FILES = Table(
    name="files",
    table="file",
    start=("", "", 0),
    columns=("canvas", "path", "revision", "content", "at", "author"),
    size="octet_length(content)",
)
LINKS = Table(
    name="links",
    table="link",
    start=("", "", ""),
    columns=("id", "relation", "other", "at", "reason", "detail"),
    rank="at",
    size="octet_length(detail)",
)
MESSAGES = Table(
    name="messages",
    table="message",
    start=("", 0),
    columns=("session", "number", "role", "name", "content", "metadata", "said_at", "created_at"),
    size="octet_length(content)",
)
