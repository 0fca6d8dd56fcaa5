"""Statements on `memory`, `tag` and `feedback`: memories and their versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from commonplace.errors import Conflict, EmbedderMismatch, NotFound
from commonplace.store.base import Candidates, Choice, Found, Indexed, Params, Row, Tx, Where
from commonplace.store.row import FeedbackRow, LifeRow, MemoryRow, pack_head
from commonplace.store.tables import links, spaces
from commonplace.store.tables.table import among
from commonplace.values import Action, Content, Kind, Link, Memory, Origin, Revision, Scope, times
from commonplace.values.arrays import Floats, Ints

J = TypeVar("J")

COLUMNS = ", ".join(MemoryRow._fields)
FROM_M = ", ".join(f"m.{name}" for name in MemoryRow._fields)
"""COLUMNS of a table that is called m."""

_INSERT = (
    f"INSERT INTO memory (space, {COLUMNS}) VALUES (:space, {', '.join(':' + name for name in MemoryRow._fields)})"
)
_INSERT_TAG = "INSERT INTO tag (space, tag, seq) VALUES (:space, :tag, :seq)"
_DELETE_TAG = "DELETE FROM tag WHERE space = :space AND tag = :tag AND seq = :seq"
_OF_ID = f"SELECT {COLUMNS} FROM memory WHERE space = :space AND id = :id"
_END = "UPDATE memory SET ended_at = :now WHERE seq = :seq AND space = :space"
_GATE = """SELECT (SELECT value FROM book WHERE name = 'generation'), EXISTS
    (SELECT 1 FROM memory WHERE space = :space AND expires_at <= :now AND ended_at IS NULL)"""
_EXPIRED = "SELECT id FROM memory WHERE space = :space AND expires_at <= :now AND ended_at IS NULL LIMIT 20"
_FEEDBACK = ", ".join(FeedbackRow._fields)


@dataclass(slots=True, kw_only=True)
class Record:
    """A memory to be written: checked and rendered; its vector comes last, when all are embedded."""

    id: str
    named: bool = True
    """Whether a caller chose the id, which may then be in use."""
    kind: Kind
    form: str
    """How `content` is stored: text, json or bytes."""
    mime: str
    text: str
    content: str | bytes | None
    """None when it equals `text`."""
    tags: tuple[str, ...]
    metadata: str
    importance: float
    scope: Scope
    source: str | None
    origin: Origin = "user"
    said_at: int
    created_at: int
    expires_at: int | None
    valid_to: int | None = None
    superseded_by: str | None = None
    vector: bytes | None
    terms: bytes
    reason: str | None = None
    supersedes: tuple[str, ...] = ()


def insert(
    tx: Tx, space: int, records: Sequence[Record], *, generation: int, now: int | None = None
) -> list[MemoryRow]:
    """Store each record as version 1 of a new memory, and close the memories that it supersedes.

    Some expired memories are removed on this occasion.
    """
    now = times.now() if now is None else now
    ((found, expired),) = tx.run(_GATE, {"space": space, "now": now})
    ensure_generation(int(found or 0), generation)
    for record in records:
        date(record, now)
    if expired:
        forget(tx, space, [id for (id,) in tx.run(_EXPIRED, {"space": space, "now": now})])
    _ensure_free(tx, space, [record.id for record in records if record.named], now)
    first = tx.take(space, len(records))
    rows = [_row(record, first + i, 1, "remembered", now) for i, record in enumerate(records)]
    # As `write_rows`, without another frame above the SQL.
    tx.many(_INSERT, (dict(zip(MemoryRow._fields, row, strict=True), space=space) for row in rows))
    tx.index.add(space, _indexed(rows, [(record.vector, record.terms) for record in records]))
    tx.many(_INSERT_TAG, _tag_params(space, rows))
    for record in records:
        for old in record.supersedes:
            close(tx, space, old, by=record, reason=record.reason, now=now)
    return rows


def date(record: Record, now: int) -> None:
    """Date a new memory by the moment it is stored: embedding may have taken some time."""
    late = now - record.created_at
    if record.said_at == record.created_at:
        record.said_at = now
    if record.expires_at is not None:
        record.expires_at = min(record.expires_at + late, times.LAST)
    record.created_at = now


def current_generation(tx: Tx) -> int:
    """Return how often the book was embedded; 0 while it holds no vectors."""
    return int(spaces.read_value(tx, "generation") or 0)


def ensure_generation(found: int, expected: int) -> None:
    """Raise EmbedderMismatch if another process has re-embedded the book since it was opened."""
    if found != expected:
        raise EmbedderMismatch("the book was re-embedded meanwhile: close it and open it again")


def _ensure_free(tx: Tx, space: int, ids: Sequence[str], now: int) -> None:
    if len(set(ids)) < len(ids):
        raise Conflict("two memories in one call have the same id", current=0)
    taken = find_current(tx, space, ids, expired=True) if ids else []
    for row in taken:
        if not row.is_expired(now):
            raise Conflict(f"a memory with id {row.id!r} exists already", current=row.version)
    if taken:
        forget(tx, space, [row.id for row in taken])


def _row(record: Record, seq: int, version: int, action: Action, now: int) -> MemoryRow:
    return MemoryRow(
        seq, record.id, version, action, record.reason, record.kind, record.form, record.mime, record.importance,
        record.scope.user, record.scope.agent, record.scope.session, record.source, record.said_at,
        record.created_at, now, None, record.expires_at, record.valid_to, record.superseded_by, record.origin,
        json.dumps(record.tags, ensure_ascii=False) if record.tags else "[]", record.metadata, record.text,
        record.content.encode() if isinstance(record.content, str) else record.content,
    )  # fmt: skip


def _indexed(rows: Sequence[MemoryRow], traces: Sequence[tuple[bytes | None, bytes]]) -> list[Indexed]:
    found = []
    for row, (vector, terms) in zip(rows, traces, strict=True):
        closed = row.valid_to is not None
        head = pack_head(kind=row.kind, scope=row.scope, expires_at=row.expires_at, closed=closed)
        found.append(Indexed(row.seq, head, closed, vector, terms))
    return found


def _tag_params(space: int, rows: Sequence[MemoryRow]) -> Iterator[Params]:
    return ({"space": space, "tag": tag, "seq": row.seq} for row in rows if row.tags != "[]" for tag in row.tag_names)


def write_rows(tx: Tx, space: int, rows: Sequence[MemoryRow], traces: Sequence[tuple[bytes | None, bytes]]) -> None:
    """Write versions as they are, with their tags, and index their vectors and words."""
    tx.many(_INSERT, (dict(zip(MemoryRow._fields, row, strict=True), space=space) for row in rows))
    tx.index.add(space, _indexed(rows, traces))
    tx.many(_INSERT_TAG, _tag_params(space, rows))


def append(tx: Tx, space: int, record: Record, version: int, action: Action, *, now: int) -> MemoryRow:
    """Write one more version of a memory."""
    row = _row(record, tx.take(space, 1), version, action, now)
    write_rows(tx, space, [row], [(record.vector, record.terms)])
    return row


def revise(tx: Tx, space: int, old: MemoryRow, record: Record, *, action: Action, now: int) -> MemoryRow:
    """Make `record` the current version of a memory; the old version is kept."""
    now = max(now, old.recorded_at + 1)  # no version ends before it began, even if the clock goes back
    row = append(tx, space, record, old.version + 1, action, now=now)
    end(tx, space, old.seq, by=row.seq, now=now)
    return row


def end(tx: Tx, space: int, seq: int, *, by: int, now: int) -> None:
    """End a version: the one with sequence number `by` follows it."""
    tx.run(_END, {"space": space, "seq": seq, "now": now})
    tx.index.end(space, seq, by=by)


# -- reading -------------------------------------------------------------------------------------------


def current(tx: Tx, space: int, id: str, *, now: int, if_version: int | None = None) -> MemoryRow:
    """Return the current version; NotFound if there is none, Conflict if it is not `if_version`."""
    rows = _rows(tx.run(f"{_OF_ID} AND ended_at IS NULL", {"space": space, "id": id}))
    if not rows or rows[0].is_expired(now):
        raise NotFound(f"no memory with id {id!r} in this space")
    if if_version is not None and rows[0].version != if_version:
        raise Conflict(
            f"memory {id!r} is at version {rows[0].version}, not {if_version}: read it again", current=rows[0].version
        )
    return rows[0]


def find_current(tx: Tx, space: int, ids: Sequence[str], *, expired: bool = False) -> list[MemoryRow]:
    """Return the current versions of those of these memories that exist, including superseded ones."""
    condition, params = among(tx, "id", space, ids)
    found = tx.run(f"SELECT {COLUMNS} FROM memory WHERE {condition} AND ended_at IS NULL ORDER BY seq", params)
    now = times.now()
    return [row for row in _rows(found) if expired or not row.is_expired(now)]


def find_standing(tx: Tx, space: int, ids: Sequence[str], *, now: int) -> list[MemoryRow]:
    """Return those of these memories that recall can find."""
    rows = find_current(tx, space, ids, expired=True)
    return [row for row in rows if row.valid_to is None and not row.is_expired(now)]


def find_standing_since(tx: Tx, space: int, seq: int, *, now: int, limit: int) -> list[MemoryRow]:
    """Return the memories, without messages, written after a sequence number that recall can find: the latest ones."""
    found = tx.run(
        f"SELECT {COLUMNS} FROM memory WHERE space = :space AND ended_at IS NULL AND valid_to IS NULL"
        " AND seq > :seq AND kind <> 'message' ORDER BY seq DESC LIMIT :limit",
        {"space": space, "seq": seq, "limit": limit},
    )
    return [row for row in reversed(_rows(found)) if not row.is_expired(now)]


def select(tx: Tx, where: Where, ids: Sequence[str]) -> list[MemoryRow]:
    """Return those of these memories for which the condition holds."""
    listed = tx.syntax.among("m.id", ":ids", "text")
    sql = f"SELECT {FROM_M} FROM memory m WHERE {where.sql} AND {listed} ORDER BY m.seq"
    return _rows(tx.run(sql, {**where.params, "ids": json.dumps(list(ids))}))


def version(tx: Tx, space: int, id: str, number: int, *, now: int) -> MemoryRow:
    """Return one version of a memory."""
    current(tx, space, id, now=now)
    rows = versions(tx, space, id, [number])
    if not rows:
        raise NotFound(f"memory {id!r} has no version {number} in this space")
    return rows[0]


def versions(tx: Tx, space: int, id: str, numbers: Sequence[int]) -> list[MemoryRow]:
    """Return the existing ones of these versions of a memory."""
    sql = f"{_OF_ID} AND version = :version"
    return _rows(row for each in numbers for row in tx.run(sql, {"space": space, "id": id, "version": each}))


def history(tx: Tx, space: int, id: str, *, now: int) -> list[MemoryRow]:
    """Return every version of a memory, oldest first."""
    current(tx, space, id, now=now)
    return _rows(tx.run(f"{_OF_ID} ORDER BY version", {"space": space, "id": id}))


def page(tx: Tx, where: Where, *, newest: bool, limit: int, after: tuple[int, str] | None) -> list[MemoryRow]:
    """Return up to `limit` memories by the time they were said, after the given place."""
    params: dict[str, str | int | float | bytes | None] = {**where.params, "limit": limit}
    sign, order = ("<", "DESC") if newest else (">", "ASC")
    condition = where.sql
    if after is not None:
        params["said"], params["last"] = after
        condition += f" AND (m.said_at, m.id) {sign} (:said, :last)"
    by = f"m.said_at {order}, m.id {order}"
    return _rows(tx.run(f"SELECT {FROM_M} FROM memory m WHERE {condition} ORDER BY {by} LIMIT :limit", params))


def ids(tx: Tx, where: Where) -> tuple[str, ...]:
    """Return the ids of every memory for which the condition holds."""
    rows = tx.run(f"SELECT m.id FROM memory m WHERE {where.sql} ORDER BY m.said_at, m.id", where.params)
    return tuple(id for (id,) in rows)


def lives(tx: Tx, where: Where) -> list[LifeRow]:
    """Return the facts for pruning of each memory for which the condition holds."""
    rows = tx.run(
        "SELECT m.id, m.kind, m.said_at, m.importance, coalesce(f.used, 0), coalesce(f.ignored, 0),"
        " coalesce(f.wrong, 0), coalesce(f.confirmed, 0),"
        " CASE WHEN coalesce(f.used, 0) + coalesce(f.confirmed, 0) > 0 THEN f.last_at ELSE 0 END, m.valid_to IS NULL"
        f" FROM memory m LEFT JOIN feedback f ON f.space = m.space AND f.id = m.id WHERE {where.sql}",
        where.params,
    )
    return [LifeRow._make(row) for row in rows]


def known_ids(tx: Tx, space: int, wanted: Sequence[str]) -> list[str]:
    """Return those of the wanted ids that exist in the space."""
    condition, params = among(tx, "id", space, wanted)
    return [id for (id,) in tx.run(f"SELECT DISTINCT id FROM memory WHERE {condition}", params)]


def find_quarantined(tx: Tx, space: int, ids: Sequence[str]) -> set[str]:
    """Return those of these memories that are in quarantine, even if they were changed since."""
    if not ids:
        return set()
    condition, params = among(tx, "id", space, ids)
    rows = tx.run(
        f"SELECT id, action FROM memory WHERE {condition} AND action IN ('quarantined', 'reopened')"
        " ORDER BY id, version",
        params,
    )
    last: dict[str, str] = dict(rows)
    return {id for id, action in last.items() if action == "quarantined"}


def select_seqs(tx: Tx, where: Where) -> Ints:
    """Return the sequence numbers of every memory for which the condition holds, ascending."""
    rows = tx.run(f"SELECT m.seq FROM memory m WHERE {where.sql}", where.params)
    return np.sort(np.fromiter((seq for (seq,) in rows), np.int64, len(rows)))


def fetch(
    tx: Tx, candidates: Candidates, choice: Choice[J], where: Where, vectors: Callable[[Ints], Floats]
) -> Found[J]:
    """Return the chosen candidates' rows in order, without those for which the condition does not hold."""
    place = dict(zip(candidates.seqs[choice.positions].tolist(), choice.positions.tolist(), strict=True))
    rows: list[MemoryRow] = []
    uses: list[Row] = []
    if place:
        sql = f"SELECT {FROM_M} FROM memory m{tx.syntax.by_key} WHERE {tx.syntax.among('m.seq', ':wanted', 'integer')}"
        rows = _rows(tx.run(f"{sql} AND {where.sql}", {**where.params, "wanted": json.dumps([*place])}))
        uses = tx.run(
            f"SELECT {_FEEDBACK} FROM feedback WHERE space = :space AND {tx.syntax.among('id', ':ids', 'text')}",
            {"space": where.params["space"], "ids": json.dumps([row.id for row in rows])},
        )
    positions = np.array([place[row.seq] for row in rows], np.int64)
    return Found(
        candidates=candidates,
        judgement=choice.judgement,
        positions=positions,
        rows=rows,
        uses={row.id: row for row in map(FeedbackRow._make, uses)},
        vectors=vectors(candidates.seqs[positions]),
    )


