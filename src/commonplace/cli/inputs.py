"""What comes in: texts from arguments, stdin and files; values, times and durations from words."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from commonplace.cli.errors import Usage
from commonplace.errors import InvalidInput, InvalidText
from commonplace.values import Json, times

STDIN = "-"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def text(word: str) -> str:
    """The word itself, or all of stdin for `-`."""
    return stdin() if word == STDIN else word


def text_or_stdin(word: str | None, what: str) -> str:
    """The word, or stdin for `-`, or stdin when nothing was given and something is piped in."""
    if word is None and sys.stdin.isatty():
        raise Usage(f"give {what} as an argument, or - to read it from stdin")
    return stdin() if word is None else text(word)


def stdin() -> str:
    """All of stdin, without the line end that `echo` adds."""
    return _whole_stdin().removesuffix("\n")


def file_text(path: str) -> str:
    """The text of a file, or all of stdin for `-`, to the last character."""
    if path == STDIN:
        return _whole_stdin()
    content = file_content(path)
    if isinstance(content, bytes):
        raise InvalidText(f"{path} is not UTF-8 text")
    return content


def file_content(path: str) -> str | bytes:
    """What a file holds: its text, or its bytes where they are no UTF-8 text."""
    content = Path(path).read_bytes()
    try:
        return content if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return content


def value(word: str) -> Json:
    """A JSON value, or the word as text where it is no JSON; a broken object or list is refused."""
    try:
        return loads(word)
    except ValueError as error:
        if word.lstrip()[:1] in ("{", "["):
            raise InvalidInput(
                f"the value looks like JSON but is not: {error}; quote a text as JSON, for example '\"[draft] title\"'"
            ) from error
        return word


def loads(word: str) -> Json:
    """A JSON value; ValueError where the word is none."""
    try:
        found: Json = json.loads(word, parse_constant=_not_json)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    return found


def json_object(word: str) -> dict[str, Json]:
    """A JSON object, as --filter takes it."""
    try:
        found = loads(word)
    except ValueError as error:
        raise ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ArgumentTypeError('not a JSON object, for example {"importance": {"$gte": 0.5}}')
    return found


def pair(word: str) -> tuple[str, Json]:
    """A name and its value, from `name=value`; the value is JSON, or text where it is no JSON."""
    name, equals, given = word.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{word!r} is not NAME=VALUE")
    try:
        return name, loads(given)
    except ValueError:
        return name, given


def when(word: str) -> datetime:
    """A time in ISO 8601."""
    try:
        return times.parse(word)
    except InvalidInput as error:
        raise ArgumentTypeError(str(error)) from error


def duration(word: str) -> float:
    """Seconds, from `90`, `90s`, `15m`, `12h`, `7d` or `2w`."""
    number, unit = (word[:-1], word[-1]) if word[-1:] in _UNITS else (word, "s")
    try:
        seconds = float(number) * _UNITS[unit]
    except ValueError as error:
        raise ArgumentTypeError(f"{word!r} is no duration: give seconds, or 15m, 12h, 7d, 2w") from error
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{word!r} is no duration: it must be more than nothing")
    return seconds


def _whole_stdin() -> str:
    # Its bytes, where it has any: the text layer would change line ends, and go by the locale.
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read()
    try:
        return str(stream.read(), "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidText(f"stdin is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _not_json(word: str) -> NoReturn:
    # Python reads NaN and Infinity, JSON does not.
    raise ValueError(f"{word} is no JSON")
