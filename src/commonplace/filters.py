"""Filters: a mapping from the caller is checked once and becomes a small tree that every engine can compile.

    {"kind": "decision", "importance": {"$gte": 0.5}, "$or": [{"tags": {"$contains": "api"}}, …]}

A comparison with a field that is missing, or of another type, is false; its negation is true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from commonplace.errors import InvalidFilter, InvalidInput
from commonplace.values import times

Scalar = str | int | float | bool | None
Operator = Literal["$eq", "$in", "$gt", "$gte", "$lt", "$lte", "$exists", "$contains"]

TEXT_FIELDS = ("id", "kind", "source", "origin", "user", "agent", "session", "mime", "text")
NUMBER_FIELDS = ("importance", "version")
TIME_FIELDS = ("said_at", "created_at", "updated_at", "expires_at")
FIELDS = (*TEXT_FIELDS, *NUMBER_FIELDS, *TIME_FIELDS, "tags")
OPERATORS = ("$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$exists", "$contains")

_NEGATED: Mapping[str, Operator] = {"$ne": "$eq", "$nin": "$in"}
_UNFIT = re.compile("[\0\ud800-\udfff]")
MOST_LEVELS = 20
MOST_TESTS = 500


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a memory, or with a path a value inside its metadata."""

    name: str
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.name, *self.path))


@dataclass(frozen=True, slots=True)
class Test:
    """One comparison. `values` has one element, except for `$in`; times are in microseconds."""

    field: Field
    operator: Operator
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class All:
    """True if every part is; always true without parts."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """True if a part is; never true without parts."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True if the part is not."""

    part: Filter


Filter = Test | All | Any | Not


def parse(filter: Mapping[str, object]) -> Filter:
    """Check a caller's filter and return it as a tree."""
    parsed = _mapping(filter, depth=0)
    if _size(parsed) > MOST_TESTS:
        raise InvalidFilter(f"the filter has more than {MOST_TESTS} conditions; $in takes long lists of values")
    return parsed


def _size(node: Filter) -> int:
    if isinstance(node, (All, Any)):
        return 1 + sum(_size(part) for part in node.parts)
    return 1 + _size(node.part) if isinstance(node, Not) else 1


def _mapping(node: object, *, depth: int) -> Filter:
    if not isinstance(node, Mapping):
        raise InvalidFilter(f"a filter is a mapping of fields and operators, not {node!r}")
    if depth > MOST_LEVELS:
        raise InvalidFilter(f"the filter is nested deeper than {MOST_LEVELS} levels")
    return _all([_clause(key, value, depth) for key, value in node.items()])


def _all(parts: Sequence[Filter]) -> Filter:
    """Return a conjunction in its shortest form: parts that are always true add nothing."""
    needed = tuple(part for part in parts if part != All(()))
    return needed[0] if len(needed) == 1 else All(needed)


def _clause(key: object, value: object, depth: int) -> Filter:
    if not isinstance(key, str):
        raise InvalidFilter(f"a filter's keys are field names, not {key!r}")
    if key in ("$and", "$or"):
        if not isinstance(value, (list, tuple)):
            raise InvalidFilter(f"{key} takes a list of filters, not {value!r}")
        parts = [_mapping(part, depth=depth + 1) for part in value]
        return _all(parts) if key == "$and" else Any(tuple(parts))
    if key == "$not":
        return Not(_mapping(value, depth=depth + 1))
    if key.startswith("$"):
        raise InvalidFilter(f"unknown operator {key!r}; between filters: $and, $or, $not")
    field = _field(key)
    if not isinstance(value, Mapping):
        return _test(field, "$eq", value)
    if not value:
        raise InvalidFilter(f"the filter on {field} has no operator")
    return _all([_test(field, operator, operand) for operator, operand in value.items()])


def _field(name: str) -> Field:
    if name in FIELDS:
        return Field(name)
    head, *path = name.split(".")
    if head == "metadata" and path and all(path) and '"' not in name and _plain(name):
        return Field("metadata", tuple(path))
    raise InvalidFilter(f"unknown field {name!r}; known: {', '.join(FIELDS)}, metadata.NAME")


def _test(field: Field, operator: object, operand: object) -> Filter:
    if operator not in OPERATORS:
        raise InvalidFilter(f"unknown operator {operator!r} on {field}; known: {', '.join(OPERATORS)}")
    if operator in _NEGATED:
        return Not(_test(field, _NEGATED[str(operator)], operand))
    values = _operands(field, operator, operand)  # type: ignore[arg-type]  # one of OPERATORS, checked above
    return Test(field, operator, values)  # type: ignore[arg-type]


def _operands(field: Field, operator: Operator, operand: object) -> tuple[Scalar, ...]:
    if operator == "$exists":
        if not isinstance(operand, bool):
            raise InvalidFilter(f"$exists on {field} takes true or false, not {operand!r}")
        return (operand,)
    if field.name == "tags" and operator != "$contains":
        raise InvalidFilter(f"tags are tested with $contains or $exists, not {operator}")
    if operator == "$in":
        if isinstance(operand, (str, bytes)) or not isinstance(operand, (Sequence, set, frozenset)):
            raise InvalidFilter(f"$in on {field} takes a list of values, not {operand!r}")
        return tuple(_operand(field, value) for value in operand)
    if operator == "$contains" and field.name not in ("tags", "text", "metadata"):
        raise InvalidFilter(f"$contains works on tags, text and metadata lists, not on {field.name}")
    value = _operand(field, operand)
    if operator == "$contains" and value is None and field.name != "metadata":
        raise InvalidFilter(f"$contains on {field.name} takes text, not null")
    if operator in ("$gt", "$gte", "$lt", "$lte") and (value is None or isinstance(value, bool)):
        raise InvalidFilter(f"{operator} on {field} takes a number, text or time, not {operand!r}")
    return (value,)


def _operand(field: Field, value: object) -> Scalar:
    """Check one value against its field's type and return it; times in microseconds."""
    if field.name in TIME_FIELDS and value is not None:
        return _moment(field, value)
    if isinstance(value, datetime):
        value = value.isoformat()
    if not (value is None or isinstance(value, (str, int, float, bool))):
        raise InvalidFilter(f"{field} is compared with text, numbers, true, false or null, not {value!r}")
    if isinstance(value, (int, float)) and not -(2.0**63) <= value < 2.0**63:
        raise InvalidFilter(f"{value!r} is beyond what {field} can be compared with")
    if isinstance(value, str) and not _plain(value):
        raise InvalidFilter(f"the value for {field} holds a NUL or a lone surrogate")
    if field.name in (*TEXT_FIELDS, "tags") and not isinstance(value, (str, type(None))):
        raise InvalidFilter(f"{field.name} is compared with text, not {value!r}")
    if field.name in NUMBER_FIELDS and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise InvalidFilter(f"{field.name} is compared with a number, not {value!r}")
    return value


def _moment(field: Field, value: object) -> int:
    try:
        if isinstance(value, str):
            return times.to_micros(times.parse(value))
        if isinstance(value, datetime):
            return times.to_micros(value)
    except InvalidInput as error:
        raise InvalidFilter(f"{field.name}: {error}") from error
    raise InvalidFilter(f"{field.name} is compared with a datetime or ISO 8601 text, not {value!r}")


def _plain(text: str) -> bool:
    """Whether the engines can carry a text: no NUL, no lone surrogate."""
    return _UNFIT.search(text) is None