def counts_by_kind(tx: Tx, where: Where) -> Mapping[str, int]:
    """Return how many memories of each kind the condition holds for."""
    rows = tx.run(f"SELECT m.kind, count(*) FROM memory m WHERE {where.sql} GROUP BY m.kind", where.params)
    return {str(kind): count for kind, count in rows}


def count_versions(tx: Tx, space: int) -> int:
    """Return the number of versions of all memories in a space."""
    return int(tx.run("SELECT count(*) FROM memory WHERE space = :space", {"space": space})[0][0])


def _rows(found: Iterable[Row]) -> list[MemoryRow]:
    return [*map(MemoryRow._make, found)]


# -- feedback ------------------------------------------------------------------------------------------


def count_feedback(tx: Tx, space: int, ids: Sequence[str], signal: str, *, now: int) -> int:
    """Count a signal for each existing memory and return how many there are."""
    known = [row for id in ids for row in find_current(tx, space, [id], expired=True) if not row.is_expired(now)]
    for row in known:
        first = {**FeedbackRow(row.id, last_at=now)._asdict(), signal: 1}
        tx.run(
            f"INSERT INTO feedback (space, {_FEEDBACK})"
            " VALUES (:space, :id, :used, :ignored, :wrong, :confirmed, :last_at)"
            f" ON CONFLICT (space, id) DO UPDATE SET {signal} = feedback.{signal} + 1, last_at = :last_at",
            {"space": space, **first},
        )
    return len(known)


