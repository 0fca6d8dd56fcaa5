"""Archives: a space as records that any JSON Lines file can hold, exported and loaded again without loss."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.guard import redaction
from commonplace.memories import write
from commonplace.memories.core import Core
from commonplace.memories.forget import add_derived
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx
from commonplace.store.row import FeedbackRow, MemoryRow, pack_terms
from commonplace.store.tables import jobs, links, memories, messages, persons, versions
from commonplace.store.tables.entries import ENTRIES, EntryRow
from commonplace.store.tables.files import FILES, FileRow
from commonplace.store.tables.links import LINKS, LinkRow
from commonplace.store.tables.messages import MESSAGES, MessageRow
from commonplace.store.tables.persons import Person
from commonplace.store.tables.table import Table
from commonplace.values import ACTIONS, PARTS, RELATIONS, Action, Job, Json, Scope, checks, times
from commonplace.values.arrays import Floats

FORMAT = 1
_BATCH = 500
_NO_LIMIT = 2**62
_MARKED = 4
"""How many times longer a text may be than the limit: a redaction mark may be longer than the secret it replaces."""
_DETAIL = 16
"""The same for a link's detail: the words of a repetition as JSON, where a character may take six, and its metadata."""
_Record = dict[str, Json]
_PLAIN = (
    "id", "version", "action", "reason", "kind", "mime", "text", "importance", "source", "origin", "superseded_by"
)  # fmt: skip
_MEMORY_MOMENTS = ("said_at", "created_at", "recorded_at", "expires_at", "valid_to")
_MOMENTS = ("at", "updated_at", "expires_at", "last_at", "said_at", "created_at")
_OWNER = "scope_"
_JSON = (("link", "detail"), ("entry", "value"), ("message", "content"), ("message", "metadata"))


class _Kind(NamedTuple):
    """Records that are one row each: how they are read and written."""

    table: Table[Any]
    read: Callable[[Mapping[str, Any], Settings], Any]
    restore: Callable[[Tx, int, Any], bool]


def export_records(
    store: Store, space: int, name: str, *, vectors: bool, whose: Person | None = None
) -> Iterator[_Record]:
    """Yield a header, then jobs that wait to learn, every version of every memory, and all other records.

    Memories are read in batches, each memory whole, so that a long export blocks nobody and holds no half of one.
    With a person, only what belongs to them.
    """
    if whose is not None:
        everything = export_records(store, space, name, vectors=vectors)
        yield from _only_of(everything, store.read(partial(_find_owned, space=space, whose=whose), space))
        return
    yield {"type": "header", "commonplace": FORMAT, "space": name, "at": _iso(times.now())}
    first = store.read(partial(waiting_jobs, space=space), space)
    yield from ({"type": "job", **job.payload} for job in first)
    after = ""
    while batch := store.read(partial(versions.read_whole, space=space, after=after, limit=_BATCH), space):
        yield from (_show_memory(each.row, each.vector if vectors else None) for each in batch)
        after = batch[-1].row.id
    for kind, how in _KINDS.items():
        rows = store.read(partial(how.table.read_all, space=space), space)
        yield from (_show_row(kind, row) for row in rows if not _is_placeholder(row))
    # Messages that came during the export wait in jobs that were not there before.
    known = {job.number for job in first}
    later = store.read(partial(waiting_jobs, space=space), space)
    yield from ({"type": "job", **job.payload} for job in later if job.number not in known)


_Keys = frozenset[tuple[str, tuple[object, ...]]]
"""Tables, each with the key of a record."""


def _find_owned(tx: Tx, space: int, whose: Person) -> _Keys:
    """Return what belongs to a person, as an erasure would remove it."""
    owned = {(each.table, each.key) for each in persons.find(tx, space, whose, limit=_NO_LIMIT)}
    ids = add_derived(tx, space, tuple(str(key[0]) for table, key in owned if table == "memory"))
    said = ((link.other, link.detail.get("number")) for link in links.find_from(tx, space, ids, "said in"))
    return frozenset({*owned, *(("memory", (id,)) for id in ids), *(("message", place) for place in said)})


