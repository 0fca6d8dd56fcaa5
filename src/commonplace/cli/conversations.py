"""Conversations as they come in: lines of "Name: text", a JSON list of messages, or JSON Lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from commonplace.cli import inputs
from commonplace.errors import InvalidInput
from commonplace.values import Json, times

Conversation: TypeAlias = "str | list[Mapping[str, object] | str]"

_OURS = ("number", "created_at")
"""What `transcript read --json` tells of a message beside what was said: the book's own numbers and times."""


def parse(text: str, place: str) -> Conversation:
    """The conversation as `learn` takes it; what looks like JSON and is not is refused, with its place."""
    told = text.removeprefix("\ufeff").strip()
    if told in ("", "[]"):
        raise InvalidInput(f"{place} holds no conversation: there is nothing to learn from")
    if told[0] not in "[{":
        return told
    return [_message(each, f"{place}, message {number}") for number, each in enumerate(_values(told, place), start=1)]


def _values(told: str, place: str) -> Sequence[Json]:
    try:
        whole = inputs.loads(told)
    except ValueError as error:
        if told.startswith("{") and "\n" in told:
            return _lines(told, place)
        raise InvalidInput(f"{place} looks like JSON but is not: {error}; nothing was taken in") from error
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
        whole = whole["messages"]
    return whole if isinstance(whole, list) else [whole]


def _lines(told: str, place: str) -> list[Json]:
    values = []
    for number, line in enumerate(told.split("\n"), start=1):
        try:
            values += [inputs.loads(line)] if line.strip() else []
        except ValueError as error:
            raise InvalidInput(f"{place}, line {number} is not JSON: {error}; nothing was taken in") from error
    return values


def _message(value: Json, place: str) -> Mapping[str, object] | str:
    """One message; a time in JSON is text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} is no message: an object with content, or text; nothing was taken in")
    message: dict[str, object] = {name: given for name, given in value.items() if name not in _OURS}
    if isinstance(value.get("said_at"), str):
        message["said_at"] = _moment(str(value["said_at"]), place)
    return message


def _moment(text: str, place: str) -> datetime:
    try:
        return times.parse(text)
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}; nothing was taken in") from error
