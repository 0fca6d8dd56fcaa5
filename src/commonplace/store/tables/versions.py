"""Memories with all of their versions: read whole, restored one version at a time, and copied between stores.

Sequence numbers are an engine's own: a copy gets new ones, and they do not count when two memories are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from commonplace.errors import Conflict
from commonplace.store.base import Row, Tx
from commonplace.store.row import FeedbackRow, MemoryRow, pack_terms
from commonplace.store.tables import links, memories
from commonplace.store.tables.table import MOST_ROWS, CopyUnit, Table, among, count_fitting, fingerprint
from commonplace.values import Action

FEEDBACK = Table(
    name="feedback",
    table="feedback",
    start=("",),
    columns=FeedbackRow._fields,
    make=FeedbackRow._make,
    rank="last_at",
    counted=True,
)
# The upper bound keeps an engine from adding up all the rest before it returns the first few.
_NEXT = """m.space = :space AND m.id > :after AND m.id <= (SELECT max(n.id) FROM (SELECT DISTINCT id FROM memory
    WHERE space = :space AND id > :after ORDER BY id LIMIT :limit) n)"""
_SIZES = f"""SELECT sum(octet_length(m.text) + coalesce(octet_length(m.content), 0)), count(*), m.id FROM memory m
    WHERE {_NEXT} GROUP BY m.id ORDER BY m.id"""
_WHOLE = f"""SELECT {memories.FROM_M}, t.vector FROM memory m JOIN trace t ON t.seq = m.seq AND t.space = m.space
    WHERE {_NEXT} ORDER BY m.id, m.version"""


class VersionRow(NamedTuple):
    """A version with its vector."""

    row: MemoryRow
    vector: bytes | None


def read_whole(tx: Tx, space: int, after: str, *, limit: int) -> list[VersionRow]:
    """Return all versions of the next memories by id, each with its vector."""
    rows = tx.run(_WHOLE, {"space": space, "after": after, "limit": limit})
    return [VersionRow(MemoryRow._make(row[:-1]), row[-1]) for row in rows]


def restore(tx: Tx, space: int, record: memories.Record, *, version: int, action: Action, recorded_at: int) -> bool:
    """Put back one version of a memory; False if it exists already. Versions must come in order."""
    latest = tx.run(
        "SELECT max(version) FROM memory WHERE space = :space AND id = :id", {"space": space, "id": record.id}
    )[0][0]
    if latest is not None and latest >= version:
        if any(row.text == record.text for row in memories.versions(tx, space, record.id, [version])):
            return False
        raise Conflict(f"another memory with id {record.id!r} exists already", current=latest)
    row = memories.append(tx, space, record, version, action, now=recorded_at)
    if latest is not None:
        (old,) = memories.versions(tx, space, record.id, [latest])
        memories.end(tx, space, old.seq, by=row.seq, now=recorded_at)
    return True


def restore_feedback(tx: Tx, space: int, row: FeedbackRow) -> bool:
    """Put back a memory's feedback; False if it has feedback already, or does not exist."""
    return bool(memories.find_current(tx, space, [row.id], expired=True)) and FEEDBACK.restore(tx, space, row)


@dataclass(frozen=True, slots=True)
class WholeMemories:
    """Memories, each with all of its versions and vectors, as a Copyable."""

    name: str = "memories"
    start: Row = ("",)

    def count(self, tx: Tx, space: int) -> int:
        return int(tx.run("SELECT count(DISTINCT id) FROM memory WHERE space = :space", {"space": space})[0][0])

    def page(self, tx: Tx, space: int, after: Row) -> list[CopyUnit]:
        (last,) = after
        sizes = tx.run(_SIZES, {"space": space, "after": last, "limit": MOST_ROWS})
        sizes = sizes[: count_fitting(sizes)]
        found = read_whole(tx, space, last, limit=len(sizes)) if sizes else []
        if len(found) < sum(count for _, count, _ in sizes):
            return _damaged_units(tx, space, [id for _, _, id in sizes], found)
        return [_unit(id, list(versions)) for id, versions in groupby(found, lambda each: each.row.id)]

    def ready(self, units: Sequence[CopyUnit]) -> list[CopyUnit]:
        return [
            replace(unit, terms=tuple(pack_terms(row.text, row.tag_names, row.source) for row in _rows(unit)))
            for unit in units
        ]

    def put(
        self, tx: Tx, space: int, new: Sequence[CopyUnit], changed: Sequence[CopyUnit], *, overwrite: bool
    ) -> list[CopyUnit]:
        units = [*new, *changed]
        known = _find(tx, space, [id for unit in units for id in unit.key])
        _insert(tx, space, [unit for unit in units if unit.key[0] not in known])
        return [
            unit
            for unit in units
            if unit.key[0] in known and not _change(tx, space, unit, known[unit.key[0]], overwrite=overwrite)
        ]

    def remove(self, tx: Tx, space: int, keys: Sequence[Row]) -> None:
        memories.forget(tx, space, [id for (id,) in keys])


