"""Messages as callers give them, mappings or lines of "Name: text", become lines: checked, secrets redacted."""

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


def make_line(
    content: object,
    *,
    role: object = "user",
    name: object = None,
    said_at: datetime | None = None,
    metadata: Mapping[str, Json] | None = None,
    now: int,
    settings: Settings,
) -> Line:
    """Return one message, checked and redacted."""
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


def read_mapping(given: Mapping[str, object], *, now: int, settings: Settings) -> Line:
    """Return the line of a mapping with content and perhaps role, name, said_at, metadata."""
    if not isinstance(given, Mapping) or "content" not in given or not set(given) <= _FIELDS:
        raise InvalidInput(
            "a message must be a mapping with content and optionally role, name, said_at and metadata, not "
            + (f"one with {', '.join(sorted(map(str, given)))}" if isinstance(given, Mapping) else type(given).__name__)
        )
    values: dict[str, Any] = dict(given)
    return make_line(values.pop("content"), **values, now=now, settings=settings)


def read_conversation(told: str | Iterable[Mapping[str, object] | str], *, now: int, settings: Settings) -> list[Line]:
    """Return the lines of a conversation, each message a mapping or a text such as "Sarah: I prefer TypeScript".

    A single text is split into lines; a line without a name continues the one before it.
    """
    if isinstance(told, Mapping) or not isinstance(told, Iterable):
        raise InvalidInput('a conversation is a list of messages, or a text of lines such as "Sarah: I prefer tea"')
    given = _split_turns(told) if isinstance(told, str) else list(told)
    return [
        _read_text(each, now, settings) if isinstance(each, str) else read_mapping(each, now=now, settings=settings)
        for each in given
    ]


def _split_turns(told: str) -> list[str]:
    turns: list[str] = []
    for each in told.splitlines():
        if turns and not _NAMED.fullmatch(each):
            turns[-1] += f"\n{each}"
        elif each.strip():
            turns.append(each)
    return [turn.rstrip() for turn in turns]


def _read_text(told: str, now: int, settings: Settings) -> Line:
    found = _NAMED.fullmatch(checks.text(told, "a message", limit=settings.max_text_bytes))
    if found is None:
        return make_line(told, now=now, settings=settings)
    name, content = found[1].strip(), found[2]
    if name.casefold() in _ROLES:
        return make_line(content, role=name.casefold(), now=now, settings=settings)
    return make_line(content, name=name, now=now, settings=settings)
