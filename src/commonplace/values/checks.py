"""Checks of arguments: each returns the value ready to store, or raises an error that says what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from commonplace.errors import DimensionMismatch, InvalidInput, InvalidText, TooLarge
from commonplace.values import KINDS, NOBODY, ORDERS, ORIGINS, Json, Kind, Order, Origin, Scope, Within
from commonplace.values.arrays import Floats

T = TypeVar("T", bound=str)
_LONGEST_NAME = 512
_MOST_TAGS = 256
_MOST_NAMES = 1000
_DEEPEST = 300
_UNIT = 1e-5
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def text(value: object, what: str, *, limit: int) -> str:
    """Return a text that every index and JSON document can carry, of at most `limit` bytes of UTF-8."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    if "\0" in value:
        raise InvalidText(f"{what} holds a NUL character at position {value.index(chr(0))}: remove it")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"{what} holds a lone surrogate at position {error.start}: it is not valid Unicode text"
        ) from error
    if size > limit:
        raise TooLarge(f"{what} has {size:,} bytes, the limit is {limit:,}: store a summary, or split it")
    return value


def name(value: object, what: str) -> str:
    """Return a short name: one line, not empty, without control characters."""
    checked = text(value, what, limit=_LONGEST_NAME)
    if not checked.strip():
        raise InvalidInput(f"{what} is empty")
    if _CONTROL.search(checked):
        raise InvalidText(f"{what} holds a control character: {checked!r}")
    return checked


def optional_name(value: object, what: str) -> str | None:
    """Return a short name, or None."""
    return None if value is None else name(value, what)


def path(value: object) -> str:
    """Return a relative path with forward slashes that stays inside its canvas."""
    checked = name(value, "path")
    if checked.startswith("/") or any(part in ("", ".", "..") for part in checked.split("/")) or "\\" in checked:
        raise InvalidInput(f"path {value!r} must be relative, with forward slashes and no empty, . or .. parts")
    return checked


def kind(value: str) -> Kind:
    """Return one of the kinds."""
    return _one_of(value, KINDS, f"unknown kind {value!r}; known: {', '.join(KINDS)}")


def origin(value: str) -> Origin:
    """Return one of the origins."""
    return _one_of(value, ORIGINS, f"unknown origin {value!r}; known: {', '.join(ORIGINS)}")


def amount(value: float, what: str) -> float:
    """Return a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InvalidInput(f"{what} must be a number of at least 0, not {value!r}")
    return float(value)


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Return tags without repeats, in the order given."""
    checked = tuple(dict.fromkeys(names(values, "tags")))
    if len(checked) > _MOST_TAGS:
        raise TooLarge(f"{len(checked)} tags, the limit is {_MOST_TAGS}")
    return checked


def names(values: Iterable[str] | None, what: str) -> tuple[str, ...]:
    """Return a list of short names; none for None."""
    if values is None or values == ():
        return ()
    if isinstance(values, str):
        raise InvalidInput(f"{what} must be a list of texts, not the text {values!r}: pass [{values!r}]")
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list of texts, not {values!r}")
    checked = tuple(name(value, what) for value in values)
    if len(checked) > _MOST_NAMES:
        raise TooLarge(f"{len(checked):,} {what}, the limit is {_MOST_NAMES:,}")
    return checked


def kinds(values: Iterable[str] | None) -> tuple[Kind, ...]:
    """Return a list of kinds; none for None."""
    return tuple(kind(value) for value in names(values, "kinds"))


def share(value: float, what: str) -> float:
    """Return a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(f"{what} is a number from 0 to 1, not {value!r}")
    return float(value)


def scope(value: object) -> Scope:
    """Return a scope whose parts are names."""
    if not isinstance(value, Scope):
        raise InvalidInput(f"scope must be a commonplace.Scope, not {type(value).__name__}")
    if value is not NOBODY:
        optional_name(value.user, "scope.user")
        optional_name(value.agent, "scope.agent")
        optional_name(value.session, "scope.session")
    return value


def owner(value: Scope | None) -> Scope | None:
    """Return whom an entry or a file belongs to, or None."""
    return None if value is None else scope(value)


def speaker(value: Scope | None) -> Scope:
    """Return the user and agent that messages belong to; their session is the transcript's."""
    found = NOBODY if value is None else scope(value)
    if found.session is not None:
        raise InvalidInput("the scope of messages has no session: it is the transcript's")
    return found


