"""Inputs: texts from arguments, stdin and files; values, times, durations and conversations."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TypeAlias

from commonplace.cli.console import UsageError
from commonplace.errors import InvalidInput, InvalidText
from commonplace.values import Json, times

STDIN = "-"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def text(word: str) -> str:
    """Return the word, or all of stdin for `-`, without the line end that `echo` adds."""
    return _read_stdin().removesuffix("\n") if word == STDIN else word


def text_or_stdin(word: str | None, what: str) -> str:
    """Return the word, or stdin for `-` or when nothing was given and something is piped in."""
    if word is None and sys.stdin.isatty():
        raise UsageError(f"give {what} as an argument, or - to read it from stdin")
    return text(STDIN if word is None else word)


def file_text(path: str) -> str:
    """Return the whole text of a file, or all of stdin for `-`."""
    if path == STDIN:
        return _read_stdin()
    content = file_content(path)
    if isinstance(content, bytes):
        raise InvalidText(f"{path} is not UTF-8 text")
    return content


def file_content(path: str) -> str | bytes:
    """Return a file's text, or its bytes if they are not UTF-8 text."""
    content = Path(path).read_bytes()
    try:
        return content if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return content


def value(word: str) -> Json:
    """Return a JSON value, or the word itself if it is not JSON; raise InvalidInput for a broken object or list."""
    try:
        return loads(word)
    except ValueError as error:
        if word.lstrip()[:1] in ("{", "["):
            raise InvalidInput(
                f"the value looks like JSON but is not: {error}; quote a text as JSON, for example '\"[draft] title\"'"
            ) from error
        return word


def loads(word: str) -> Json:
    """Return a JSON value, or raise ValueError."""
    try:
        found: Json = json.loads(word, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return found


def json_object(word: str) -> dict[str, Json]:
    """Return a JSON object, for --filter."""
    try:
        found = loads(word)
    except ValueError as error:
        raise ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ArgumentTypeError('not a JSON object, for example {"importance": {"$gte": 0.5}}')
    return found


def pair(word: str) -> tuple[str, Json]:
    """Return name and value from `name=value`; the value is JSON, or text if it is not JSON."""
    name, equals, given = word.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{word!r} is not NAME=VALUE")
    try:
        return name, loads(given)
    except ValueError:
        return name, given


def when(word: str) -> datetime:
    """Return a time from ISO 8601."""
    try:
        return times.parse(word)
    except InvalidInput as error:
        raise ArgumentTypeError(str(error)) from error


def duration(word: str) -> float:
    """Return seconds from `90`, `90s`, `15m`, `12h`, `7d` or `2w`."""
    number, unit = (word[:-1], word[-1]) if word[-1:] in _UNITS else (word, "s")
    try:
        seconds = float(number) * _UNITS[unit]
    except ValueError as error:
        raise ArgumentTypeError(f"{word!r} is not a duration: use seconds, or 15m, 12h, 7d, 2w") from error
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{word!r} is not a duration: it must be longer than 0")
    return seconds


def _read_stdin() -> str:
    # Its bytes, where it has any: the text layer would change line ends, and go by the locale.
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read()
    try:
        return str(stream.read(), "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidText(f"stdin is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _refuse_constant(word: str) -> NoReturn:
    # Python reads NaN and Infinity, JSON does not.
    raise ValueError(f"{word} is not JSON")


Conversation: TypeAlias = "str | list[Mapping[str, object] | str]"

_OURS = ("number", "created_at", "scope")
"""Fields that `transcript read --json` adds to a message: the book's own numbers, times and owners."""


def parse_conversation(text: str, place: str) -> Conversation:
    """Return a conversation as `learn` takes it; broken JSON raises InvalidInput with its place."""
    text = text.removeprefix("\ufeff").strip()
    if text in ("", "[]"):
        raise InvalidInput(f"{place} contains no messages: there is nothing to learn from")
    if text[0] not in "[{":
        return text
    return [_message(each, f"{place}, message {number}") for number, each in enumerate(_values(text, place), start=1)]


def _values(text: str, place: str) -> Sequence[Json]:
    try:
        whole = loads(text)
    except ValueError as error:
        if text.startswith("{") and "\n" in text:
            return _lines(text, place)
        raise InvalidInput(f"{place} looks like JSON but is not: {error}; nothing was stored") from error
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
        whole = whole["messages"]
    return whole if isinstance(whole, list) else [whole]


def _lines(text: str, place: str) -> list[Json]:
    values = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            values += [loads(line)] if line.strip() else []
        except ValueError as error:
            raise InvalidInput(f"{place}, line {number} is not JSON: {error}; nothing was stored") from error
    return values


def _message(value: Json, place: str) -> Mapping[str, object] | str:
    """Return one message; JSON holds its time as text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} is not a message (text, or an object with content); nothing was stored")
    message: dict[str, object] = {name: given for name, given in value.items() if name not in _OURS}
    if isinstance(value.get("said_at"), str):
        try:
            message["said_at"] = times.parse(str(value["said_at"]))
        except InvalidInput as error:
            raise InvalidInput(f"{place}: {error}; nothing was stored") from error
    return message
