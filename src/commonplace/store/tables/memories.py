"""Memories in the store: every statement on `memory` and the tables that follow it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from commonplace.errors import Conflict, NotFound
from commonplace.store import trace
from commonplace.store.base import Indexed, Params, Tx, Where, ensure_generation
from commonplace.store.row import FeedbackRow, LifeRow, MemoryRow
from commonplace.store.tables import links
from commonplace.values import Action, Content, Kind, Link, Memory, Origin, Revision, Scope, times
from commonplace.values.arrays import Ints

_NAMES = MemoryRow._fields
COLUMNS = ", ".join(_NAMES)
FROM_M = ", ".join(f"m.{name}" for name in _NAMES)
"""COLUMNS of a table that is called m."""

_INSERT = f"INSERT INTO memory (space, {COLUMNS}) VALUES (:space, {', '.join(':' + name for name in _NAMES)})"
_INSERT_TAG = "INSERT INTO tag (space, tag, seq) VALUES (:space, :tag, :seq)"
_CURRENT = f"SELECT {COLUMNS} FROM memory WHERE space = :space AND id = :id AND ended_at IS NULL"
_STANDING = f"SELECT {COLUMNS} FROM memory WHERE space = :space AND ended_at IS NULL AND valid_to IS NULL"
_VERSION = f"SELECT {COLUMNS} FROM memory WHERE space = :space AND id = :id AND version = :version"
_HISTORY = f"SELECT {COLUMNS} FROM memory WHERE space = :space AND id = :id ORDER BY version"
_LATEST = "SELECT max(version) FROM memory WHERE space = :space AND id = :id"
_END = "UPDATE memory SET ended_at = :now WHERE seq = :seq AND space = :space"
_GATE = """SELECT (SELECT value FROM book WHERE name = 'generation'), EXISTS
    (SELECT 1 FROM memory WHERE space = :space AND expires_at <= :now AND ended_at IS NULL)"""
_EXPIRED = "SELECT id FROM memory WHERE space = :space AND expires_at <= :now AND ended_at IS NULL LIMIT 20"


@dataclass(slots=True, kw_only=True)
class Record:
    """A memory as it is written: checked and rendered; its vector comes last, when all are embedded."""

    id: str
    named: bool = True
    """Whether a caller chose the id, which may then be taken."""
    kind: Kind
    form: str
    """How `content` is kept: text, json or bytes."""
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


def _read(tx: Tx, sql: str, params: Params) -> list[MemoryRow]:
    return [MemoryRow._make(row) for row in tx.run(sql, params)]


def insert(
    tx: Tx, space: int, records: Sequence[Record], *, generation: int, now: int | None = None
) -> list[MemoryRow]:
    """Store each record as version 1 of a new memory, and close the memories that it supersedes.

    What has expired is swept away on the occasion, a little at a time.
    """
    now = times.now() if now is None else now
    ((found, expired),) = tx.run(_GATE, {"space": space, "now": now})
    ensure_generation(int(found or 0), generation)
    for record in records:
        date(record, now)
    if expired:
        _sweep(tx, space, now)
    _ensure_free(tx, space, [record.id for record in records if record.named], now)
    rows = _append(tx, space, records, [1] * len(records), "remembered", now=now)
    for record in records:
        for old in record.supersedes:
            close(tx, space, old, by=record, reason=record.reason, now=now)
    return rows


def date(record: Record, now: int) -> None:
    """Date a new memory by its record, not by the call: embedding may have taken its time meanwhile."""
    late = now - record.created_at
    if record.said_at == record.created_at:
        record.said_at = now
    if record.expires_at is not None:
        record.expires_at = min(record.expires_at + late, times.LAST)
    record.created_at = now


def current_generation(tx: Tx) -> int:
    """How often the book's vectors were made anew; 0 while it holds none."""
    rows = tx.run("SELECT value FROM book WHERE name = 'generation'")
    return int(rows[0][0]) if rows else 0


