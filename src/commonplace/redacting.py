"""What is taken out of texts before anything is stored, as the settings say."""

from __future__ import annotations

import json
from collections.abc import Mapping

from commonplace.guard import personal, secrets
from commonplace.settings import Redact
from commonplace.values import Json


def text(value: str, redact: Redact) -> str:
    """A text without its secrets, and on request without personal data."""
    if redact == "nothing":
        return value
    clean = secrets.redact(value).text
    return personal.redact_personal(clean).text if redact == "personal" else clean


def json_value(value: Json, redact: Redact, name: str = "") -> Json:
    """A JSON value with every text in it redacted; what a text is called may tell that it is a secret."""
    if redact == "nothing":
        return value
    if isinstance(value, Mapping):
        return {key: json_value(item, redact, key) for key, item in value.items()}
    if isinstance(value, list):
        return [json_value(item, redact, name) for item in value]
    if not isinstance(value, str):
        return value
    label = f"{name}: "
    named = text(label + value, redact)
    return named.removeprefix(label) if name and named.startswith(label) else text(value, redact)


def metadata(encoded: str, redact: Redact) -> str:
    """Metadata as JSON text, redacted."""
    if redact == "nothing" or encoded == "{}":
        return encoded
    return json.dumps(json_value(json.loads(encoded), redact), ensure_ascii=False)


def optional(value: str | None, redact: Redact) -> str | None:
    """A text that may be missing."""
    return None if value is None else text(value, redact)
