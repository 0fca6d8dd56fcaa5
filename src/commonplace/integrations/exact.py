"""JSON that comes back as it was given, also when it holds what no book takes: NULs, lone surrogates, infinities."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.values import Json, checks

_ESCAPED = "json"
"""The only key of a value that stands for another, as JSON text."""
_LONGEST = 400
"""Characters of a name, so that something may be added to it."""


def packed(value: Json) -> Json:
    """The value as a book takes it: itself, or its JSON text in ASCII if it holds what no book takes."""
    try:
        checks.json_text(value, "value", limit=sys.maxsize)
    except InvalidInput:
        return {_ESCAPED: _ascii(value)}
    return {_ESCAPED: _ascii(value)} if _is_packed(value) else value


def unpacked(value: Any) -> Any:
    """What was packed."""
    return json.loads(value[_ESCAPED]) if _is_packed(value) else value


def named(text: str) -> str:
    """The text as a name for a book: itself, or its digest if it is too long, empty, or of more than one line."""
    try:
        if len(text.encode()) <= _LONGEST:
            return checks.name(text, "name")
    except (InvalidInput, UnicodeEncodeError):
        pass
    return f"~{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _is_packed(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {_ESCAPED}


def _ascii(value: Json) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"this cannot be kept, since it is no JSON: {error}") from error