def within(value: Within | Scope | None) -> Within | None:
    """Return where to look; a Scope stands for its own parts and everything shared."""
    if value is None:
        return None
    parts: Iterable[tuple[str, ...] | None]
    if isinstance(value, Scope):
        parts, shared = (None if one is None else (one,) for one in (value.user, value.agent, value.session)), True
    elif isinstance(value, Within):
        parts, shared = (value.users, value.agents, value.sessions), value.shared
    else:
        raise InvalidInput(f"within must be a commonplace.Within or Scope, not {type(value).__name__}")
    users, agents, sessions = (None if part is None else names(part, "within") for part in parts)
    return Within(users=users, agents=agents, sessions=sessions, shared=shared)


def only(value: Scope) -> Within:
    """Return where to find exactly the memories of a scope, without anything shared."""
    checked = within(scope(value))
    if checked is None or value == Scope():
        raise InvalidInput("the scope names no user, agent or session")
    return replace(checked, shared=False)


def order(value: str) -> Order:
    """Return one of the orders of an answer."""
    return _one_of(value, ORDERS, f"order is 'relevance' or 'time', not {value!r}")


def _one_of(value: str, known: tuple[T, ...], message: str) -> T:
    for each in known:
        if value == each:
            return each
    raise InvalidInput(message)


def json_text(value: object, what: str, *, limit: int) -> str:
    """Return a value as compact JSON text; refuse values that JSON cannot represent."""
    try:
        _ensure_text_keys(value)
        encoded = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} is not plain JSON: {error}") from error
    if "\\u0000" in encoded and _ESCAPED_NUL.search(encoded):
        raise InvalidText(f"{what} holds a NUL character: remove it")
    return text(encoded, what, limit=limit)


def _ensure_text_keys(value: object, depth: int = 0) -> None:
    """Refuse keys that JSON would convert and perhaps merge, and nesting too deep to read back."""
    if depth > _DEEPEST:
        raise ValueError(f"it is nested deeper than {_DEEPEST} levels")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _ensure_text_keys(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _ensure_text_keys(item, depth + 1)


def metadata(value: Mapping[str, Json] | None, *, limit: int) -> str:
    """Return a mapping of texts to JSON values as JSON text."""
    if not value:
        if value is None or isinstance(value, Mapping):
            return "{}"
        raise InvalidInput(f"metadata must be a mapping, not {type(value).__name__}")
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput("metadata must be a mapping whose keys are texts")
    return json_text(dict(value), "metadata", limit=limit)


def finite(values: Sequence[float] | Floats) -> npt.NDArray[np.float64]:
    """Return the numbers of a vector of any shape."""
    try:
        row = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a vector is a sequence of numbers: {error}") from error
    if not np.isfinite(row).all():
        raise InvalidInput("the vector holds a number that is not finite")
    return row


def vector(values: Sequence[float] | Floats, dimension: int) -> Floats:
    """Return a unit vector of the book's dimension; zeros stay zeros."""
    if isinstance(values, np.ndarray) and values.dtype == np.float32 and values.shape == (dimension,):
        single: Floats = values
        if abs(float(single @ single) - 1) < _UNIT:  # embedders mostly return unit vectors
            return single
    row = finite(values)
    if row.shape != (dimension,):
        raise DimensionMismatch(f"the vector has shape {row.shape}, the book's vectors have {dimension} numbers")
    largest = float(np.abs(row).max(initial=0.0))
    row = row / largest if largest else row  # squares of very large numbers would overflow
    length = float(np.linalg.norm(row))
    return (row / length if length else row).astype(np.float32)


def count(value: int, what: str, *, least: int = 0, most: int = 2**53) -> int:
    """Return a whole number between two bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        bounds = f"from {least} to {most:,}" if most < 2**53 else f"of at least {least}"
        raise InvalidInput(f"{what} is a whole number {bounds}, not {value!r}")
    return value


def version(value: int | None) -> int | None:
    """Return an expected version; 0 means that there is nothing yet."""
    return None if value is None else count(value, "if_version")
