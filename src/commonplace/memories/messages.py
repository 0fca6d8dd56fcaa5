"""Messages as callers give them: mappings, or lines of "Name: text"; checked, and without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.guard import redaction
from commonplace.settings import Settings
from commonplace.store.tables.messages import Line
from commonplace.values import Json, checks, times

_FIELDS = {"content", "role", "name", "said_at", "metadata"}
_NAMED = re.compile(r"([^\W\d_][\w .'’-]{0,40}?):\s+(\S.*)", re.DOTALL)
_ROLES = frozenset({"user", "assistant", "system", "tool"})


def line(
    content: object,
    *,
    role: object = "user",
    name: object = None,
    said_at: datetime | None = None,
    metadata: Mapping[str, Json] | None = None,
    now: int,
    settings: Settings,
) -> Line:
    """One message, checked."""
    limit = settings.max_text_bytes
    checks.json_text(content, "content", limit=limit)
    clean: Any = redaction.json_value(content, settings.redact)  # type: ignore[arg-type]  # just checked
    return Line(
        role=redaction.name(checks.name(role, "role"), settings.redact),
        name=redaction.optional_name(checks.optional_name(name, "name"), settings.redact),
        content=checks.json_text(clean, "content", limit=limit),
        metadata=redaction.metadata(checks.metadata(metadata, limit=limit), settings.redact),
        said_at=now if said_at is None else times.to_micros(said_at),
    )


def from_mapping(given: Mapping[str, object], *, now: int, settings: Settings) -> Line:
    """One message from a mapping with content and perhaps role, name, said_at, metadata."""
    if not isinstance(given, Mapping) or "content" not in given or not set(given) <= _FIELDS:
        raise InvalidInput(
            "a message is a mapping with content and perhaps role, name, said_at, metadata, not "
            + (f"one with {', '.join(sorted(map(str, given)))}" if isinstance(given, Mapping) else type(given).__name__)
        )
    values: dict[str, Any] = dict(given)
    return line(values.pop("content"), **values, now=now, settings=settings)


def conversation(told: str | Iterable[Mapping[str, object] | str], *, now: int, settings: Settings) -> list[Line]:
    """The messages of a conversation, each a mapping or a text such as "Sarah: I prefer TypeScript".

    One text is a conversation of lines: a line without a name goes on what the one before it said.
    """
    if isinstance(told, Mapping) or not isinstance(told, Iterable):
        raise InvalidInput('a conversation is a list of messages, or a text of lines such as "Sarah: I prefer tea"')
    given = _turns(told) if isinstance(told, str) else list(told)
    return [
        _from_text(each, now, settings) if isinstance(each, str) else from_mapping(each, now=now, settings=settings)
        for each in given
    ]


def _turns(told: str) -> list[str]:
    turns: list[str] = []
    for each in told.splitlines():
        if turns and not _NAMED.fullmatch(each):
            turns[-1] += f"\n{each}"
        elif each.strip():
            turns.append(each)
    return [turn.rstrip() for turn in turns]


def _from_text(told: str, now: int, settings: Settings) -> Line:
    found = _NAMED.fullmatch(checks.text(told, "a message", limit=settings.max_text_bytes))
    if found is None:
        return line(told, now=now, settings=settings)
    name, content = found[1].strip(), found[2]
    if name.casefold() in _ROLES:
        return line(content, role=name.casefold(), now=now, settings=settings)
    return line(content, name=name, now=now, settings=settings)
