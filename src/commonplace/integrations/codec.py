"""JSON values and names that a book does not accept, encoded so that they come back as they were given."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.values import Json, checks

_ESCAPED = "json"
"""The only key of an encoded value; its value is JSON text in ASCII."""
_LONGEST = 400
"""Bytes of a name, so that callers may add to it."""


def encode(value: Json) -> Json:
    """Return the value as it is, or its JSON text if it holds NULs, lone surrogates or infinities."""
    try:
        checks.json_text(value, "value", limit=sys.maxsize)
        if not _is_encoded(value):
            return value
    except InvalidInput:
        pass
    try:
        return {_ESCAPED: json.dumps(value)}
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the value cannot be stored, since it is not JSON: {error}") from error


def decode(value: Any) -> Any:
    """Return the value that `encode` was given."""
    return json.loads(value[_ESCAPED]) if _is_encoded(value) else value


def encode_name(text: str) -> str:
    """Return the text if it is a valid name, or its digest if it is too long, empty, or has more than one line."""
    try:
        if len(text.encode()) <= _LONGEST:
            return checks.name(text, "name")
    except (InvalidInput, UnicodeEncodeError):
        pass
    return f"~{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _is_encoded(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {_ESCAPED}
