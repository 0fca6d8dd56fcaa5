"""From what a caller gives to what the store writes: checked, rendered as text, ready to embed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from commonplace.errors import EmbedderFailed, InvalidInput, TooLarge
from commonplace.guard import redaction
from commonplace.models.embedders.base import Embedder
from commonplace.settings import Settings
from commonplace.store import trace
from commonplace.store.tables.memories import Record
from commonplace.values import BINARY, JSON, TEXT, Content, Draft, Json, checks, times
from commonplace.values.arrays import Floats
from commonplace.values.ids import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A content in the form that it is stored in, with the text that stands for it in search."""

    form: str
    mime: str
    text: str
    content: str | bytes | None


def body(content: Content, *, text: str | None, mime: str | None, settings: Settings) -> Body:
    """Check a content and render it: text as it is, JSON as lines, bytes by the text given with them."""
    shown = None if text is None else checks.text(text, "text", limit=settings.max_text_bytes)
    shown = None if shown is None else redaction.text(shown, settings.redact)
    kind = checks.optional_name(mime, "mime")
    if isinstance(content, str):
        stored = redaction.text(checks.text(content, "content", limit=settings.max_text_bytes), settings.redact)
        if not (stored.strip() or (shown or "").strip()):
            raise InvalidInput("the content is empty: there is nothing to remember")
        different = shown is not None and shown != stored
        return Body(
            form="text", mime=kind or TEXT, text=stored if shown is None else shown,
            content=stored if different else None,
        )  # fmt: skip
    if isinstance(content, (bytes, bytearray, memoryview)):
        return _bytes_body(bytes(content), shown, kind or BINARY, settings)
    if isinstance(content, (dict, list)):
        checks.json_text(content, "content", limit=settings.max_text_bytes)
        clean = redaction.json_value(content, settings.redact)
        encoded = checks.json_text(clean, "content", limit=settings.max_text_bytes)
        found_by = shown if shown is not None else rendered(clean, settings.max_text_bytes)
        return Body(form="json", mime=kind or JSON, text=found_by, content=encoded)
    raise InvalidInput(f"content must be text, bytes, or a JSON object or list, not {type(content).__name__}")


def _bytes_body(content: bytes, shown: str | None, mime: str, settings: Settings) -> Body:
    if len(content) > settings.max_content_bytes:
        raise TooLarge(
            f"content has {len(content):,} bytes, the limit is {settings.max_content_bytes:,}: keep it elsewhere"
        )
    return Body(form="bytes", mime=mime, text=shown or "", content=content)


def rendered(content: Json, limit: int) -> str:
    """JSON as lines of `path: value`, so that words in keys and in values are both found."""
    lines, size = [], 0
    for line in _lines(content):
        size += len(line.encode()) + 1
        if size > limit:
            raise TooLarge(f"content has more than {limit:,} bytes as text: give a shorter text= to find it by")
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
    """One draft for each content: a Draft as it is, anything else with the options."""
    if isinstance(content, Draft) and options != Draft(content=""):
        raise InvalidInput("a Draft brings its own options: set kind, tags and the rest on the Draft")
    contents: Sequence[Any] = content if isinstance(content, (list, tuple)) else [content]
    if contents is content and (options.id is not None or options.vector is not None):
        raise InvalidInput("id and vector belong to one memory: for many, pass Drafts that have their own")
    return [each if isinstance(each, Draft) else replace(options, content=each) for each in contents]


def records(
    drafts: Sequence[Draft], *, embedder: Embedder, dimension: int, settings: Settings, now: int
) -> list[Record]:
    """The records of the drafts: everything is checked before anything is embedded."""
    bodies = [body(draft.content, text=draft.text, mime=draft.mime, settings=settings) for draft in drafts]
    given = [None if draft.vector is None else checks.vector(draft.vector, dimension) for draft in drafts]
    bare = [record(draft, made, settings=settings, now=now) for draft, made in zip(drafts, bodies, strict=True)]
    return embedded(bare, given, embedder)


def record(draft: Draft, made: Body, *, settings: Settings, now: int) -> Record:
    """The record of a draft, all but its vector."""
    tags = redaction.names(checks.tags(draft.tags), settings.redact)
    source = redaction.optional_name(checks.optional_name(draft.source, "source"), settings.redact)
    return Record(
        id=new_id() if draft.id is None else redaction.key(checks.name(draft.id, "id"), "id", settings.redact),
        named=draft.id is not None,
        kind=checks.kind(draft.kind),
        form=made.form,
        mime=made.mime,
        text=made.text,
        content=made.content,
        tags=tags,
        metadata=redaction.metadata(checks.metadata(draft.metadata, limit=settings.max_text_bytes), settings.redact),
        importance=checks.share(draft.importance, "importance"),
        scope=redaction.scope(checks.scope(draft.scope), settings.redact),
        source=source,
        origin=checks.origin(draft.origin),
        said_at=now if draft.said_at is None else times.to_micros(draft.said_at),
        created_at=now,
        expires_at=times.until(now, draft.ttl),
        vector=None,
        terms=trace.terms(made.text, tags, source),
        reason=redaction.optional(draft.reason and checks.text(draft.reason, "reason", limit=10_000), settings.redact),
        supersedes=_superseded(draft),
    )


def _superseded(draft: Draft) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(checks.names(draft.supersedes, "supersedes")))
    if draft.id is not None and draft.id in ids:
        raise InvalidInput(f"memory {draft.id!r} cannot supersede itself")
    return ids


def embedded(records: list[Record], given: Sequence[Floats | None], embedder: Embedder) -> list[Record]:
    """Give the records their vectors: the caller's where given, else the embedder's; none for no text."""
    missing = [i for i, vector in enumerate(given) if vector is None and records[i].text.strip()]
    vectors = dict(zip(missing, embed(embedder, [records[i].text for i in missing]), strict=True))
    vectors.update((i, vector) for i, vector in enumerate(given) if vector is not None)
    if vectors:
        for i, half in zip(vectors, trace.halves(np.stack(list(vectors.values()))), strict=True):
            records[i].vector = half
    return records


def embed(embedder: Embedder, texts: list[str]) -> Floats:
    """One row for each text, checked: a wrong shape or number never reaches the store."""
    if not texts:
        return np.empty((0, embedder.dimension), np.float32)
    rows = np.asarray(embedder.embed(texts), np.float32)
    if rows.shape != (len(texts), embedder.dimension):
        raise EmbedderFailed(
            f"embedder {embedder.name} gave shape {rows.shape} for {len(texts)} texts,"
            f" expected ({len(texts)}, {embedder.dimension})"
        )
    if not np.isfinite(rows).all():
        raise EmbedderFailed(f"embedder {embedder.name} gave numbers that are not finite")
    return _unit(rows)


def _unit(rows: Floats) -> Floats:
    """Rows of length 1, whatever the embedder gave; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def embed_query(embedder: Embedder, query: str) -> Floats:
    """The query's vector, checked like every other."""
    row = np.asarray(embedder.embed_query(query), np.float32)
    if row.shape != (embedder.dimension,) or not np.isfinite(row).all():
        raise EmbedderFailed(
            f"embedder {embedder.name} gave shape {row.shape} for a query, or numbers that are not finite"
        )
    return _unit(row)
