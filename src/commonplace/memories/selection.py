"""A selection of memories, applied to what was never one of its own: a repetition, as its link describes it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.filters import All, Filter, Not, Scalar, Test
from commonplace.filters import Any as Some
from commonplace.store.where import Selection
from commonplace.values import Json, Within

_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip
_ABSENT = object()


def selects(selection: Selection, said: Mapping[str, Json]) -> bool:
    """Whether a selection would name a memory with these fields, as far as they tell."""
    tags = said.get("tags")
    return (
        _within(selection.within, said)
        and (not selection.kinds or said.get("kind") in selection.kinds)
        and set(selection.tags) <= set(map(str, tags if isinstance(tags, list) else []))
        and _holds(selection.filter, said)
    )


def _within(within: Within | None, said: Mapping[str, Json]) -> bool:
    if within is None:
        return True
    wanted = {"user": within.users, "agent": within.agents, "session": within.sessions}
    return all(
        names is None or said.get(name) in names or (within.shared and said.get(name) is None)
        for name, names in wanted.items()
    )


def _holds(node: Filter, said: Mapping[str, Json]) -> bool:
    if isinstance(node, All):
        return all(_holds(part, said) for part in node.parts)
    if isinstance(node, Some):
        return any(_holds(part, said) for part in node.parts)
    if isinstance(node, Not):
        return not _holds(node.part, said)
    return _test(node, _value(node, said))


def _value(test: Test, said: Mapping[str, Json]) -> object:
    found: object = said.get(test.field.name, _ABSENT)
    for step in test.field.path:
        found = found.get(step, _ABSENT) if isinstance(found, Mapping) else _ABSENT
    return found


def _test(test: Test, found: object) -> bool:
    wanted = test.values[0] if test.values else None
    if test.operator == "$exists":
        return (found is not _ABSENT and found is not None) == bool(wanted)
    if test.operator == "$contains":
        if isinstance(found, str):
            return isinstance(wanted, str) and wanted.casefold() in found.casefold()
        return isinstance(found, list) and wanted in found
    if test.operator == "$in":
        return any(_compared("$eq", found, value) for value in test.values)
    return _compared(test.operator, found, wanted)


def _compared(sign: str, found: object, wanted: Scalar) -> bool:
    if found is _ABSENT or found is None or wanted is None:
        return sign == "$eq" and wanted is None
    if isinstance(found, bool) != isinstance(wanted, bool) or isinstance(found, str) != isinstance(wanted, str):
        return False
    try:
        return _COMPARED[sign](found, wanted)
    except TypeError:
        return False
