"""Revising a memory: the changed memory becomes its next version, and the old one is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import EllipsisType

from commonplace.errors import InvalidInput
from commonplace.guard import redaction
from commonplace.memories import write
from commonplace.memories.core import Core
from commonplace.store.base import Tx
from commonplace.store.row import MemoryRow, pack_terms, pack_vectors
from commonplace.store.tables import memories
from commonplace.store.tables.memories import Record
from commonplace.values import Content, Json, Kind, Memory, checks, times
from commonplace.values.arrays import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """The fields that a caller changes; an ellipsis leaves a field as it is."""

    content: Content | EllipsisType
    kind: Kind | EllipsisType
    tags: Sequence[str] | EllipsisType
    metadata: Mapping[str, Json] | EllipsisType
    importance: float | EllipsisType
    source: str | None | EllipsisType
    said_at: datetime | EllipsisType
    ttl: float | None | EllipsisType
    text: str | EllipsisType
    mime: str | EllipsisType
    vector: Sequence[float] | Floats | EllipsisType
    reason: str | None


def revise(core: Core, space: int, id: str, change: MemoryChange, if_version: int | None) -> Memory:
    """Write the changed memory as its next version; raise Conflict if its version is not `if_version`.

    The text is embedded between a read and the write, so that no lock is held meanwhile. Without
    `if_version`, a version that another writer wrote in between is revised in turn.
    """
    name, expected = checks.name(id, "id"), checks.version(if_version)
    if all(getattr(change, field) is ... for field in MemoryChange.__slots__ if field != "reason"):
        raise InvalidInput("nothing to revise: name what changes, such as content, tags or importance")
    while True:
        try:
            return _attempt(core, space, name, change, expected)
        except _MovedOn:
            continue


class _MovedOn(Exception):
    """Another writer's version came between the read and the write; raised to undo the transaction."""


def _attempt(core: Core, space: int, id: str, change: MemoryChange, if_version: int | None) -> Memory:
    now = times.now()

    def read(tx: Tx) -> tuple[MemoryRow, Record]:
        row = memories.current(tx, space, id, now=now, if_version=if_version)
        return row, memories.record_of(tx, space, row)

    def store(tx: Tx) -> MemoryRow:
        core.ensure_generation(tx)
        row = memories.current(tx, space, id, now=now, if_version=if_version)
        if row.seq != old.seq:
            raise _MovedOn
        return memories.revise(tx, space, row, record, action="revised", now=now)

    core.identity()
    old, before = core.store.read(read, space)
    record = _change_record(core, memories.decode(old), before, change, now)
    return memories.decode(core.store.write(store, space))


def _change_record(core: Core, memory: Memory, before: Record, change: MemoryChange, now: int) -> Record:
    """Return the changed record; it is embedded again only if its text has changed."""
    after = _change_content(core, memory, before, change)
    redact = core.settings.redact
    tags = before.tags if change.tags is ... else redaction.names(checks.tags(change.tags), redact)
    limit = core.settings.max_text_bytes
    after = replace(
        after,
        tags=tags,
        kind=before.kind if change.kind is ... else checks.kind(change.kind),
        metadata=before.metadata
        if change.metadata is ...
        else redaction.metadata(checks.metadata(change.metadata, limit=limit), redact),
        importance=before.importance if change.importance is ... else checks.share(change.importance, "importance"),
        source=before.source
        if change.source is ...
        else redaction.optional_name(checks.optional_name(change.source, "source"), redact),
        said_at=before.said_at if change.said_at is ... else times.to_micros(change.said_at),
        expires_at=before.expires_at if change.ttl is ... else times.until(now, change.ttl),
        reason=redaction.optional_text(change.reason and checks.text(change.reason, "reason", limit=10_000), redact),
    )
    after = replace(after, terms=pack_terms(after.text, tags, after.source))
    if change.vector is not ...:
        (vector,) = pack_vectors(checks.vector(change.vector, core.identity().dimension)[None, :])
        return replace(after, vector=vector)
    if after.text == before.text:
        return after
    return write.add_vectors([replace(after, vector=None)], [None], core.embedder)[0]


def _change_content(core: Core, memory: Memory, before: Record, change: MemoryChange) -> Record:
    if change.content is ... and change.text is ... and change.mime is ...:
        return before
    text = None if change.text is ... else change.text
    mime = None if change.mime is ... else change.mime
    if change.content is ...:
        content = memory.content
        # A text that the caller gave stays; one that was rendered from the content is rendered again.
        text = memory.text if text is None and before.content is not None else text
        mime = mime or memory.mime
    else:
        content = change.content
        mime = memory.mime if mime is None and isinstance(content, str) and before.form == "text" else mime
        if text is None and isinstance(content, (bytes, bytearray)):
            raise InvalidInput("new bytes need a new text=, which recall searches instead of them")
    made = write.make_content(content, text=text, mime=mime, settings=core.settings)
    return replace(before, form=made.form, mime=made.mime, text=made.text, content=made.content)
