"""A book as dicts and lists: slow, plain, and right. What a real book answers is compared with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone

from commonplace.values import Memory

Record = Mapping[str, object]
"""A memory by the names of its fields, as a filter names them; `metadata` is one of them."""

TIMES = ("said_at", "created_at", "updated_at", "expires_at")

_MISSING = object()


def fields(memory: Memory) -> Record:
    """A memory as the record that a filter sees."""
    return {**asdict(memory), **asdict(memory.scope)}


def matches(filter: Mapping[str, object] | None, record: Record) -> bool:
    """Whether a filter, taken to be well formed, admits a record."""
    return all(_clause(key, value, record) for key, value in (filter or {}).items())


def _clause(key: str, value: object, record: Record) -> bool:
    if isinstance(value, (list, tuple)) and key in ("$and", "$or"):
        parts = [matches(part, record) for part in value]
        return all(parts) if key == "$and" else any(parts)
    if isinstance(value, Mapping):
        if key == "$not":
            return not matches(value, record)
        return all(_test(key, operator, operand, record) for operator, operand in value.items())
    return _test(key, "$eq", value, record)


def _test(key: str, operator: str, operand: object, record: Record) -> bool:
    if operator == "$ne":
        return not _test(key, "$eq", operand, record)
    if operator == "$nin":
        return not _test(key, "$in", operand, record)
    value = _value(key, record)
    if operator == "$exists":
        return (value is not _MISSING) is operand
    if operator == "$contains":
        return _contains(key, value, operand)
    if operator == "$in":
        assert isinstance(operand, (Sequence, set, frozenset))
        return any(_equal(key, value, each) for each in operand)
    if operator == "$eq":
        return _equal(key, value, operand)
    return _ranks(value, operator, _operand(key, operand))


def _value(key: str, record: Record) -> object:
    """The field's value; a column that is None is missing, and so are no tags."""
    head, *path = key.split(".")
    value = record[head]
    if head != "metadata":
        return _MISSING if value is None or value == () else value
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _operand(key: str, operand: object) -> object:
    if key not in TIMES or operand is None:
        return operand.isoformat() if isinstance(operand, datetime) else operand
    if isinstance(operand, str):
        operand = datetime.fromisoformat(operand.replace("Z", "+00:00"))
    assert isinstance(operand, datetime)
    return operand if operand.tzinfo else operand.replace(tzinfo=timezone.utc)


def _equal(key: str, value: object, operand: object) -> bool:
    operand = _operand(key, operand)
    if value is _MISSING:
        return operand is None and not key.startswith("metadata.")
    return _sort(value) == _sort(operand) and value == operand


def _contains(key: str, value: object, operand: object) -> bool:
    if key == "text":
        return str(operand) in str(value)
    return isinstance(value, (list, tuple)) and any(_sort(each) == _sort(operand) and each == operand for each in value)


def _ranks(value: object, operator: str, operand: object) -> bool:
    if _sort(value) != _sort(operand) or _sort(value) not in ("text", "number", "time"):
        return False
    if operator in ("$lt", "$lte"):
        value, operand = operand, value
    if operator in ("$gte", "$lte") and value == operand:
        return True
    return bool(value > operand)  # type: ignore[operator]  # of one sort, which has an order


def _sort(value: object) -> str:
    """What a value may be compared with: its own sort. True is no number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "text"
    return "time" if isinstance(value, datetime) else "other"