def _ensure_free(tx: Tx, space: int, ids: Sequence[str], now: int) -> None:
    if len(set(ids)) < len(ids):
        raise Conflict("two memories of one call have the same id", current=0)
    if not ids:
        return
    taken = _read(
        tx,
        f"SELECT {COLUMNS} FROM memory WHERE space = :space AND ended_at IS NULL"
        f" AND {tx.dialect.among('id', ':ids', 'text')}",
        {"space": space, "ids": json.dumps(list(ids))},
    )
    for row in taken:
        if not row.is_expired(now):
            raise Conflict(f"a memory with id {row.id!r} exists already", current=row.version)
    if taken:
        forget(tx, space, [row.id for row in taken])


def revise(tx: Tx, space: int, old: MemoryRow, record: Record, *, action: Action, now: int) -> MemoryRow:
    """Make `record` the current version of a memory in place of `old`; the old version is kept."""
    now = max(now, old.recorded_at + 1)  # no version ends before it began, whatever the clock does
    (row,) = _append(tx, space, [record], [old.version + 1], action, now=now)
    tx.run(_END, {"space": space, "seq": old.seq, "now": now})
    tx.index.end(space, old.seq, by=row.seq)
    return row


def current(tx: Tx, space: int, id: str, *, now: int, if_version: int | None = None) -> MemoryRow:
    """The memory's current version; NotFound if there is none, Conflict if it is not `if_version`."""
    rows = _read(tx, _CURRENT, {"space": space, "id": id})
    if not rows or rows[0].is_expired(now):
        raise NotFound(f"no memory with id {id!r} in this space")
    if if_version is not None and rows[0].version != if_version:
        raise Conflict(
            f"memory {id!r} is at version {rows[0].version}, not {if_version}: read it again", current=rows[0].version
        )
    return rows[0]


def some(tx: Tx, where: Where, ids: Sequence[str]) -> list[MemoryRow]:
    """Those of these memories for which the condition holds."""
    among = tx.dialect.among("m.id", ":ids", "text")
    return _read(
        tx,
        f"SELECT {FROM_M} FROM memory m WHERE {where.sql} AND {among} ORDER BY m.seq",
        {**where.params, "ids": json.dumps(list(ids))},
    )


def currents(tx: Tx, space: int, ids: Sequence[str]) -> list[MemoryRow]:
    """The current versions of those of these memories that are there, superseded or not."""
    among, now = tx.dialect.among("id", ":ids", "text"), times.now()
    rows = _read(
        tx,
        f"SELECT {COLUMNS} FROM memory WHERE space = :space AND ended_at IS NULL AND {among} ORDER BY seq",
        {"space": space, "ids": json.dumps(list(ids))},
    )
    return [row for row in rows if not row.is_expired(now)]


def version(tx: Tx, space: int, id: str, number: int, *, now: int) -> MemoryRow:
    """One version of a memory."""
    current(tx, space, id, now=now)
    rows = _read(tx, _VERSION, {"space": space, "id": id, "version": number})
    if not rows:
        raise NotFound(f"memory {id!r} has no version {number} in this space")
    return rows[0]


def versions(tx: Tx, space: int, id: str, numbers: Sequence[int]) -> list[MemoryRow]:
    """Those of these versions of a memory that are there."""
    return [row for each in numbers for row in _read(tx, _VERSION, {"space": space, "id": id, "version": each})]


def history(tx: Tx, space: int, id: str, *, now: int) -> list[MemoryRow]:
    """Every version of a memory, oldest first."""
    current(tx, space, id, now=now)
    return _read(tx, _HISTORY, {"space": space, "id": id})


def last_seq(tx: Tx, space: int) -> int:
    """The sequence number of the last version that was written in a space; 0 if there is none."""
    return int(tx.run("SELECT coalesce(max(seq), 0) FROM trace WHERE space = :space", {"space": space})[0][0])


def standing(tx: Tx, space: int, ids: Sequence[str], *, now: int) -> list[MemoryRow]:
    """Those of these memories that recall would see."""
    among = tx.dialect.among("id", ":ids", "text")
    rows = _read(tx, f"{_STANDING} AND {among} ORDER BY seq", {"space": space, "ids": json.dumps(list(ids))})
    return [row for row in rows if not row.is_expired(now)]


