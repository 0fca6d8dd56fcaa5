"""What a caller may pass: each check returns the value ready to store, or says what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from commonplace.errors import DimensionMismatch, InvalidInput, InvalidText, TooLarge
from commonplace.values import KINDS, NOBODY, ORDERS, ORIGINS, Json, Kind, Order, Origin, Scope, Within
from commonplace.values.arrays import Floats

_LONGEST_NAME = 512
_MOST_TAGS = 256
_MOST_NAMES = 1000
_DEEPEST = 300
_UNIT = 1e-5
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def text(value: object, what: str, *, limit: int) -> str:
    """Text that any index and any JSON document can carry, within `limit` bytes of UTF-8."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    if "\0" in value:
        raise InvalidText(f"{what} holds a NUL character at position {value.index(chr(0))}: remove it")
    # Only a text that could be too long is encoded for its size; the encoding also finds surrogates.
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"{what} holds a lone surrogate at position {error.start}: it is no valid Unicode text"
        ) from error
    if size > limit:
        raise TooLarge(f"{what} has {size:,} bytes, the limit is {limit:,}: store a summary, or split it")
    return value


def name(value: object, what: str) -> str:
    """A short name: not empty, one line, without control characters."""
    checked = text(value, what, limit=_LONGEST_NAME)
    if not checked.strip():
        raise InvalidInput(f"{what} is empty")
    if _CONTROL.search(checked):
        raise InvalidText(f"{what} holds a control character: {checked!r}")
    return checked


def optional_name(value: object, what: str) -> str | None:
    """A short name, or None."""
    return None if value is None else name(value, what)


def path(value: object) -> str:
    """Return a relative path with forward slashes that stays inside its canvas."""
    checked = name(value, "path")
    if checked.startswith("/") or any(part in ("", ".", "..") for part in checked.split("/")) or "\\" in checked:
        raise InvalidInput(f"path {value!r} must be relative, with forward slashes and no empty, . or .. parts")
    return checked


def kind(value: str) -> Kind:
    """One of the kinds."""
    for known in KINDS:
        if value == known:
            return known
    raise InvalidInput(f"unknown kind {value!r}; known: {', '.join(KINDS)}")


def origin(value: str) -> Origin:
    """One of the origins."""
    for known in ORIGINS:
        if value == known:
            return known
    raise InvalidInput(f"unknown origin {value!r}; known: {', '.join(ORIGINS)}")


def amount(value: float, what: str) -> float:
    """A number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InvalidInput(f"{what} must be a number from 0 on, not {value!r}")
    return float(value)


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags without repeats, in the order given."""
    checked = tuple(dict.fromkeys(names(values, "tags")))
    if len(checked) > _MOST_TAGS:
        raise TooLarge(f"{len(checked)} tags, the limit is {_MOST_TAGS}")
    return checked


def names(values: Iterable[str] | None, what: str) -> tuple[str, ...]:
    """A list of short names; None is none of them."""
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
    """A list of kinds; None is none of them."""
    return tuple(kind(value) for value in names(values, "kinds"))


def share(value: float, what: str) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(f"{what} is a number from 0 to 1, not {value!r}")
    return float(value)


def scope(value: object) -> Scope:
    """A scope whose parts are names."""
    if not isinstance(value, Scope):
        raise InvalidInput(f"scope must be a commonplace.Scope, not {type(value).__name__}")
    if value is NOBODY:
        return value
    optional_name(value.user, "scope.user")
    optional_name(value.agent, "scope.agent")
    optional_name(value.session, "scope.session")
    return value


def within(value: Within | Scope | None) -> Within | None:
    """Where to look; a Scope means its own parts and what is shared with everybody."""
    if value is None:
        return None
    if isinstance(value, Scope):
        value = Within(
            users=None if value.user is None else (value.user,),
            agents=None if value.agent is None else (value.agent,),
            sessions=None if value.session is None else (value.session,),
        )
    if not isinstance(value, Within):
        raise InvalidInput(f"within must be a commonplace.Within or Scope, not {type(value).__name__}")
    users, agents, sessions = (
        None if part is None else names(part, "within") for part in (value.users, value.agents, value.sessions)
    )
    return replace(value, users=users, agents=agents, sessions=sessions)


def only(value: Scope) -> Within:
    """Exactly the memories of a scope: nothing that is shared with others."""
    checked = within(scope(value))
    if checked is None or value == Scope():
        raise InvalidInput("the scope names no user, agent or session")
    return replace(checked, shared=False)


def order(value: str) -> Order:
    """How an answer is ordered."""
    for known in ORDERS:
        if value == known:
            return known
    raise InvalidInput(f"order is 'relevance' or 'time', not {value!r}")


def json_text(value: object, what: str, *, limit: int) -> str:
    """A value as compact JSON text; refuses what JSON cannot say."""
    try:
        _ensure_text_keys(value)
        encoded = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} is not plain JSON: {error}") from error
    if "\\u0000" in encoded and _ESCAPED_NUL.search(encoded):
        raise InvalidText(f"{what} holds a NUL character: remove it")
    return text(encoded, what, limit=limit)


def _ensure_text_keys(value: object, depth: int = 0) -> None:
    """Refuse keys that JSON would turn into text, and perhaps merge with others; and nests too deep to read back."""
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
    """A mapping of texts to JSON values, as JSON text."""
    if not value:
        if value is None or isinstance(value, Mapping):
            return "{}"
        raise InvalidInput(f"metadata must be a mapping, not {type(value).__name__}")
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput("metadata must be a mapping whose keys are texts")
    return json_text(dict(value), "metadata", limit=limit)


def _is_unit(values: object, dimension: int) -> bool:
    """Whether nothing is left to do, as mostly; anything unusual takes the careful way."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float32 or values.shape != (dimension,):
        return False
    return abs(float(values @ values) - 1) < _UNIT


def vector(values: Sequence[float] | Floats, dimension: int) -> Floats:
    """A unit vector of the book's dimension; zeros stay zeros."""
    if _is_unit(values, dimension):
        return values  # type: ignore[return-value]  # it is a float32 array
    try:
        row = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a vector is a sequence of numbers: {error}") from error
    if not np.isfinite(row).all():
        raise InvalidInput("the vector holds a number that is not finite")
    if row.shape != (dimension,):
        raise DimensionMismatch(f"the vector has shape {row.shape}, the book's vectors have {dimension} numbers")
    largest = float(np.abs(row).max(initial=0.0))
    row = row / largest if largest else row  # squares of very large numbers would overflow
    length = float(np.linalg.norm(row))
    return (row / length if length else row).astype(np.float32)


def count(value: int, what: str, *, least: int = 0, most: int = 2**53) -> int:
    """A whole number between two bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        bounds = f"from {least} to {most:,}" if most < 2**53 else f"of at least {least}"
        raise InvalidInput(f"{what} is a whole number {bounds}, not {value!r}")
    return value


def version(value: int | None) -> int | None:
    """An expected version; 0 means that nothing stands there yet."""
    return None if value is None else count(value, "if_version")
