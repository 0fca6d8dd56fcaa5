"""The arguments of verbs as JSON fields.

Values that JSON would change or merge are refused here with the same errors as in process; limits are the server's.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields
from datetime import datetime
from functools import partial
from typing import Any

from commonplace import filters, wire
from commonplace.errors import DimensionMismatch, InvalidInput
from commonplace.memories import messages
from commonplace.settings import Settings
from commonplace.values import PERSON_PARTS, Draft, Json, Receipt, Scope, Within, checks, times
from commonplace.values.arrays import Floats

_LARGEST = sys.maxsize
# The server knows its limits and redacts what it is set to.
_NO_LIMITS = Settings(max_text_bytes=_LARGEST, max_content_bytes=_LARGEST, redact="nothing")

Convert = Callable[[Any], Any]
_REQUIRED = object()


class Fields(dict[str, Any]):
    """JSON fields. A converter that returns Fields puts them in the place of its argument."""


def encode(arguments: Mapping[str, Any], defaults: Mapping[str, object], own: Mapping[str, Convert]) -> Fields:
    """Return arguments as fields, converted by name; converters in `own` come first."""
    made = Fields()
    for name, value in arguments.items():
        # Absent is what the server takes them for, too.
        if (value is None or value is ...) and value is defaults.get(name, _REQUIRED):
            continue
        convert = own.get(name) or _CONVERTERS.get(name)
        field = value if convert is None else convert(value)
        made.update(field if isinstance(field, Fields) else {name: field})
    return made


def draft(one: Draft) -> Fields:
    """Return a draft as fields."""
    return encode({name: getattr(one, name) for name in _DRAFT_DEFAULTS}, _DRAFT_DEFAULTS, {})


def content(value: object) -> Fields:
    """Return a content as a field: bytes in base64, anything else as JSON."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return Fields(base64=base64.b64encode(bytes(value)).decode())
    if isinstance(value, str):
        return Fields(content=text(value, "content"))
    if isinstance(value, (dict, list)):
        return Fields(content=json_value(value, "content"))
    raise InvalidInput(f"content must be text, bytes, or a JSON object or list, not {type(value).__name__}")


def text(value: object, what: str) -> str:
    """Return a valid text of any length."""
    return checks.text(value, what, limit=_LARGEST)


def json_value(value: Json, what: str) -> Json:
    """Return a value that JSON carries without loss: every key is a text."""
    checks.json_text(value, what, limit=_LARGEST)
    return value


def ids(value: str | Iterable[str]) -> Fields:
    """Return one id or several as the field `ids`."""
    return Fields(ids=_names([value] if isinstance(value, str) else value, "id"))


def scope(value: Scope) -> Fields:
    """Return a scope as the field `scope`."""
    checked = checks.scope(value)
    parts = {"user": checked.user, "agent": checked.agent, "session": checked.session}
    return Fields(scope={name: part for name, part in parts.items() if part is not None})


def exact_scope(value: Scope) -> Fields:
    """Return a scope that names a user, agent or session."""
    checks.only(value)
    return scope(value)


def message(value: Mapping[str, object]) -> dict[str, Any]:
    """Return one message of a transcript."""
    messages.read_mapping(value, now=0, settings=_NO_LIMITS)
    given = {name: item for name, item in value.items() if name == "content" or item is not None}
    return encode(given, {}, {"content": lambda value: value})


def lines(value: Iterable[Mapping[str, object]]) -> Fields:
    """Return messages of a transcript as the field `messages`."""
    if not isinstance(value, Iterable):
        raise InvalidInput(f"messages are a list of mappings, not {type(value).__name__}")
    return Fields(messages=[message(each) for each in value])


def conversation(value: str | Iterable[Mapping[str, object] | str]) -> Fields:
    """Return a conversation as the field `text` or `messages`."""
    if isinstance(value, str):
        return Fields(text=text(value, "the conversation"))
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InvalidInput('a conversation is a list of messages, or a text of lines such as "Sarah: I prefer tea"')
    return Fields(messages=[text(each, "a message") if isinstance(each, str) else message(each) for each in value])