def standing_since(tx: Tx, space: int, seq: int, *, now: int) -> list[MemoryRow]:
    """The memories, messages apart, that were written after a sequence number and that recall would see."""
    rows = _read(tx, f"{_STANDING} AND seq > :seq AND kind <> 'message' ORDER BY seq", {"space": space, "seq": seq})
    return [row for row in rows if not row.is_expired(now)]


def vectors(tx: Tx, space: int, seqs: Sequence[int]) -> dict[int, bytes | None]:
    """The vectors of versions, by sequence number."""
    among = tx.dialect.among("seq", ":seqs", "integer")
    rows = tx.run(
        f"SELECT seq, vector FROM trace WHERE space = :space AND {among}", {"space": space, "seqs": json.dumps(seqs)}
    )
    return {int(seq): vector for seq, vector in rows}


def page(tx: Tx, where: Where, *, newest: bool, limit: int, after: tuple[int, str] | None) -> list[MemoryRow]:
    """Up to `limit` memories in the order of what was said, after the given place."""
    params: dict[str, str | int | float | bytes | None] = {**where.params, "limit": limit}
    sign, order = ("<", "DESC") if newest else (">", "ASC")
    place = ""
    if after is not None:
        params["said"], params["last"] = after
        place = f" AND (m.said_at, m.id) {sign} (:said, :last)"
    return _read(
        tx,
        f"SELECT {FROM_M} FROM memory m WHERE {where.sql}{place} ORDER BY m.said_at {order}, m.id {order} LIMIT :limit",
        params,
    )


def ids(tx: Tx, where: Where) -> tuple[str, ...]:
    """The ids of every memory for which the condition holds."""
    rows = tx.run(f"SELECT m.id FROM memory m WHERE {where.sql} ORDER BY m.said_at, m.id", where.params)
    return tuple(row[0] for row in rows)


def lives(tx: Tx, where: Where) -> list[LifeRow]:
    """Return what pruning weighs of each memory for which the condition holds."""
    rows = tx.run(
        "SELECT m.id, m.kind, m.said_at, m.importance, coalesce(f.used, 0), coalesce(f.ignored, 0),"
        " coalesce(f.wrong, 0), coalesce(f.confirmed, 0),"
        " CASE WHEN coalesce(f.used, 0) + coalesce(f.confirmed, 0) > 0 THEN f.last_at ELSE 0 END, m.valid_to IS NULL"
        f" FROM memory m LEFT JOIN feedback f ON f.space = m.space AND f.id = m.id WHERE {where.sql}",
        where.params,
    )
    return [LifeRow._make(row) for row in rows]


def known_ids(tx: Tx, space: int, wanted: Sequence[str]) -> list[str]:
    """Those of the wanted ids that the space holds."""
    among = tx.dialect.among("id", ":ids", "text")
    rows = tx.run(
        f"SELECT DISTINCT id FROM memory WHERE space = :space AND {among}",
        {"space": space, "ids": json.dumps(list(wanted))},
    )
    return [row[0] for row in rows]


def select_seqs(tx: Tx, where: Where) -> Ints:
    """The sequence numbers of every memory for which the condition holds, rising."""
    rows = tx.run(f"SELECT m.seq FROM memory m WHERE {where.sql}", where.params)
    return np.sort(np.fromiter((row[0] for row in rows), np.int64, len(rows)))


def fetch(
    tx: Tx, seqs: Ints, picked: npt.NDArray[np.intp], where: Where
) -> tuple[Ints, list[MemoryRow], dict[str, FeedbackRow]]:
    """The picked candidates' rows in their order, less those for which the condition does not hold."""
    if not len(picked):
        return np.empty(0, np.int64), [], {}
    wanted = json.dumps(seqs[picked].tolist())
    rows = _read(
        tx,
        f"SELECT {FROM_M} FROM memory m{tx.dialect.by_key}"
        f" WHERE {tx.dialect.among('m.seq', ':wanted', 'integer')} AND {where.sql}",
        {**where.params, "wanted": wanted},
    )
    place = {int(seq): position for position, seq in zip(picked, seqs[picked], strict=True)}
    positions = np.array([place[row.seq] for row in rows], np.int64)
    uses = tx.run(
        "SELECT f.id, f.used, f.ignored, f.wrong, f.confirmed, f.last_at FROM feedback f"
        f" WHERE f.space = :space AND {tx.dialect.among('f.id', ':ids', 'text')}",
        {"space": where.params["space"], "ids": json.dumps([row.id for row in rows])},
    )
    return positions, rows, {row.id: row for row in map(FeedbackRow._make, uses)}


