"""AutoGen's MemoryContent and a book's memories, from one to the other without loss."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from typing import Any

from autogen_core import Image
from autogen_core.memory import MemoryContent, MemoryMimeType
from PIL import Image as Pillow  # comes with autogen-core

from commonplace.errors import InvalidInput
from commonplace.memories.write import make_content
from commonplace.settings import Settings
from commonplace.values import NOBODY, TEXT, Content, Draft, Hit, Memory, Scope

OURS = "commonplace"
"""The key in a result's metadata under which the book tells what it knows of the memory."""
FORM = "autogen"
"""The key in a stored memory's metadata under which its form stands, where the book's own type does not tell it."""


def draft(item: MemoryContent, scope: Scope) -> Draft:
    """What to remember. A picture or bytes are found by the text that metadata holds under `text`."""
    given = dict(item.metadata or {})
    _drop_ours(given)
    form = [name for name, so in (("image", isinstance(item.content, Image)), ("string", _is_plain(item))) if so]
    if form:
        given[FORM] = form
    shown = given.get("text") if isinstance(item.content, bytes | Image) else None
    return Draft(
        content=_stored(item.content), mime=mime_of(item), metadata=given, scope=scope, text=shown, origin="user"
    )


def restored(memory: Memory, **known: Any) -> MemoryContent:
    """A memory as AutoGen knows it: content and type as they were given, and in its metadata the id."""
    metadata: dict[str, Any] = dict(memory.metadata)
    form = metadata.pop(FORM, ())
    told = {"id": memory.id, "version": memory.version, "kind": memory.kind, "said_at": memory.said_at.isoformat()}
    told |= known
    metadata = {name: told[name] for name in ("id", "score") if name in told} | metadata | {OURS: told}
    content: Any = memory.content
    if "image" in form and isinstance(content, bytes):
        content = Image.from_pil(Pillow.open(BytesIO(content)))
    elif isinstance(content, list):
        content = {"items": content}  # AutoGen's contents have no lists
    return MemoryContent(content=content, mime_type=_mime(memory.mime, form), metadata=metadata)


def found(hit: Hit, *, avoid: bool = False) -> MemoryContent:
    """A hit as AutoGen knows it, with its score, and with `avoid` if it is a warning."""
    known: dict[str, Any] = {"score": hit.score, **({"avoid": True} if avoid else {})}
    return restored(hit.memory, **known)


def shown(hit: Hit, *, avoid: bool = False) -> MemoryContent:
    """A hit as it stands before a model: of bytes and pictures their text. Events that hold bytes cannot be saved."""
    if not isinstance(hit.memory.content, bytes):
        return found(hit, avoid=avoid)
    return found(replace(hit, memory=replace(hit.memory, content=hit.memory.text, mime=TEXT)), avoid=avoid)


def change(item: MemoryContent) -> dict[str, Any]:
    """What to revise of a memory; its metadata stays unless some is given."""
    made = draft(item, NOBODY)
    given: dict[str, Any] = {"content": made.content, "mime": made.mime}
    given |= {"metadata": made.metadata} if item.metadata is not None else {}
    return given | ({"text": made.text} if made.text is not None else {})


def mime_of(item: MemoryContent) -> str:
    """The MIME type as text, however it was given."""
    return item.mime_type.value if isinstance(item.mime_type, MemoryMimeType) else item.mime_type


def text_of(query: str | MemoryContent) -> str:
    """The words of a query."""
    content = query.content if isinstance(query, MemoryContent) else query
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return make_content(_stored(content), text=None, mime=None, settings=Settings()).text
    raise InvalidInput("ask with text or a JSON object; a picture or bytes ask nothing")


def _stored(content: object) -> Content:
    if isinstance(content, Image):
        return b64decode(content.to_base64())
    if isinstance(content, str | bytes | dict):
        return content
    raise InvalidInput(f"a memory is str, bytes, dict or Image, not {type(content).__name__}")


def _is_plain(item: MemoryContent) -> bool:
    """Whether the type was given as text although there is a name for it: it comes back as it was given."""
    return not isinstance(item.mime_type, MemoryMimeType) and item.mime_type in {each.value for each in MemoryMimeType}


def _mime(mime: str, form: Any) -> MemoryMimeType | str:
    known = {each.value: each for each in MemoryMimeType}
    return mime if "string" in form else known.get(mime, mime)


def _drop_ours(metadata: dict[str, Any]) -> None:
    """Leave out what `restored` added, so that a result can be added again as it is."""
    told = metadata.pop(OURS, None)
    if isinstance(told, dict):
        for name in ("id", "score"):
            if name in metadata and metadata[name] == told.get(name):
                del metadata[name]
