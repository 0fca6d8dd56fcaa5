"""What a model is asked, as JSON that is the same in every process, and how two such requests differ."""

from __future__ import annotations

import difflib
import hashlib
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autogen_core import Image
from autogen_core.models import LLMMessage
from pydantic_core import to_jsonable_python

Request = dict[str, Any]

# What a record of AutoGen's own recorder lacks is not compared.
FIELDS = ("mode", "messages", "tools", "tool_choice", "json_output", "extra_create_args")
_WIDTH = 100
_MOST_LINES = 80


def request(mode: str, messages: Sequence[LLMMessage], arguments: Mapping[str, Any]) -> Request:
    """Everything that decides what a model answers; an image by its pixels, a tool by its schema."""
    choice, output = arguments["tool_choice"], arguments["json_output"]
    return {
        "mode": mode,
        "messages": [_message(message) for message in messages],
        "tools": [_json(tool if isinstance(tool, Mapping) else tool.schema) for tool in arguments["tools"]],
        "tool_choice": choice if isinstance(choice, str) else {"name": choice.name},
        "json_output": output if output is None or isinstance(output, bool) else output.model_json_schema(),
        "extra_create_args": _json(arguments["extra_create_args"]),
    }


def difference(recorded: Mapping[str, Any], asked: Request) -> str | None:
    """How a request differs from the recorded one, for a person to read; None where it does not."""
    known = [field for field in FIELDS if field in recorded]
    before = _comparable({field: recorded[field] for field in known})
    after = _comparable({field: asked[field] for field in known})
    if before == after:
        return None
    # White space that no reader sees is told by the second form.
    shown = _diff(list(_lines(before)), list(_lines(after))) or _diff(_exact(before), _exact(after))
    left = len(shown) - _MOST_LINES
    return "\n".join(shown[:_MOST_LINES] + ([f"… and {left} more lines"] if left > 0 else []))


def _diff(before: list[str], after: list[str]) -> list[str]:
    return list(difflib.unified_diff(before, after, "recorded", "asked", lineterm=""))


def _exact(value: Any) -> list[str]:
    return json.dumps(value, indent=2, sort_keys=True).splitlines()


def _message(message: LLMMessage) -> dict[str, Any]:
    # An image would be encoded anew with every turn, and each version of the encoder writes other bytes.
    content = message.content
    if isinstance(content, list) and any(isinstance(part, Image) for part in content):
        rest = message.model_dump(mode="json", exclude={"content"})
        parts = [_pixels(part) if isinstance(part, Image) else _json(part) for part in content]
        return {"content": parts, **rest}
    return dict(message.model_dump(mode="json"))


def _pixels(image: Image) -> dict[str, Any]:
    pixels = image.image
    digest = hashlib.sha256(f"{pixels.mode} {pixels.size}".encode() + pixels.tobytes()).hexdigest()
    return {"image": f"{pixels.width} x {pixels.height}", "sha256": digest}


def _image(data: str) -> dict[str, Any] | None:
    """An image that AutoGen's recorder kept whole; None for what is only named as such."""
    try:
        return _pixels(Image.from_base64(data))
    except (ValueError, OSError):
        return None


def _json(value: Any) -> Any:
    # What JSON has no form for goes by its kind: its repr would hold an address of this process.
    return to_jsonable_python(value, fallback=lambda each: f"<{type(each).__qualname__}>")


def _comparable(value: Any) -> Any:
    """Without fields that hold nothing, which versions of AutoGen add; an image that was kept whole by its pixels."""
    if isinstance(value, Mapping):
        if list(value) == ["data"] and isinstance(value["data"], str):
            return _image(value["data"]) or value
        return {key: _comparable(item) for key, item in value.items() if item is not None}
    return [_comparable(item) for item in value] if isinstance(value, (list, tuple)) else value


def _lines(value: Any, label: str = "", indent: str = "") -> Iterator[str]:
    """A value as lines in which a difference is small: one for each plain value, texts as they read."""
    inner = indent if not label else indent + "  "
    if isinstance(value, Mapping) and value:
        if label:
            yield f"{indent}{label}:"
        for key in sorted(value):
            yield from _lines(value[key], str(key), inner)
    elif isinstance(value, list) and value:
        for place, item in enumerate(value, 1):
            yield from _lines(item, f"{label} {place}", indent)
    elif isinstance(value, str) and (len(value) > _WIDTH or "\n" in value):
        yield f"{indent}{label}:"
        for line in value.splitlines():
            yield from (f"{inner}{part}" for part in textwrap.wrap(line, _WIDTH) or [""])
    else:
        yield f"{indent}{label}: {value!r}" if isinstance(value, str) else f"{indent}{label}: {value}"