def _only_of(records: Iterable[_Record], owned: _Keys) -> Iterator[_Record]:
    """Yield the records of a person; links count as part of both of their memories."""
    keys = {
        "memory": ("id",), "feedback": ("id",), "entry": ("namespace", "key"), "file": ("canvas", "path"),
        "message": ("session", "number"),
    }  # fmt: skip
    for record in records:
        kind = str(record["type"])
        if kind in keys:
            table = "memory" if kind == "feedback" else kind
            wanted = (table, tuple(record[name] for name in keys[kind])) in owned
        elif kind == "link":
            wanted = any(("memory", (record[end],)) in owned for end in ("id", "other"))
        else:
            wanted = kind == "header" or any(("memory", (id,)) in owned for id in _message_ids(record))
        if wanted:
            yield record


def _show_memory(row: MemoryRow, vector: bytes | None) -> _Record:
    content = memories.decode(row).content
    out: _Record = {
        "type": "memory",
        **{name: getattr(row, name) for name in _PLAIN},
        "tags": list(row.tag_names),
        "metadata": dict(row.metadata_value),
        "user": row.scope_user,
        "agent": row.scope_agent,
        "session": row.scope_session,
        **{name: _iso(getattr(row, name)) for name in _MEMORY_MOMENTS},
    }
    if isinstance(content, bytes):
        out["base64"] = base64.b64encode(content).decode()
    elif content != row.text:
        out["content"] = content
    if vector is not None:
        out["vector"] = np.frombuffer(vector, "<f2").astype(float).tolist()
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """One version of a memory, ready to be written once it is embedded."""

    record: memories.Record
    version: int
    action: Action
    recorded_at: int


def load_records(core: Core, space: int, records: Iterable[Mapping[str, Json]]) -> int:
    """Check and embed all records, then write them in one transaction; return how many were new."""
    known: list[_Version] = []
    given: list[Floats | None] = []
    others: list[tuple[_Kind, Any]] = []
    waiting: list[_Record] = []
    dimension = core.identity().dimension
    for number, record in enumerate(records, start=1):
        try:
            kind = record["type"]
            if kind == "memory":
                known.append(_read_memory(record, core.settings))
                given.append(_read_vector(record, dimension))
            elif kind == "job":
                waiting.append(_read_job(record))
            elif kind != "header":
                how = _KINDS[str(kind)]
                others.append((how, how.read(record, core.settings)))
            elif record["commonplace"] != FORMAT:
                raise InvalidInput(f"format {record['commonplace']!r} is unknown to this version of commonplace")
        except KeyError as error:
            raise InvalidInput(f"record {number} has no field {error}: nothing was stored") from error
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"record {number} is not a record of export(): {error}") from error
        except CommonplaceError as error:
            raise InvalidInput(f"record {number}: {error}; nothing was stored") from error
    embedded = write.add_vectors([version.record for version in known], given, core.embedder)

    def work(tx: Tx) -> int:
        core.ensure_generation(tx)
        restored = [
            versions.restore(tx, space, record, version=old.version, action=old.action, recorded_at=old.recorded_at)
            for old, record in zip(known, embedded, strict=True)
        ]
        count = sum(restored) + sum(how.restore(tx, space, row) for how, row in others)
        # Messages that were here before have been learned from, or wait here to be.
        new = {old.record.id for old, fresh in zip(known, restored, strict=True) if fresh}
        return count + _adopt_jobs(tx, space, [job for job in waiting if new & set(_message_ids(job))])

    return core.store.write(work, space)


def _read_memory(record: Mapping[str, Any], settings: Settings) -> _Version:
    content = record.get("content", record["text"])
    if "base64" in record:
        content = base64.b64decode(record["base64"], validate=True)
    roomy, redact = replace(settings, max_text_bytes=_MARKED * settings.max_text_bytes), settings.redact
    made = write.make_content(content, text=record["text"], mime=record["mime"], settings=roomy)
    tags = redaction.names(checks.tags(record["tags"]), redact)
    source = redaction.optional_name(checks.optional_name(record["source"], "source"), redact)
    if record["action"] not in ACTIONS:
        raise InvalidInput(f"unknown action {record['action']!r}")
    restored = memories.Record(
        id=redaction.check_key(checks.name(record["id"], "id"), "id", redact),
        kind=checks.kind(record["kind"]),
        form=made.form,
        mime=made.mime,
        text=made.text,
        content=made.content,
        tags=tags,
        metadata=redaction.metadata(checks.metadata(record["metadata"], limit=roomy.max_text_bytes), redact),
        importance=checks.share(record["importance"], "importance"),
        scope=redaction.check_scope(
            checks.scope(Scope(user=record["user"], agent=record["agent"], session=record["session"])), redact
        ),
        source=source,
        origin=checks.origin(record["origin"]),
        said_at=_micros(record["said_at"]),
        created_at=_micros(record["created_at"]),
        expires_at=_micros_or_none(record["expires_at"]),
        valid_to=_micros_or_none(record["valid_to"]),
        superseded_by=checks.optional_name(record["superseded_by"], "superseded_by"),
        reason=_read_reason(record["reason"], settings),
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
        **({"settled": _read_progress(record["settled"])} if "settled" in record else {}),
    }


