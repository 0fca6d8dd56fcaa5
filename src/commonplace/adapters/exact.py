"""JSON that comes back as it was given, also when it holds what no book takes: NULs and lone surrogates."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from commonplace import checks
from commonplace.errors import InvalidInput
from commonplace.values import Json

_ESCAPED = "json"
"""The only key of a value that stands for another, as JSON text."""
_LONGEST = 400
"""Characters of a name, so that something may be added to it."""


def packed(value: Json) -> Json:
    """The value as a book takes it: itself, or its JSON text in ASCII if it holds what no book takes."""
    if isinstance(value, dict) and set(value) == {_ESCAPED}:
        return {_ESCAPED: json.dumps(value)}
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text or not _is_unicode(text):
        return {_ESCAPED: json.dumps(value)}
    return value


def unpacked(value: Any) -> Any:
    """What was packed."""
    return json.loads(value[_ESCAPED]) if isinstance(value, dict) and set(value) == {_ESCAPED} else value


def named(text: str) -> str:
    """The text as a name for a book: itself, or its digest if it is too long, empty, or of more than one line."""
    try:
        if len(text.encode()) <= _LONGEST:
            return checks.name(text, "name")
    except (InvalidInput, UnicodeEncodeError):
        pass
    return f"~{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