def feedback(tx: Tx, space: int, ids: Sequence[str], signal: str, *, now: int) -> int:
    """Count a signal for each memory that is still there; returns how many."""
    rows = [row for id in ids for row in _read(tx, _CURRENT, {"space": space, "id": id})]
    known = [row.id for row in rows if not row.is_expired(now)]
    for id in known:
        tx.run(
            f"INSERT INTO feedback (space, id, used, ignored, wrong, confirmed, last_at)"
            f" VALUES (:space, :id, :used, :ignored, :wrong, :confirmed, :now)"
            f" ON CONFLICT (space, id) DO UPDATE SET {signal} = feedback.{signal} + 1, last_at = :now",
            {
                "space": space,
                "id": id,
                "now": now,
                **{name: int(name == signal) for name in ("used", "ignored", "wrong", "confirmed")},
            },
        )
    return len(known)


def unconfirm(tx: Tx, space: int, id: str) -> None:
    """Take back one repetition."""
    tx.run(
        "UPDATE feedback SET confirmed = confirmed - 1 WHERE space = :space AND id = :id AND confirmed > 0",
        {"space": space, "id": id},
    )


def forget(tx: Tx, space: int, ids: Sequence[str]) -> None:
    """Remove every version of these memories: rows, vectors, words, tags and feedback."""
    wanted: Params = {"space": space, "ids": json.dumps(list(ids))}
    inside = f"space = :space AND {tx.dialect.among('id', ':ids', 'text')}"
    versions = tx.run(f"SELECT seq, ended_at IS NULL FROM memory WHERE {inside}", wanted)
    tx.run(f"DELETE FROM tag WHERE space = :space AND seq IN (SELECT seq FROM memory WHERE {inside})", wanted)
    tx.run(f"DELETE FROM feedback WHERE {inside}", wanted)
    tx.run(f"DELETE FROM memory WHERE {inside}", wanted)
    links.forget(tx, space, ids)
    tx.index.remove(space, [(seq, bool(current)) for seq, current in versions])


def _sweep(tx: Tx, space: int, now: int) -> None:
    forget(tx, space, [row[0] for row in tx.run(_EXPIRED, {"space": space, "now": now})])


def restore(tx: Tx, space: int, record: Record, *, version: int, action: Action, recorded_at: int) -> bool:
    """Put back one version of a memory as it was; False if it is there already. Versions come in order."""
    latest = tx.run(_LATEST, {"space": space, "id": record.id})[0][0]
    if latest is not None and latest >= version:
        same = _read(tx, _VERSION, {"space": space, "id": record.id, "version": version})
        if same and decode(same[0]).text == record.text:
            return False
        raise Conflict(f"another memory with id {record.id!r} exists already", current=latest)
    (row,) = _append(tx, space, [record], [version], action, now=recorded_at)
    if latest is not None:
        old = _read(tx, _VERSION, {"space": space, "id": record.id, "version": latest})[0]
        tx.run(_END, {"space": space, "seq": old.seq, "now": recorded_at})
        tx.index.end(space, old.seq, by=row.seq)
    return True


def whole_memories(tx: Tx, space: int, after: str, *, limit: int) -> list[tuple[MemoryRow, bytes | None]]:
    """All versions of the next memories by id, each with its vector."""
    rows = tx.run(
        f"SELECT {FROM_M}, t.vector FROM memory m JOIN trace t ON t.seq = m.seq AND t.space = m.space"
        " WHERE m.space = :space AND m.id > :after AND m.id <= (SELECT max(n.id) FROM (SELECT DISTINCT id FROM memory"
        " WHERE space = :space AND id > :after ORDER BY id LIMIT :limit) n) ORDER BY m.id, m.version",
        {"space": space, "after": after, "limit": limit},
    )
    return [(MemoryRow._make(row[:-1]), row[-1]) for row in rows]