MEMORIES = WholeMemories()


def _rows(unit: CopyUnit) -> list[MemoryRow]:
    return [*map(MemoryRow._make, unit.rows)]


def _unit(id: str, versions: Sequence[VersionRow]) -> CopyUnit:
    rows, vectors = [_with_typed_content(each.row) for each in versions], tuple(each.vector for each in versions)
    blobs = [_encode(row.content) for row in rows]
    values = [tuple(row[1:-1]) for row in rows]
    return CopyUnit(key=(id,), rows=tuple(rows), vectors=vectors, fingerprint=fingerprint(values, [*blobs, *vectors]))


def _damaged_units(tx: Tx, space: int, ids: Sequence[str], found: Sequence[VersionRow]) -> list[CopyUnit]:
    """Return the units of a page on which versions have lost their traces, those without any vector."""
    vectors = {each.row.seq: each.vector for each in found}
    units = []
    for id, rows in _find(tx, space, ids).items():
        if all(row.seq in vectors for row in rows):
            units.append(_unit(id, [VersionRow(row, vectors[row.seq]) for row in rows]))
        else:
            units.append(CopyUnit(key=(id,), rows=tuple(rows), fingerprint=fingerprint("no trace")))
    return units


def _with_typed_content(row: MemoryRow) -> MemoryRow:
    """Return a row whose content has the type of its form: an engine may store text and bytes alike."""
    if not isinstance(row.content, bytes) or row.form == "bytes":
        return row
    return row._replace(content=row.content.decode())


def _encode(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


def _find(tx: Tx, space: int, ids: Sequence[str]) -> dict[str, list[MemoryRow]]:
    """Return the versions, oldest first, of the existing ones of these memories."""
    condition, params = among(tx, "id", space, ids)
    found = tx.run(f"SELECT {memories.COLUMNS} FROM memory WHERE {condition} ORDER BY id, version", params)
    known: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in map(MemoryRow._make, found):
        known[row.id].append(_with_typed_content(row))
    return known


def _insert(tx: Tx, space: int, units: Sequence[CopyUnit]) -> int:
    """Write new memories with every version as it was, and return the first sequence number."""
    count = sum(len(unit.rows) for unit in units)
    if not count:
        return 0
    first = tx.take(space, count)
    versions = (row for unit in units for row in _rows(unit))
    rows = [row._replace(seq=seq, content=_encode(row.content)) for seq, row in enumerate(versions, first)]
    traces = [trace for unit in units for trace in zip(unit.vectors, unit.terms, strict=True)]
    memories.write_rows(tx, space, rows, traces)
    for row in rows:
        if row.ended_at is not None:  # within a memory, each version was ended by the next one
            tx.index.end(space, row.seq, by=row.seq + 1)
    return first


def _change(tx: Tx, space: int, unit: CopyUnit, known: Sequence[MemoryRow], *, overwrite: bool) -> bool:
    """Bring an existing memory to the unit's state; False if it is newer and was left alone."""
    shared, theirs = min(len(known), len(unit.rows)), _rows(unit)
    same = all(_statement(ours) == _statement(other) for ours, other in zip(known, theirs, strict=False))
    if same and len(known) < len(theirs) and _vectors(tx, space, known) == list(unit.vectors[:shared]):
        _append(tx, space, unit, known[-1], theirs[len(known) - 1].ended_at, count=len(known))
    elif overwrite or (same and len(known) <= len(theirs)):
        _replace(tx, space, unit)
    elif same:
        return False
    else:
        raise Conflict(f"another memory with id {unit.key[0]!r} exists already", current=known[-1].version)
    return True


def _statement(row: MemoryRow) -> MemoryRow:
    """Return a version without its sequence number and without the moment at which the next one came."""
    return row._replace(seq=0, ended_at=None)


def _vectors(tx: Tx, space: int, rows: Sequence[MemoryRow]) -> list[bytes | None] | None:
    """Return the vectors of versions; None if one has lost its trace."""
    try:
        return [tx.index.read(space, row.seq)[0] for row in rows]
    except ValueError:
        return None


def _append(tx: Tx, space: int, unit: CopyUnit, last: MemoryRow, ended: int | None, *, count: int) -> None:
    """Write the versions after the first `count`, of which `last` ended at a moment."""
    newer = replace(unit, rows=unit.rows[count:], vectors=unit.vectors[count:], terms=unit.terms[count:])
    first = _insert(tx, space, [newer])
    memories.end(tx, space, last.seq, by=first, now=ended or 0)


def _replace(tx: Tx, space: int, unit: CopyUnit) -> None:
    """Write a memory again; its feedback and links stay."""
    feedback, linked = FEEDBACK.units(tx, space, [unit.key]), links.find_all(tx, space, unit.key[0])
    memories.forget(tx, space, unit.key)
    _insert(tx, space, [unit])
    FEEDBACK.put(tx, space, feedback, [], overwrite=False)
    links.put(tx, space, linked)
