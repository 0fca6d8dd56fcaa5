"""AutoGen's MemoryContent and a book's memories, converted in both directions without loss."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

from autogen_core import Image
from autogen_core.memory import MemoryContent, MemoryMimeType
from PIL import Image as Pillow  # comes with autogen-core

from commonplace.errors import InvalidInput
from commonplace.values import NOBODY, TEXT, Content, Draft, Hit, Scope

OURS = "commonplace"
"""The key in a result's metadata for what the book knows of the memory."""
FORM = "autogen"
"""The key in a stored memory's metadata for a form that the book's own type does not tell."""
_MIME_TYPES = {each.value: each for each in MemoryMimeType}


def make_draft(item: MemoryContent, scope: Scope) -> Draft:
    """Return the draft of a content. A picture or bytes are found by the text that metadata holds under `text`."""
    metadata = dict(item.metadata or {})
    _remove_ours(metadata)
    # A type given as text although there is a name for it comes back as text.
    plain = not isinstance(item.mime_type, MemoryMimeType) and item.mime_type in _MIME_TYPES
    if form := [name for name, so in (("image", isinstance(item.content, Image)), ("string", plain)) if so]:
        metadata[FORM] = form
    return Draft(
        content=_store(item.content),
        mime=item.mime_type.value if isinstance(item.mime_type, MemoryMimeType) else item.mime_type,
        metadata=metadata,
        scope=scope,
        text=metadata.get("text") if isinstance(item.content, bytes | Image) else None,
    )


def make_content(hit: Hit, *, avoid: bool = False) -> MemoryContent:
    """Return a hit with content and type as they were given; its metadata has the id and the score."""
    memory = hit.memory
    metadata: dict[str, Any] = dict(memory.metadata)
    form = metadata.pop(FORM, ())
    known: dict[str, Any] = {
        "id": memory.id, "version": memory.version, "kind": memory.kind, "said_at": memory.said_at.isoformat(),
        "score": hit.score, **({"avoid": True} if avoid else {}),
    }  # fmt: skip
    content: Any = memory.content
    if "image" in form and isinstance(content, bytes):
        content = Image.from_pil(Pillow.open(BytesIO(content)))
    elif isinstance(content, list):
        content = {"items": content}  # AutoGen's contents have no lists
    return MemoryContent(
        content=content,
        mime_type=memory.mime if "string" in form else _MIME_TYPES.get(memory.mime, memory.mime),
        metadata={"id": memory.id, "score": hit.score} | metadata | {OURS: known},
    )


def make_shown_content(hit: Hit, *, avoid: bool = False) -> MemoryContent:
    """Return a hit as a model sees it: bytes and pictures by their text. Events that hold bytes cannot be saved."""
    if isinstance(hit.memory.content, bytes):
        hit = replace(hit, memory=replace(hit.memory, content=hit.memory.text, mime=TEXT))
    return make_content(hit, avoid=avoid)


def make_changes(item: MemoryContent) -> dict[str, Any]:
    """Return what to revise of a memory; its metadata stays unless some is given."""
    draft = make_draft(item, NOBODY)
    changes: dict[str, Any] = {"content": draft.content, "mime": draft.mime}
    if item.metadata is not None:
        changes["metadata"] = draft.metadata
    return changes if draft.text is None else {**changes, "text": draft.text}


def query_text(query: str | MemoryContent) -> str:
    """Return the words of a query; a JSON object is rendered as a book renders one."""
    content = query.content if isinstance(query, MemoryContent) else query
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return "\n".join(_lines(content))
    raise InvalidInput("a query must be text or a JSON object, not an image or bytes")


def _lines(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, path)
    else:
        yield f"{path}: {value if isinstance(value, str) else json.dumps(value, default=str)}"


def _store(content: object) -> Content:
    if isinstance(content, Image):
        return b64decode(content.to_base64())
    if isinstance(content, str | bytes | dict):
        return content
    raise InvalidInput(f"a memory is str, bytes, dict or Image, not {type(content).__name__}")


def _remove_ours(metadata: dict[str, Any]) -> None:
    """Remove what `make_content` added, so that a result can be added again as it is."""
    known = metadata.pop(OURS, None)
    if isinstance(known, dict):
        for name in ("id", "score"):
            if name in metadata and metadata[name] == known.get(name):
                del metadata[name]