def forget_all(tx: Tx, space: int) -> None:
    """Remove every memory of a space at once."""
    tx.run("UPDATE space SET epoch = epoch + 1 WHERE number = :space", {"space": space})
    for table in ("tag", "feedback", "link", "memory"):
        tx.run(f"DELETE FROM {table} WHERE space = :space", {"space": space})
    tx.index.clear(space)


def decode(row: MemoryRow) -> Memory:
    """The memory that a row of COLUMNS holds."""
    return Memory(
        id=row.id,
        version=row.version,
        content=_content(row.form, row.text, row.content),
        text=row.text,
        mime=row.mime,
        kind=row.kind,
        tags=tuple(json.loads(row.tags)) if row.tags != "[]" else (),
        metadata=row.metadata_value,
        importance=row.importance,
        scope=row.scope,
        source=row.source,
        origin=row.origin,
        said_at=times.from_micros(row.said_at),
        created_at=times.from_micros(row.created_at),
        updated_at=times.from_micros(row.recorded_at),
        expires_at=_moment(row.expires_at),
        valid_to=_moment(row.valid_to),
        superseded_by=row.superseded_by,
    )


def decode_revision(row: MemoryRow) -> Revision:
    """The step in a memory's life that a row of COLUMNS records."""
    memory = decode(row)
    return Revision(
        version=memory.version,
        action=row.action,
        at=memory.updated_at,
        reason=row.reason,
        memory=memory,
    )