def unconfirm(tx: Tx, space: int, id: str) -> None:
    """Take back one repetition."""
    tx.run(
        "UPDATE feedback SET confirmed = confirmed - 1 WHERE space = :space AND id = :id AND confirmed > 0",
        {"space": space, "id": id},
    )


# -- removing and closing ------------------------------------------------------------------------------


def forget(tx: Tx, space: int, ids: Sequence[str]) -> None:
    """Remove every version of these memories: rows, vectors, words, tags and feedback."""
    inside, wanted = among(tx, "id", space, ids)
    versions = tx.run(f"SELECT seq, ended_at IS NULL, tags FROM memory WHERE {inside}", wanted)
    # One by one by their key, which begins with the tag: by number alone, all tags of the space would be read.
    tagged = [(seq, tag) for seq, _, tags in versions if tags != "[]" for tag in json.loads(tags)]
    tx.many(_DELETE_TAG, [{"space": space, "tag": tag, "seq": seq} for seq, tag in tagged])
    tx.run(f"DELETE FROM feedback WHERE {inside}", wanted)
    tx.run(f"DELETE FROM memory WHERE {inside}", wanted)
    links.forget(tx, space, ids)
    tx.index.remove(space, [(seq, bool(current)) for seq, current, _ in versions])


def forget_all(tx: Tx, space: int) -> None:
    """Remove every memory of a space at once."""
    tx.run("UPDATE space SET epoch = epoch + 1 WHERE number = :space", {"space": space})
    for table in ("tag", "feedback", "link", "memory"):
        tx.run(f"DELETE FROM {table} WHERE space = :space", {"space": space})
    tx.index.clear(space)


