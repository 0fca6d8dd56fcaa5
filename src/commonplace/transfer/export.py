"""A space as records that any JSON Lines file can hold, out and in again without loss."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.guard import redaction
from commonplace.learn import ingest
from commonplace.memories import write
from commonplace.memories.core import Core
from commonplace.settings import Redact
from commonplace.store.base import Store, Tx
from commonplace.store.row import FeedbackRow, MemoryRow, pack_terms
from commonplace.store.tables import entries, files, links, memories, messages, versions
from commonplace.store.tables.entries import EntryRow
from commonplace.store.tables.files import FileRow
from commonplace.store.tables.links import LinkRow
from commonplace.store.tables.messages import MessageRow
from commonplace.values import ACTIONS, RELATIONS, Action, Job, Json, Scope, checks, times
from commonplace.values.arrays import Floats

FORMAT = 1
_BATCH = 500
_MARKED = 4
_DETAIL = 16
"""Times the size of a text that a link may tell of a repetition: its words as JSON, where a character may take six, and
its metadata beside them."""
_Record = dict[str, Json]


def export(store: Store, space: int, name: str, *, vectors: bool) -> Iterator[_Record]:
    """A header, then what waits to be learned, every version of every memory, feedback, entries, files and messages.

    Memories are read in batches, each memory whole, so that a long export blocks nobody and holds no half of one.
    """
    yield {"type": "header", "commonplace": FORMAT, "space": name, "at": _iso(times.now())}
    first = store.read(partial(ingest.waiting_jobs, space=space), space)
    yield from map(_job, first)
    yield from _memories(store, space, vectors)
    parts: tuple[tuple[Callable[..., Sequence[Any]], Callable[[Any], _Record]], ...] = (
        (versions.FEEDBACK.read_all, _feedback),
        (links.LINKS.read_all, _link),
        (entries.ENTRIES.read_all, _entry),
        (files.FILES.read_all, _file),
        (messages.MESSAGES.read_all, _message),
    )
    for read, shown in parts:
        for row in store.read(partial(read, space=space), space):
            yield shown(row)
    # What was said during the export waits in jobs that the first look could not see.
    known = {job.number for job in first}
    later = store.read(partial(ingest.waiting_jobs, space=space), space)
    yield from (_job(job) for job in later if job.number not in known)


def _job(job: Job) -> _Record:
    return {"type": "job", **job.payload}


def _memories(store: Store, space: int, vectors: bool) -> Iterator[_Record]:
    after = ""
    while batch := store.read(partial(versions.read_whole, space=space, after=after, limit=_BATCH), space):
        for each in batch:
            yield _memory(each.row, each.vector if vectors else None)
        after = batch[-1].row.id


def _memory(row: MemoryRow, vector: bytes | None) -> _Record:
    memory = memories.decode(row)
    out: _Record = {
        "type": "memory",
        "id": memory.id,
        "version": memory.version,
        "action": row.action,
        "reason": row.reason,
        "kind": memory.kind,
        "mime": memory.mime,
        "text": memory.text,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "importance": memory.importance,
        "user": memory.scope.user,
        "agent": memory.scope.agent,
        "session": memory.scope.session,
        "source": memory.source,
        "origin": memory.origin,
        "said_at": memory.said_at.isoformat(),
        "created_at": memory.created_at.isoformat(),
        "recorded_at": memory.updated_at.isoformat(),
        "expires_at": _iso_or_none(memory.expires_at),
        "valid_to": _iso_or_none(memory.valid_to),
        "superseded_by": memory.superseded_by,
    }
    if isinstance(memory.content, bytes):
        out["base64"] = base64.b64encode(memory.content).decode()
    elif memory.content != memory.text:
        out["content"] = memory.content
    if vector is not None:
        out["vector"] = np.frombuffer(vector, "<f2").astype(float).tolist()
    return out


def _feedback(row: FeedbackRow) -> _Record:
    return {"type": "feedback", **row._asdict(), "last_at": _iso(row.last_at)}


def _link(row: LinkRow) -> _Record:
    return {"type": "link", **row._asdict(), "at": _iso(row.at), "detail": json.loads(row.detail)}


def _entry(row: EntryRow) -> _Record:
    out: _Record = {
        "type": "entry", "namespace": row.namespace, "key": row.key, "version": row.version,
        "updated_at": _iso(row.updated_at), "expires_at": None if row.expires_at is None else _iso(row.expires_at),
    }  # fmt: skip
    # A deleted entry has no value: only its version stays.
    return out if row.value is None else {**out, "value": json.loads(row.value)}


def _file(row: FileRow) -> _Record:
    return {"type": "file", **row._asdict(), "at": _iso(row.at)}


def _message(row: MessageRow) -> _Record:
    return {
        "type": "message", **row._asdict(), "content": json.loads(row.content), "metadata": json.loads(row.metadata),
        "said_at": _iso(row.said_at), "created_at": _iso(row.created_at),
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """One version of a memory, ready to be put back once it is embedded."""

    record: memories.Record
    version: int
    action: Action
    recorded_at: int


_Restore = Callable[[Tx, int], bool]


def load(core: Core, space: int, records: Iterable[Mapping[str, Json]]) -> int:
    """Check and embed everything first, then put it back in one transaction; returns how many were new."""
    known: list[_Version] = []
    given: list[Floats | None] = []
    others: list[_Restore] = []
    waiting: list[dict[str, Json]] = []
    dimension = core.identity().dimension
    for number, record in enumerate(records, start=1):
        try:
            kind = record["type"]
            if kind == "memory":
                known.append(_read_memory(core, record))
                given.append(_read_vector(record, dimension))
            elif kind == "job":
                waiting.append(_read_job(record))
            elif kind != "header":
                others.append(_READERS[str(kind)](core, record))
            elif record["commonplace"] != FORMAT:
                raise InvalidInput(f"format {record['commonplace']!r} is not known to this commonplace")
        except KeyError as error:
            raise InvalidInput(f"record {number} has no field {error}: nothing was taken in") from error
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"record {number} is not one that export() gives: {error}") from error
        except CommonplaceError as error:
            raise InvalidInput(f"record {number}: {error}; nothing was taken in") from error
    embedded = write.add_vectors([version.record for version in known], given, core.embedder)

    def work(tx: Tx) -> int:
        core.ensure_generation(tx)
        restored = [
            versions.restore(tx, space, record, version=old.version, action=old.action, recorded_at=old.recorded_at)
            for old, record in zip(known, embedded, strict=True)
        ]
        count = sum(restored) + sum(restore(tx, space) for restore in others)
        # What was here before was learned from here, or waits here to be.
        new = {old.record.id for old, fresh in zip(known, restored, strict=True) if fresh}
        return count + ingest.adopt_jobs(tx, space, [job for job in waiting if new & set(ingest.message_ids(job))])

    return core.store.write(work, space)


def _read_memory(core: Core, record: Mapping[str, Any]) -> _Version:
    content = record.get("content", record["text"])
    if "base64" in record:
        content = base64.b64decode(record["base64"], validate=True)
    # A mark may be longer than the secret in whose place it stands: what was stored must come back all the same.
    roomy = replace(core.settings, max_text_bytes=_MARKED * core.settings.max_text_bytes)
    made = write.make_content(content, text=record["text"], mime=record["mime"], settings=roomy)
    redact = core.settings.redact
    tags = redaction.names(checks.tags(record["tags"]), redact)
    source = redaction.optional_name(checks.optional_name(record["source"], "source"), redact)
    if record["action"] not in ACTIONS:
        raise InvalidInput(f"unknown action {record['action']!r}")
    restored = memories.Record(
        id=redaction.key(checks.name(record["id"], "id"), "id", redact),
        kind=checks.kind(record["kind"]),
        form=made.form,
        mime=made.mime,
        text=made.text,
        content=made.content,
        tags=tags,
        metadata=redaction.metadata(checks.metadata(record["metadata"], limit=roomy.max_text_bytes), redact),
        importance=checks.share(record["importance"], "importance"),
        scope=redaction.scope(
            checks.scope(Scope(user=record["user"], agent=record["agent"], session=record["session"])), redact
        ),
        source=source,
        origin=checks.origin(record["origin"]),
        said_at=_micros(record["said_at"]),
        created_at=_micros(record["created_at"]),
        expires_at=_micros_or_none(record["expires_at"]),
        valid_to=_micros_or_none(record["valid_to"]),
        superseded_by=checks.optional_name(record["superseded_by"], "superseded_by"),
        reason=_read_reason(record["reason"], redact),
        vector=None,
        terms=pack_terms(made.text, tags, source),
    )
    return _Version(
        record=restored,
        version=checks.count(record["version"], "version", least=1),
        action=record["action"],
        recorded_at=_micros(record["recorded_at"]),
    )


def _read_job(record: Mapping[str, Any]) -> dict[str, Json]:
    scope = checks.scope(Scope(user=record["user"], agent=record["agent"]))
    return {
        "session": checks.name(record["session"], "session"),
        "first": checks.count(record["first"], "first", least=1),
        "ids": [checks.name(id, "id") for id in record["ids"]],
        "user": scope.user,
        "agent": scope.agent,
        "tags": list(checks.tags(record["tags"])),
    }


def _read_vector(record: Mapping[str, Any], dimension: int) -> Floats | None:
    if "vector" not in record:
        return None
    checked = checks.vector(record["vector"], dimension)
    # As it was stored, to the bit: its length is 1 but for float16's rounding, which must not be undone.
    stored = np.asarray(record["vector"], np.float32)
    return stored if np.abs(stored - checked).max(initial=0.0) < 1e-3 else checked


def _read_reason(reason: str | None, redact: Redact) -> str | None:
    return redaction.optional(None if reason is None else checks.text(reason, "reason", limit=10_000), redact)


def _read_feedback(core: Core, record: Mapping[str, Any]) -> _Restore:
    counts = {name: checks.count(record[name], name) for name in ("used", "ignored", "wrong", "confirmed")}
    row = FeedbackRow(checks.name(record["id"], "id"), **counts, last_at=_micros(record["last_at"]))
    return lambda tx, space: versions.restore_feedback(tx, space, row)


def _read_link(core: Core, record: Mapping[str, Any]) -> _Restore:
    if record["relation"] not in RELATIONS:
        raise InvalidInput(f"unknown relation {record['relation']!r}")
    limit = _DETAIL * core.settings.max_text_bytes
    row = LinkRow(
        checks.name(record["id"], "id"),
        record["relation"],
        checks.name(record["other"], "other"),
        _micros(record["at"]),
        _read_reason(record["reason"], core.settings.redact),
        redaction.metadata(checks.metadata(record["detail"], limit=limit), core.settings.redact),
    )
    return lambda tx, space: links.LINKS.restore(tx, space, row)


def _read_entry(core: Core, record: Mapping[str, Any]) -> _Restore:
    limit = core.settings.max_content_bytes
    row = EntryRow(
        checks.name(record["namespace"], "namespace"),
        checks.name(record["key"], "key"),
        checks.json_text(record["value"], "value", limit=limit) if "value" in record else None,
        checks.count(record["version"], "version", least=1),
        _micros(record["updated_at"]),
        _micros_or_none(record["expires_at"]),
    )
    return lambda tx, space: entries.ENTRIES.restore(tx, space, row)


def _read_file(core: Core, record: Mapping[str, Any]) -> _Restore:
    content = record["content"]
    row = FileRow(
        checks.name(record["canvas"], "canvas name"),
        checks.path(record["path"]),
        checks.count(record["revision"], "revision", least=1),
        None if content is None else checks.text(content, "content", limit=core.settings.max_content_bytes),
        _micros(record["at"]),
        checks.optional_name(record["author"], "author"),
    )
    return lambda tx, space: files.FILES.restore(tx, space, row)


def _read_message(core: Core, record: Mapping[str, Any]) -> _Restore:
    limit, redact = core.settings.max_text_bytes, core.settings.redact
    checks.json_text(record["content"], "content", limit=limit)
    row = MessageRow(
        redaction.key(checks.name(record["session"], "session"), "session", redact),
        checks.count(record["number"], "number", least=1),
        redaction.name(checks.name(record["role"], "role"), redact),
        redaction.optional_name(checks.optional_name(record["name"], "name"), redact),
        checks.json_text(redaction.json_value(record["content"], redact), "content", limit=limit),
        redaction.metadata(checks.metadata(record["metadata"], limit=limit), redact),
        _micros(record["said_at"]),
        _micros(record["created_at"]),
    )
    return lambda tx, space: messages.MESSAGES.restore(tx, space, row)


_READERS: dict[str, Callable[[Core, Mapping[str, Any]], _Restore]] = {
    "feedback": _read_feedback,
    "link": _read_link,
    "entry": _read_entry,
    "file": _read_file,
    "message": _read_message,
}


def _iso(micros: int) -> str:
    return times.from_micros(micros).isoformat()


def _iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _micros(text: str) -> int:
    return times.to_micros(times.parse(text))


def _micros_or_none(text: str | None) -> int | None:
    return None if text is None else _micros(text)
