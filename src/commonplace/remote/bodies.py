"""What callers give, as requests carry it. What JSON could not tell apart is refused here, in the words of `checks`;
limits are the server's to know."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from types import EllipsisType
from typing import Any

import numpy as np

from commonplace import filters
from commonplace.errors import DimensionMismatch, InvalidInput
from commonplace.memories import messages
from commonplace.settings import Settings
from commonplace.values import Draft, Json, Scope, Within, checks, times
from commonplace.values.arrays import Floats

_LARGEST = sys.maxsize
# The server knows its limits, and takes out what it is told to.
_ANY = Settings(max_text_bytes=_LARGEST, max_content_bytes=_LARGEST, redact="nothing")

Fields = dict[str, Any]


def given(**fields: object) -> Fields:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def draft(one: Draft) -> Fields:
    """A draft."""
    return {
        **content(one.content),
        "kind": one.kind,
        "tags": names(one.tags, "tags"),
        "metadata": metadata(one.metadata),
        "importance": checks.share(one.importance, "importance"),
        "scope": scope(one.scope),
        "origin": one.origin,
        "supersedes": names(one.supersedes, "supersedes"),
        **given(
            text=text(one.text, "text"),
            mime=checks.optional_name(one.mime, "mime"),
            source=checks.optional_name(one.source, "source"),
            said_at=None if one.said_at is None else moment(one.said_at),
            ttl=ttl(one.ttl),
            id=checks.optional_name(one.id, "id"),
            vector=None if one.vector is None else vector(one.vector),
            reason=text(one.reason, "reason"),
        ),
    }


def change(**fields: object) -> Fields:
    """What is to be revised: an ellipsis is left out, None is null."""
    named = {name: value for name, value in fields.items() if not isinstance(value, EllipsisType)}
    if not named:
        raise InvalidInput("nothing to revise: name what changes, such as content, tags or importance")
    made = content(named.pop("content")) if "content" in named else {}
    return {**made, **{name: _CHANGES.get(name, _as_it_is)(value) for name, value in named.items()}}


def content(value: object) -> Fields:
    """A content: bytes in base64, anything else as JSON."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, str):
        return {"content": text(value, "content")}
    if isinstance(value, (dict, list)):
        return {"content": json_value(value, "content")}
    raise InvalidInput(f"content must be text, bytes, or a JSON object or list, not {type(value).__name__}")


def text(value: object, what: str) -> str | None:
    """A text, or None."""
    return None if value is None else checks.text(value, what, limit=_LARGEST)


def json_value(value: Json, what: str) -> Json:
    """A value that JSON says as it is: no key is made a text on the way, and nothing is lost."""
    checks.json_text(value, what, limit=_LARGEST)
    return value


def metadata(value: Mapping[str, Json] | None) -> Fields:
    """A mapping of texts to JSON values."""
    checks.metadata(value, limit=_LARGEST)
    return dict(value or {})


def names(values: Iterable[str] | None, what: str) -> list[str]:
    """A list of names."""
    return list(checks.names(values, what))


def moment(value: datetime) -> str:
    """A time; without a zone it is UTC, as everywhere."""
    return times.from_micros(times.to_micros(value)).isoformat()


def ttl(value: float | None) -> float | None:
    """A time to live, in seconds."""
    times.until(0, value)
    return value


def vector(values: Sequence[float] | Floats) -> list[float]:
    """A vector, its numbers as they are."""
    try:
        row = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a vector is a sequence of numbers: {error}") from error
    if not np.isfinite(row).all():
        raise InvalidInput("the vector holds a number that is not finite")
    if row.ndim != 1:
        raise DimensionMismatch(f"the vector has shape {row.shape}, the book's vectors are single rows")
    numbers: list[float] = row.tolist()
    return numbers


def scope(value: Scope) -> Fields:
    """A scope, of the parts that it names."""
    checked = checks.scope(value)
    return given(user=checked.user, agent=checked.agent, session=checked.session)


def within(value: Within | Scope | None) -> Fields | None:
    """Where to look."""
    checked = checks.within(value)
    if checked is None:
        return None
    parts = given(users=checked.users, agents=checked.agents, sessions=checked.sessions)
    return {**{name: list(part) for name, part in parts.items()}, "shared": bool(checked.shared)}


def filter(value: Mapping[str, object] | None) -> Fields | None:
    """A filter, checked; its times as text."""
    if value is None:
        return None
    filters.parse(value)
    made: Fields = _plain(value)
    return made


def _plain(node: object) -> Any:
    if isinstance(node, Mapping):
        return {str(key): _plain(item) for key, item in node.items()}
    if isinstance(node, datetime):
        # As it was written: a value of metadata is compared as text.
        return node.isoformat()
    if isinstance(node, Set) or (isinstance(node, Sequence) and not isinstance(node, str)):
        return [_plain(item) for item in node]
    return node


def selection(
    *,
    filter: Mapping[str, object] | None,
    kinds: Sequence[str] | None,
    tags: Sequence[str] | None,
) -> Fields:
    """Which memories, by what they are."""
    return given(
        filter=_filter(filter),
        kinds=None if kinds is None else names(kinds, "kinds"),
        tags=None if tags is None else names(tags, "tags"),
    )


_filter = filter


def target(id: str | Sequence[str] | None, scope_: Scope | None) -> Fields:
    """Which memories, by name or by whose they are."""
    ids = None if id is None else names([id] if isinstance(id, str) else id, "id")
    if scope_ is not None:
        checks.only(scope_)
    return given(ids=ids, scope=None if scope_ is None else scope(scope_))


def message(value: Mapping[str, object]) -> Fields:
    """One message of a transcript."""
    messages.read_mapping(value, now=0, settings=_ANY)
    shown = {name: item for name, item in value.items() if name == "content" or item is not None}
    return {name: _MESSAGE.get(name, _as_it_is)(item) for name, item in shown.items()}


def conversation(told: str | Iterable[Mapping[str, object] | str]) -> Fields:
    """A conversation: a text of lines, or messages."""
    if isinstance(told, str):
        return {"text": checks.text(told, "the conversation", limit=_LARGEST)}
    if isinstance(told, Mapping) or not isinstance(told, Iterable):
        raise InvalidInput('a conversation is a list of messages, or a text of lines such as "Sarah: I prefer tea"')
    return {"messages": [text(each, "a message") if isinstance(each, str) else message(each) for each in told]}


def _as_it_is(value: Any) -> Any:
    return value


_MESSAGE: dict[str, Callable[[Any], Any]] = {"said_at": moment, "metadata": metadata}
_CHANGES: dict[str, Callable[[Any], Any]] = {
    "tags": lambda value: names(value, "tags"),
    "metadata": metadata,
    "importance": lambda value: checks.share(value, "importance"),
    "source": lambda value: checks.optional_name(value, "source"),
    "said_at": moment,
    "ttl": ttl,
    "text": lambda value: text(value, "text"),
    "mime": lambda value: checks.optional_name(value, "mime"),
    "vector": vector,
}