def close(tx: Tx, space: int, id: str, *, by: Record, reason: str | None, now: int) -> None:
    """Close a memory that `by` supersedes: a new version with an end and a pointer."""
    old = current(tx, space, id, now=now)
    if old.superseded_by is not None:
        raise Conflict(
            f"memory {id!r} was superseded by {old.superseded_by!r} already: supersede that one", current=old.version
        )
    _revise_end(tx, space, old, "superseded", valid_to=by.said_at, superseded_by=by.id, reason=reason, now=now)
    at = times.from_micros(now)
    links.put(tx, space, [Link(id=by.id, relation="supersedes", other=id, at=at, reason=reason)])


def shut(tx: Tx, space: int, id: str, *, action: Action, reason: str, now: int) -> MemoryRow | None:
    """Close a memory without a successor; None if it is closed already."""
    rows = find_current(tx, space, [id])
    if not rows or rows[0].valid_to is not None:
        return None
    return _revise_end(tx, space, rows[0], action, valid_to=now, reason=reason, now=now)


def confine(tx: Tx, space: int, id: str, *, reason: str, now: int) -> bool:
    """Put a memory in quarantine, even a closed one; False if it does not exist."""
    rows = find_current(tx, space, [id])
    for old in rows:
        ended = now if old.valid_to is None else old.valid_to
        _revise_end(tx, space, old, "quarantined", valid_to=ended, reason=reason, now=now)
    return bool(rows)


