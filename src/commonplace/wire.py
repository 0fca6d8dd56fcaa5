"""Values as JSON and back without loss, for the command line, the server and its client.

Times are ISO 8601. A content of bytes is `base64` in the place of `content`, so that no JSON content is taken for one.
How a class is converted is read from its type hints, once: sending a recall takes microseconds.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime, timezone
from functools import lru_cache
from operator import attrgetter
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from commonplace.errors import InvalidInput
from commonplace.values import Check, Recall, times

T = TypeVar("T")
_Convert = Callable[[Any], Any]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_BYTES = "base64"
_ETAG = re.compile(r'(?:W/)?"?([0-9]{1,18})"?')
_SCALARS = frozenset({str, int, float, bool, type(None)})


def plain(value: object) -> Any:
    """Return a value as JSON: times in ISO 8601, bytes in base64, dataclasses as objects."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if isinstance(value, datetime):
        return _iso(value)
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if is_dataclass(kind):
        return _shape(kind).out(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def dumps(value: object) -> bytes:
    """Return a value as a JSON document."""
    return _ENCODER.encode(plain(value)).encode()


def read(kind: type[T], data: object) -> T:
    """Return the value that `plain` was given; InvalidInput if there is none. Unknown fields are ignored."""
    found: T = _shape(kind).back(data)
    return found


def from_base64(text: object) -> bytes:
    """Return the bytes in a base64 text."""
    try:
        return base64.b64decode(text, validate=True)  # type: ignore[arg-type]  # anything else is refused
    except (binascii.Error, TypeError, ValueError) as error:
        raise InvalidInput(f"base64 is not valid: {error}") from error


def expected_version(if_match: str | None, if_none_match: str | None) -> int | None:
    """Return the version that the headers of a change name: If-Match: "3", or 0 for If-None-Match: *."""
    if if_match is not None and if_none_match is not None:
        raise InvalidInput("send If-Match or If-None-Match, not both")
    if if_none_match is not None:
        if if_none_match.strip() != "*":
            raise InvalidInput(f"If-None-Match is * (only for something new), not {if_none_match!r}")
        return 0
    if if_match is None:
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise InvalidInput(f'If-Match is the ETag of one version, such as "3", not {if_match!r}')
    return int(found[1])


@dataclass(frozen=True, slots=True)
class _Way:
    """How a field goes out and comes back."""

    out: _Convert
    back: _Convert


class _Shape:
    """The fields of a class and their conversions."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._names = tuple(field.name for field in fields(kind))
        self._get = attrgetter(*self._names)
        ways = {name: _way(hint) for name, hint in _hints(kind).items() if name in self._names}
        self._ways = [(name, way.out, way.back) for name, way in ways.items() if way is not None]
        self._needed = frozenset(
            field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
        )
        self._content = "content" if ways.get("content") is _CONTENT else None

    def out(self, value: Any) -> dict[str, Any]:
        made: dict[str, Any] = dict(zip(self._names, self._get(value), strict=True))
        for name, convert, _ in self._ways:
            made[name] = convert(made[name])
        if self._content and type(value.content) is bytes:
            made[_BYTES] = made.pop("content")
        if self._kind is Recall:
            # Counted when it is sent: the reader need not know how tokens are counted.
            made["tokens"] = value.tokens
            del made["counted"]
        return {"ok": value.ok, **made} if self._kind is Check else made

    def back(self, data: Any) -> Any:
        if type(data) is not dict:
            raise InvalidInput(f"a {self._kind.__name__} is a JSON object, not {type(data).__name__}")
        given = {name: data[name] for name in self._names if name in data}
        if self._kind is Recall and "tokens" in data:
            given["counted"] = data["tokens"]
        if self._content and _BYTES in data:
            if "content" in data:
                raise InvalidInput("a content is given as content or as base64, not as both")
            given["content"] = from_base64(data[_BYTES])
        if not self._needed <= given.keys():
            raise InvalidInput(f"a {self._kind.__name__} needs {', '.join(sorted(self._needed - given.keys()))}")
        for name, _, convert in self._ways:
            if name in given:
                given[name] = convert(given[name])
        return self._kind(**given)


_SHAPES: dict[type, _Shape] = {}


def _shape(kind: type) -> _Shape:
    if kind not in _SHAPES:
        _SHAPES[kind] = _Shape(kind)
    return _SHAPES[kind]


def _hints(kind: type) -> dict[str, Any]:
    import numpy as np
    import numpy.typing as npt

    return get_type_hints(kind, localns={"np": np, "npt": npt})


def _way(hint: Any) -> _Way | None:
    """Return how values of a hint are converted; None if they are JSON already."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if bytes in args:
            return _CONTENT
        if any(getattr(get_origin(arg), "__name__", "") == "ndarray" for arg in args):
            return _VECTOR
        ways = [way for way in map(_way, (arg for arg in args if arg is not type(None))) if way is not None]
        return _Way(_optional(ways[0].out), _optional(ways[0].back)) if ways and type(None) in args else None
    if hint is datetime:
        return _Way(_iso, times.parse)
    if isinstance(hint, type) and is_dataclass(hint):
        shape = _shape(hint)
        return _Way(shape.out, shape.back)
    if origin is tuple or origin is Sequence:
        return _row(_way(args[0]))
    if origin is Mapping:
        return _Way(lambda value: value if type(value) is dict else dict(value), lambda value: _ensure(value, dict))
    return None


def _optional(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)


def _row(item: _Way | None) -> _Way:
    if item is None:
        return _Way(list, lambda value: tuple(_ensure(value, list)))
    out, back = item.out, item.back
    return _Way(
        lambda value: [out(each) for each in value], lambda value: tuple(back(each) for each in _ensure(value, list))
    )


def _ensure(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        expected = "list" if kind is list else "object"
        raise InvalidInput(f"expected a JSON {expected}, not {type(value).__name__}")
    return value


def _numbers(value: Any) -> Any:
    if value is None:
        return None
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _iso(moment: datetime) -> str:
    # Formatting a time costs as much as everything else in a memory, and the same memories are recalled again.
    return _iso_utc(moment) if moment.tzinfo is timezone.utc else moment.isoformat()


@lru_cache(maxsize=4096)
def _iso_utc(moment: datetime) -> str:
    return moment.isoformat()


_VECTOR = _Way(_numbers, lambda value: value)
_CONTENT = _Way(
    lambda value: base64.b64encode(value).decode() if isinstance(value, bytes | bytearray) else value,
    lambda value: value,
)
