"""Writing memories: contents are checked, rendered as text, embedded, and stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from commonplace.errors import InvalidInput, TooLarge
from commonplace.guard import redaction
from commonplace.memories.core import Core, Place, embed
from commonplace.models.embedders.base import Embedder
from commonplace.settings import Settings
from commonplace.store.row import pack_terms, pack_vectors
from commonplace.store.tables import memories
from commonplace.store.tables.memories import Record
from commonplace.values import BINARY, JSON, TEXT, Content, Draft, Json, Memory, checks, times
from commonplace.values.arrays import Floats
from commonplace.values.times import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContent:
    """A content as it is stored, with the text that recall finds it by."""

    form: str
    mime: str
    text: str
    content: str | bytes | None


def make_content(content: Content, *, text: str | None, mime: str | None, settings: Settings) -> StoredContent:
    """Check a content and render it as text: JSON as lines, bytes by the text given with them."""
    shown = None if text is None else checks.text(text, "text", limit=settings.max_text_bytes)
    shown = None if shown is None else redaction.redact_text(shown, settings.redact)
    kind = checks.optional_name(mime, "mime")
    if isinstance(content, str):
        stored = redaction.redact_text(checks.text(content, "content", limit=settings.max_text_bytes), settings.redact)
        if not (stored.strip() or (shown or "").strip()):
            raise InvalidInput("the content is empty: there is nothing to remember")
        different = shown is not None and shown != stored
        return StoredContent(
            form="text", mime=kind or TEXT, text=stored if shown is None else shown,
            content=stored if different else None,
        )  # fmt: skip
    if isinstance(content, (bytes, bytearray, memoryview)):
        if len(raw := bytes(content)) > settings.max_content_bytes:
            raise TooLarge(
                f"content has {len(raw):,} bytes, the limit is {settings.max_content_bytes:,}: keep it elsewhere"
            )
        return StoredContent(form="bytes", mime=kind or BINARY, text=shown or "", content=raw)
    if isinstance(content, (dict, list)):
        checks.json_text(content, "content", limit=settings.max_text_bytes)
        clean = redaction.json_value(content, settings.redact)
        encoded = checks.json_text(clean, "content", limit=settings.max_text_bytes)
        found_by = shown if shown is not None else render_json(clean, settings.max_text_bytes)
        return StoredContent(form="json", mime=kind or JSON, text=found_by, content=encoded)
    raise InvalidInput(f"content must be text, bytes, or a JSON object or list, not {type(content).__name__}")


def render_json(content: Json, limit: int) -> str:
    """Write JSON as lines of `path: value`, so that recall finds words in keys and in values."""
    lines, size = [], 0
    for line in _lines(content):
        size += len(line.encode()) + 1
        if size > limit:
            raise TooLarge(f"content has more than {limit:,} bytes as text: pass a shorter text= for recall to search")
        lines.append(line)
    return "\n".join(lines)


def _lines(value: Json, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, path)
    else:
        shown = value if isinstance(value, str) else json.dumps(value)
        yield f"{path}: {shown}" if path else shown


def expand(content: Content | Draft | Sequence[Content | Draft], options: Draft) -> list[Draft]:
    """Return one draft for each content: a Draft as it is, anything else with the options."""
    if isinstance(content, Draft) and options != Draft(content=""):
        raise InvalidInput("a Draft has its own options: set kind, tags and the rest on the Draft")
    contents: Sequence[Any] = content if isinstance(content, (list, tuple)) else [content]
    if contents is content and (options.id is not None or options.vector is not None):
        raise InvalidInput("id and vector belong to one memory: for many, pass Drafts that have their own")
    return [each if isinstance(each, Draft) else replace(options, content=each) for each in contents]


def remember(core: Core, place: Place, drafts: Sequence[Draft]) -> list[Memory]:
    """Store each draft as a new memory, all or nothing."""
    records = make_records(core, drafts, now=times.now())
    space = place.make()
    work = partial(memories.insert, space=space, records=records, generation=core.identity().generation)
    return [memories.decode(row) for row in core.store.write(work, space)]


def make_records(core: Core, drafts: Sequence[Draft], *, now: int) -> list[Record]:
    """Return the records of the drafts; everything is checked before anything is embedded."""
    dimension = core.identity().dimension
    given = [None if draft.vector is None else checks.vector(draft.vector, dimension) for draft in drafts]
    records = [_make_record(draft, settings=core.settings, now=now) for draft in drafts]
    return add_vectors(records, given, core.embedder)


def _make_record(draft: Draft, *, settings: Settings, now: int) -> Record:
    """Return the record of a draft, still without its vector."""
    made = make_content(draft.content, text=draft.text, mime=draft.mime, settings=settings)
    # Most drafts have neither; skipping the checks of nothing pays in batches.
    supersedes = () if draft.supersedes == () else tuple(dict.fromkeys(checks.names(draft.supersedes, "supersedes")))
    if draft.id is not None and draft.id in supersedes:
        raise InvalidInput(f"memory {draft.id!r} cannot supersede itself")
    tags = () if draft.tags == () else redaction.names(checks.tags(draft.tags), settings.redact)
    source = redaction.optional_name(checks.optional_name(draft.source, "source"), settings.redact)
    return Record(
        id=new_id() if draft.id is None else redaction.check_key(checks.name(draft.id, "id"), "id", settings.redact),
        named=draft.id is not None,
        kind=checks.kind(draft.kind),
        form=made.form,
        mime=made.mime,
        text=made.text,
        content=made.content,
        tags=tags,
        metadata=redaction.metadata(checks.metadata(draft.metadata, limit=settings.max_text_bytes), settings.redact),
        importance=checks.share(draft.importance, "importance"),
        scope=redaction.check_scope(checks.scope(draft.scope), settings.redact),
        source=source,
        origin=checks.origin(draft.origin),
        said_at=now if draft.said_at is None else times.to_micros(draft.said_at),
        created_at=now,
        expires_at=times.until(now, draft.ttl),
        vector=None,
        terms=pack_terms(made.text, tags, source),
        reason=redaction.optional_text(
            draft.reason and checks.text(draft.reason, "reason", limit=10_000), settings.redact
        ),
        supersedes=supersedes,
    )


def add_vectors(records: list[Record], given: Sequence[Floats | None], embedder: Embedder) -> list[Record]:
    """Set the records' vectors: the caller's where given, else the embedder's; none for an empty text."""
    missing = [i for i, vector in enumerate(given) if vector is None and records[i].text.strip()]
    vectors = dict(zip(missing, embed(embedder, [records[i].text for i in missing]), strict=True))
    vectors.update((i, vector) for i, vector in enumerate(given) if vector is not None)
    if vectors:
        for i, half in zip(vectors, pack_vectors(np.stack(list(vectors.values()))), strict=True):
            records[i].vector = half
    return records