def _read_progress(record: Mapping[str, Any]) -> dict[str, Json]:
    """Return how far a job is that was exported between two of its steps."""
    progress: dict[str, Json] = {"messages": [checks.name(id, "id") for id in record["messages"]]}
    if "message" in record:
        progress["message"] = checks.name(record["message"], "id")
        progress |= {name: checks.count(record[name], name, least=0) for name in ("start", "count")}
    return progress


def _read_vector(record: Mapping[str, Any], dimension: int) -> Floats | None:
    if "vector" not in record:
        return None
    checked = checks.vector(record["vector"], dimension)
    # To the bit as it was stored: its length is 1 but for float16's rounding, which must not be undone.
    stored = np.asarray(record["vector"], np.float32)
    return stored if np.abs(stored - checked).max(initial=0.0) < 1e-3 else checked


def _is_placeholder(row: Any) -> bool:
    """Whether a row only keeps the number of an erased message."""
    return isinstance(row, MessageRow) and row.role == messages.ERASED


def _show_row(kind: str, row: Any) -> _Record:
    shown: _Record = {"type": kind}
    for name, value in row._asdict().items():
        if name in _MOMENTS:
            shown[name] = _iso(value)
        elif name.startswith(_OWNER):
            shown[name.removeprefix(_OWNER)] = value
        elif value is not None and (kind, name) in _JSON:
            shown[name] = json.loads(value)
        elif value is not None or (kind, name) not in _JSON:  # a deleted entry has no value, only a version
            shown[name] = value
    return shown


def _read_feedback(record: Mapping[str, Any], settings: Settings) -> FeedbackRow:
    counts = {name: checks.count(record[name], name) for name in ("used", "ignored", "wrong", "confirmed")}
    return FeedbackRow(checks.name(record["id"], "id"), **counts, last_at=_micros(record["last_at"]))


def _read_link(record: Mapping[str, Any], settings: Settings) -> LinkRow:
    if record["relation"] not in RELATIONS:
        raise InvalidInput(f"unknown relation {record['relation']!r}")
    detail = checks.metadata(record["detail"], limit=_DETAIL * settings.max_text_bytes)
    return LinkRow(
        id=checks.name(record["id"], "id"),
        relation=record["relation"],
        other=checks.name(record["other"], "other"),
        at=_micros(record["at"]),
        reason=_read_reason(record["reason"], settings),
        detail=redaction.metadata(detail, settings.redact),
    )


def _read_entry(record: Mapping[str, Any], settings: Settings) -> EntryRow:
    limit = settings.max_content_bytes
    return EntryRow(
        namespace=checks.name(record["namespace"], "namespace"),
        key=checks.name(record["key"], "key"),
        value=checks.json_text(record["value"], "value", limit=limit) if "value" in record else None,
        version=checks.count(record["version"], "version", least=1),
        updated_at=_micros(record["updated_at"]),
        expires_at=_micros_or_none(record["expires_at"]),
        **_read_owner(record, PARTS),
    )


def _read_owner(record: Mapping[str, Any], parts: Sequence[str]) -> dict[str, str | None]:
    """Return the columns of an owner; records of older versions have none of them."""
    if not any(part in record for part in parts):
        return {}
    return {f"{_OWNER}{part}": checks.optional_name(record[part], part) for part in parts}