def record_of(tx: Tx, space: int, row: MemoryRow) -> Record:
    """The record that would write this version again, with its vector and words."""
    vector, terms = tx.index.read(space, row.seq)
    return Record(
        id=row.id,
        kind=row.kind,
        form=row.form,
        mime=row.mime,
        text=row.text,
        content=row.content,
        tags=tuple(json.loads(row.tags)),
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


def _append(
    tx: Tx, space: int, records: Sequence[Record], versions: Sequence[int], action: Action, *, now: int
) -> list[MemoryRow]:
    """Write one row a record under fresh sequence numbers, with its trace and tags."""
    first = tx.take(space, len(records))
    rows = [
        _row(record, seq=first + i, version=number, action=action, now=now)
        for i, (record, number) in enumerate(zip(records, versions, strict=True))
    ]
    tx.many(_INSERT, (dict(zip(_NAMES, row, strict=True), space=space) for row in rows))
    tx.index.add(space, [_indexed(record, first + i) for i, record in enumerate(records)])
    tx.many(
        _INSERT_TAG,
        ({"space": space, "tag": tag, "seq": first + i} for i, record in enumerate(records) for tag in record.tags),
    )
    return rows


def _row(record: Record, *, seq: int, version: int, action: Action, now: int) -> MemoryRow:
    return MemoryRow(
        seq, record.id, version, action, record.reason, record.kind, record.form, record.mime, record.importance,
        record.scope.user, record.scope.agent, record.scope.session, record.source, record.said_at,
        record.created_at, now, None, record.expires_at, record.valid_to, record.superseded_by, record.origin,
        json.dumps(record.tags, ensure_ascii=False) if record.tags else "[]", record.metadata, record.text,
        record.content.encode() if isinstance(record.content, str) else record.content,
    )  # fmt: skip


def _indexed(record: Record, seq: int) -> Indexed:
    closed = record.valid_to is not None
    head = trace.head(kind=record.kind, scope=record.scope, expires_at=record.expires_at, closed=closed)
    return Indexed(seq, head, closed, record.vector, record.terms)


def close(tx: Tx, space: int, id: str, *, by: Record, reason: str | None, now: int) -> None:
    """Close a memory because `by` takes its place: a new version with an end and a pointer."""
    old = current(tx, space, id, now=now)
    if (before := decode(old)).superseded_by is not None:
        raise Conflict(
            f"memory {id!r} was superseded by {before.superseded_by!r} already: supersede that one",
            current=before.version,
        )
    closed = replace(record_of(tx, space, old), valid_to=by.said_at, superseded_by=by.id, reason=reason, supersedes=())
    revise(tx, space, old, closed, action="superseded", now=now)
    at = times.from_micros(now)
    links.put(tx, space, [Link(id=by.id, relation="supersedes", other=id, at=at, reason=reason)])


def shut(tx: Tx, space: int, id: str, *, action: Action, reason: str, now: int) -> MemoryRow | None:
    """Take a memory out of recall with nothing in its place; None if it is out already."""
    rows = currents(tx, space, [id])
    if not rows or decode(rows[0]).valid_to is not None:
        return None
    (old,) = rows
    closed = replace(record_of(tx, space, old), valid_to=now, superseded_by=None, reason=reason, supersedes=())
    return revise(tx, space, old, closed, action=action, now=now)


def confine(tx: Tx, space: int, id: str, *, reason: str, now: int) -> bool:
    """Put a memory in quarantine, one that is closed already as well; False if it is not there."""
    rows = currents(tx, space, [id])
    for old in rows:
        ended = decode(old).valid_to
        end = now if ended is None else times.to_micros(ended)
        closed = replace(record_of(tx, space, old), valid_to=end, superseded_by=None, reason=reason, supersedes=())
        revise(tx, space, old, closed, action="quarantined", now=now)
    return bool(rows)


def reopen(tx: Tx, space: int, id: str, *, reason: str, now: int) -> None:
    """Let a closed memory stand again, whatever closed it."""
    for old in currents(tx, space, [id]):
        opened = replace(record_of(tx, space, old), valid_to=None, superseded_by=None, reason=reason, supersedes=())
        revise(tx, space, old, opened, action="reopened", now=now)


def quarantined(tx: Tx, space: int, ids: Sequence[str]) -> set[str]:
    """Those of these memories that are in quarantine, whatever else was done to them since."""
    if not ids:
        return set()
    rows = tx.run(
        f"SELECT id, action FROM memory WHERE space = :space AND {tx.dialect.among('id', ':ids', 'text')}"
        " AND action IN ('quarantined', 'reopened') ORDER BY id, version",
        {"space": space, "ids": json.dumps(list(ids))},
    )
    last: dict[str, str] = {row[0]: row[1] for row in rows}
    return {id for id, action in last.items() if action == "quarantined"}


def _content(form: str, text: str, content: Any) -> Content:
    if form == "json":
        loaded: Content = json.loads(content)
        return loaded
    if content is None:
        return text
    return content.decode() if form == "text" and isinstance(content, bytes) else content


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else times.from_micros(micros)


def counts_by_kind(tx: Tx, where: Where) -> Mapping[str, int]:
    """How many memories of each kind the condition holds for."""
    rows = tx.run(f"SELECT m.kind, count(*) FROM memory m WHERE {where.sql} GROUP BY m.kind", where.params)
    return {str(kind): count for kind, count in rows}


def count_versions(tx: Tx, space: int) -> int:
    """How many versions the space keeps of all its memories."""
    return int(tx.run("SELECT count(*) FROM memory WHERE space = :space", {"space": space})[0][0])


def all_feedback(tx: Tx, space: int) -> list[FeedbackRow]:
    """Return every memory's feedback."""
    rows = tx.run(
        "SELECT id, used, ignored, wrong, confirmed, last_at FROM feedback WHERE space = :space ORDER BY id",
        {"space": space},
    )
    return [FeedbackRow._make(row) for row in rows]


def restore_feedback(tx: Tx, space: int, row: FeedbackRow) -> bool:
    """Put back one row of `all_feedback`; False if the memory has feedback already."""
    if not tx.run(_CURRENT, {"space": space, "id": row.id}):
        return False
    rows = tx.run(
        "INSERT INTO feedback (space, id, used, ignored, wrong, confirmed, last_at)"
        " VALUES (:space, :id, :used, :ignored, :wrong, :confirmed, :last_at) ON CONFLICT DO NOTHING RETURNING id",
        {"space": space, **row._asdict()},
    )
    return bool(rows)