def receipts(value: Iterable[Receipt]) -> list[Any]:
    """Return receipts as JSON."""
    return [wire.plain(each) for each in value]


def count(what: str, least: int = 0) -> Convert:
    """Return a converter of whole numbers from `least` on; None stays None."""
    return lambda value: None if value is None else checks.count(value, what, least=least)


def flag(value: object) -> bool | None:
    """Return True, or None to leave the flag out."""
    return True if value else None


def _names(values: Iterable[str] | None, what: str) -> list[str]:
    return list(checks.names(values, what))


def _metadata(value: Mapping[str, Json] | None) -> dict[str, Any]:
    checks.metadata(value, limit=_LARGEST)
    return dict(value or {})


def _moment(value: datetime) -> str:
    return times.from_micros(times.to_micros(value)).isoformat()


def _ttl(value: float | None) -> float | None:
    times.until(0, value)
    return value


def _vector(values: Sequence[float] | Floats) -> list[float]:
    row = checks.finite(values)
    if row.ndim != 1:
        raise DimensionMismatch(f"the vector has shape {row.shape}, the book's vectors are single rows")
    numbers: list[float] = row.tolist()
    return numbers


def _within(value: Within | Scope | None) -> dict[str, Any] | None:
    checked = checks.within(value)
    if checked is None:
        return None
    parts = {"users": checked.users, "agents": checked.agents, "sessions": checked.sessions}
    named = {name: list(part) for name, part in parts.items() if part is not None}
    return {**named, "shared": bool(checked.shared)}


def _filter(value: Mapping[str, object]) -> Any:
    filters.parse(value)
    return _plain(value)


def _plain(node: object) -> Any:
    if isinstance(node, Mapping):
        return {str(key): _plain(item) for key, item in node.items()}
    if isinstance(node, datetime):
        # As it was written: a value of metadata is compared as text.
        return node.isoformat()
    if isinstance(node, Set) or (isinstance(node, Sequence) and not isinstance(node, str)):
        return [_plain(item) for item in node]
    return node


def _optional(check: Callable[[Any, str], Any], what: str) -> Convert:
    return lambda value: None if value is None else check(value, what)


_DRAFT_DEFAULTS = {field.name: field.default for field in fields(Draft)}
_CONVERTERS: Mapping[str, Convert] = {
    "content": content,
    "conversation": conversation,
    "lines": lines,
    "scope": scope,
    "within": _within,
    "filter": _filter,
    "metadata": _metadata,
    "vector": _vector,
    "ttl": _ttl,
    "query": partial(text, what="query"),
    **{name: _optional(text, name) for name in ("text", "reason")},
    **{name: _optional(checks.name, name) for name in ("mime", "id", "other", "author", *PERSON_PARTS)},
    **{name: partial(_names, what=name) for name in ("tags", "kinds", "supersedes")},
    **dict.fromkeys(("said_at", "as_of", "asked_at"), _moment),
    **{name: partial(checks.share, what=name) for name in ("importance", "threshold")},
    **{name: partial(checks.amount, what=name) for name in ("idle", "older_than", "weaker_than")},
    **{name: count(name) for name in ("max_tokens", "keep", "after")},
    **{name: count(name, least=1) for name in ("k", "limit", "number", "version", "every", "start")},
    "path": checks.path,
    "value": partial(json_value, what="value"),
    "items": lambda items: [json_value(item, "item") for item in items],
    "prefix": lambda value: checks.text(value, "prefix", limit=512) or None,
    "target": partial(checks.text, what="target", limit=1_000_000),
    "n": lambda value: Fields(tail=checks.count(value, "n")),
    "deep": flag,
    **dict.fromkeys(("revision", "old", "new"), count("revision", least=1)),
    **dict.fromkeys(("superseded", "hurry", "wait", "everything", "dry_run"), bool),
}
"""The converter of each argument by its name; others are sent as they are."""
