"""Values as JSON has them, out and in again without loss: what the command line, the server and its client speak.

Times are ISO 8601. A content of bytes is `base64` in the place of `content`, so that no JSON content is taken for one.
What a value's fields are like is read from their hints, once for each class: a recall is sent in microseconds.
"""

from __future__ import annotations

import base64
import binascii
import json
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


def plain(value: object) -> Any:
    """A value as JSON has it: times in ISO 8601, bytes in base64, frozen values as objects."""
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
    """A value as a JSON document."""
    return _ENCODER.encode(plain(value)).encode()


def read(kind: type[T], data: object) -> T:
    """The value that `plain` gave, again; InvalidInput if it is none. Fields that are not known are left out."""
    found: T = _shape(kind).back(data)
    return found


_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class _Way:
    """How a field goes out and comes back."""

    out: _Convert
    back: _Convert


class _Shape:
    """The fields of a class, and what each has to become."""

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
        shown: dict[str, Any] = dict(zip(self._names, self._get(value), strict=True))
        for name, convert, _ in self._ways:
            shown[name] = convert(shown[name])
        if self._content and type(value.content) is bytes:
            shown[_BYTES] = shown.pop("content")
        return _EXTRAS[self._kind](value, shown) if self._kind in _EXTRAS else shown

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
    found = _SHAPES.get(kind)
    if found is None:
        found = _SHAPES[kind] = _Shape(kind)
    return found


def _recall(value: Recall, shown: dict[str, Any]) -> dict[str, Any]:
    # Counted when it is sent: whoever reads the answer need not know how tokens are counted.
    shown["tokens"] = value.tokens
    del shown["counted"]
    return shown


_EXTRAS: dict[type, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    Recall: _recall,
    Check: lambda value, shown: {"ok": value.ok, **shown},
}


def _hints(kind: type) -> dict[str, Any]:
    import numpy as np
    import numpy.typing as npt

    return get_type_hints(kind, localns={"np": np, "npt": npt})


def _way(hint: Any) -> _Way | None:
    """How values of a hint go through JSON; None if they are JSON already."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if bytes in args:
            return _CONTENT
        if any(getattr(get_origin(arg), "__name__", "") == "ndarray" for arg in args):
            return _VECTOR
        ways = [way for way in map(_way, (arg for arg in args if arg is not type(None))) if way is not None]
        return _Way(_optional(ways[0].out), _optional(ways[0].back)) if ways and type(None) in args else None
    if hint is datetime:
        return _TIME
    if isinstance(hint, type) and is_dataclass(hint):
        shape = _shape(hint)
        return _Way(shape.out, shape.back)
    if origin is tuple or origin is Sequence:
        return _row(_way(args[0]), tuple)
    if origin is Mapping:
        return _MAPPING
    return None


def _optional(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)


def _row(item: _Way | None, made: Callable[[Any], Any]) -> _Way:
    if item is None:
        return _Way(list, lambda value: made(_listed(value)))
    out, back = item.out, item.back
    return _Way(lambda value: [out(each) for each in value], lambda value: made(back(each) for each in _listed(value)))


def _listed(value: Any) -> list[Any]:
    if type(value) is not list:
        raise InvalidInput(f"expected a JSON list, not {type(value).__name__}")
    return value


def _mapped(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise InvalidInput(f"expected a JSON object, not {type(value).__name__}")
    return value


def from_base64(text: object) -> bytes:
    """The bytes that a text stands for."""
    try:
        return base64.b64decode(text, validate=True)  # type: ignore[arg-type]  # whatever it is, it is refused
    except (binascii.Error, TypeError, ValueError) as error:
        raise InvalidInput(f"base64 is not what it says: {error}") from error


def _numbers(value: Any) -> Any:
    if value is None:
        return None
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _iso(moment: datetime) -> str:
    # Spelling a time costs as much as all else in a memory, and the same memories are recalled again and again.
    return _iso_utc(moment) if moment.tzinfo is timezone.utc else moment.isoformat()


@lru_cache(maxsize=4096)
def _iso_utc(moment: datetime) -> str:
    return moment.isoformat()


_TIME = _Way(_iso, times.parse)
_MAPPING = _Way(lambda value: value if type(value) is dict else dict(value), _mapped)
_VECTOR = _Way(_numbers, lambda value: value)
_CONTENT = _Way(
    lambda value: base64.b64encode(value).decode() if isinstance(value, bytes | bytearray) else value,
    lambda value: value,
)