def _read_file(record: Mapping[str, Any], settings: Settings) -> FileRow:
    content = record["content"]
    return FileRow(
        canvas=checks.name(record["canvas"], "canvas name"),
        path=checks.path(record["path"]),
        revision=checks.count(record["revision"], "revision", least=1),
        content=None if content is None else checks.text(content, "content", limit=settings.max_content_bytes),
        at=_micros(record["at"]),
        author=checks.optional_name(record["author"], "author"),
        **_read_owner(record, PARTS),
    )


def _read_message(record: Mapping[str, Any], settings: Settings) -> MessageRow:
    limit, redact = settings.max_text_bytes, settings.redact
    checks.json_text(record["content"], "content", limit=limit)
    return MessageRow(
        session=redaction.check_key(checks.name(record["session"], "session"), "session", redact),
        number=checks.count(record["number"], "number", least=1),
        role=redaction.name(checks.name(record["role"], "role"), redact),
        name=redaction.optional_name(checks.optional_name(record["name"], "name"), redact),
        content=checks.json_text(redaction.json_value(record["content"], redact), "content", limit=limit),
        metadata=redaction.metadata(checks.metadata(record["metadata"], limit=limit), redact),
        said_at=_micros(record["said_at"]),
        created_at=_micros(record["created_at"]),
        **_read_owner(record, PARTS[:2]),
    )


_KINDS = {
    "feedback": _Kind(versions.FEEDBACK, _read_feedback, versions.restore_feedback),
    "link": _Kind(LINKS, _read_link, LINKS.restore),
    "entry": _Kind(ENTRIES, _read_entry, ENTRIES.restore),
    "file": _Kind(FILES, _read_file, FILES.restore),
    "message": _Kind(MESSAGES, _read_message, MESSAGES.restore),
}


def _read_reason(reason: str | None, settings: Settings) -> str | None:
    checked = None if reason is None else checks.text(reason, "reason", limit=10_000)
    return redaction.optional_text(checked, settings.redact)


def _iso(micros: int | None) -> str | None:
    return None if micros is None else times.from_micros(micros).isoformat()


def _micros(text: str) -> int:
    return times.to_micros(times.parse(text))


def _micros_or_none(text: str | None) -> int | None:
    return None if text is None else _micros(text)


# -- jobs that wait to learn ---------------------------------------------------------------------------


def waiting_jobs(tx: Tx, space: int) -> list[Job]:
    """Return the jobs of a space that have messages to learn from, also those that failed for good."""
    return [job for job in jobs.read_all(tx, space) if job.kind == jobs.LEARN]


def _message_ids(payload: Mapping[str, Json]) -> list[str]:
    """Return the ids of a job's messages."""
    ids: Any = payload["ids"]
    return [str(id) for id in ids]


def _adopt_jobs(tx: Tx, space: int, wanted: Sequence[Mapping[str, Json]]) -> int:
    """Queue jobs for messages that are here, were not learned from yet and wait in no other job; return how many."""
    queued = {id for job in waiting_jobs(tx, space) for id in _message_ids(job.payload)}
    made = 0
    for payload in wanted:
        here = set(memories.known_ids(tx, space, _message_ids(payload)))
        ids = [id for id in _message_ids(payload) if id in here and id not in queued]
        if ids and not _is_learned(tx, space, ids, payload.get("settled")):
            jobs.add(tx, space, jobs.LEARN, {**payload, "ids": list[Json](ids)}, most=_NO_LIMIT)
            queued |= set(ids)
            made += 1
    return made


def _is_learned(tx: Tx, space: int, ids: Sequence[str], progress: Any) -> bool:
    """Tell whether anything was learned here from the messages of a job, beyond the steps that are behind it."""
    done = progress or {"messages": []}
    return any(
        link.other not in done["messages"]
        and (link.other != done.get("message") or int(str(link.detail.get("start", 0))) > done["start"])
        for link in links.find_to(tx, space, ids, "learned from")
    )


def follow_jobs(tx: Tx, space: int, theirs: Sequence[Mapping[str, Json]], *, mirror: bool) -> None:
    """Bring a copy's jobs to the state of the source's; what was learned there meanwhile has been copied."""
    still = {id for payload in theirs for id in _message_ids(payload)}
    for job in waiting_jobs(tx, space):
        ids = _message_ids(job.payload)
        learned = bool(links.find_to(tx, space, ids, "learned from"))
        if not still & set(ids) and (learned or mirror):
            jobs.finish(tx, space, job.number)
    _adopt_jobs(tx, space, theirs)
