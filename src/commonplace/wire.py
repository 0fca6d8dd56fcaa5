"""Values as JSON has them, out and in again without loss: what the command line, the server and its client speak."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime

from commonplace.values import Check, Recall


def plain(value: object) -> object:
    """A value as JSON has it: times in ISO 8601, bytes as `{"base64": …}`, frozen values as objects."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, Recall):
            shown["tokens"] = value.tokens
            del shown["counted"]
        return {"ok": value.ok, **shown} if isinstance(value, Check) else shown
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def dumps(value: object) -> bytes:
    """A value as a JSON document."""
    return json.dumps(plain(value), ensure_ascii=False).encode()