def reopen(tx: Tx, space: int, id: str, *, reason: str, now: int) -> None:
    """Open a closed memory again."""
    for old in find_current(tx, space, [id]):
        _revise_end(tx, space, old, "reopened", valid_to=None, reason=reason, now=now)


def _revise_end(
    tx: Tx,
    space: int,
    old: MemoryRow,
    action: Action,
    *,
    valid_to: int | None,
    superseded_by: str | None = None,
    reason: str | None,
    now: int,
) -> MemoryRow:
    changed = replace(record_of(tx, space, old), valid_to=valid_to, superseded_by=superseded_by, reason=reason)
    return revise(tx, space, old, changed, action=action, now=now)


# -- values --------------------------------------------------------------------------------------------


def decode(row: MemoryRow) -> Memory:
    """Return the memory of a row."""
    # Unpacked at once: reading twenty names one by one costs more, and recall decodes often.
    (_, id, version, _, _, kind, form, mime, importance, _, _, _, source, said_at, created_at, recorded_at,
     _, expires_at, valid_to, superseded_by, origin, tags, metadata, text, content) = row  # fmt: skip
    return Memory(
        id=id,
        version=version,
        content=text if content is None and form != "json" else _content(form, text, content),
        text=text,
        mime=mime,
        kind=kind,
        tags=row.tag_names if tags != "[]" else (),
        metadata=row.metadata_value if metadata != "{}" else {},
        importance=importance,
        scope=row.scope,
        source=source,
        origin=origin,
        said_at=times.from_micros(said_at),
        created_at=times.from_micros(created_at),
        updated_at=times.from_micros(recorded_at),
        expires_at=None if expires_at is None else times.from_micros(expires_at),
        valid_to=None if valid_to is None else times.from_micros(valid_to),
        superseded_by=superseded_by,
    )


def decode_revision(row: MemoryRow) -> Revision:
    """Return the step in a memory's history that a row records."""
    memory = decode(row)
    return Revision(version=memory.version, action=row.action, at=memory.updated_at, reason=row.reason, memory=memory)


def record_of(tx: Tx, space: int, row: MemoryRow) -> Record:
    """Return the record that would write this version again, with its vector and words."""
    vector, terms = tx.index.read(space, row.seq)
    return Record(
        id=row.id,
        kind=row.kind,
        form=row.form,
        mime=row.mime,
        text=row.text,
        content=row.content,
        tags=row.tag_names,
        metadata=row.metadata,
        importance=row.importance,
        scope=row.scope,
        source=row.source,
        origin=row.origin,
        said_at=row.said_at,
        created_at=row.created_at,
        expires_at=row.expires_at,
        valid_to=row.valid_to,
        superseded_by=row.superseded_by,
        vector=vector,
        terms=terms,
    )


def _content(form: str, text: str, content: Any) -> Content:
    if form == "json":
        loaded: Content = json.loads(content)
        return loaded
    if content is None:
        return text
    return content.decode() if form == "text" and isinstance(content, bytes) else content


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else times.from_micros(micros)
