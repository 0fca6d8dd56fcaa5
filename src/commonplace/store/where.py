"""Conditions on `memory` as SQL: filters, scopes, kinds and tags, always inside one space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace import filters
from commonplace.filters import All, Any, Filter, Not, Scalar, Test
from commonplace.store.base import Dialect, Value, Where
from commonplace.values import Kind, Scope, Within, checks, times

_COLUMNS = {"user": "scope_user", "agent": "scope_agent", "session": "scope_session", "updated_at": "recorded_at"}
_COMPARED = {"$eq": "=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which memories of a space are meant; by default all that are current."""

    filter: Filter = All(())
    within: Within | None = None
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    superseded: bool = False
    expired: bool = False
    as_of: int | None = None


def select(
    *,
    filter: Mapping[str, object] | None = None,
    within: Within | Scope | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    superseded: bool = False,
    expired: bool = False,
    as_of: datetime | None = None,
) -> Selection:
    """Check what a caller gave and return it as a Selection."""
    return Selection(
        filter=filters.parse(filter),
        within=checks.within(within),
        kinds=checks.kinds(kinds),
        tags=checks.names(tags, "tags"),
        superseded=superseded,
        expired=expired,
        as_of=None if as_of is None else times.to_micros(as_of),
    )


def compile_where(dialect: Dialect, space: int, selection: Selection, *, now: int) -> Where:
    """The condition on table `m` that holds for exactly the selected memories."""
    out = _Compiler(dialect, params={"space": space, "now": now})
    parts = ["m.space = :space", *_when(selection, out)]
    if selection.within is not None:
        parts += _within(selection.within, out)
    if selection.kinds:
        parts.append(f"m.kind IN ({out.binds(selection.kinds)})")
    parts += [out.tag(tag) for tag in selection.tags]
    parts.append(out.compile(selection.filter))
    return Where(sql=" AND ".join(part for part in parts if part != "TRUE"), params=out.params)


def _when(selection: Selection, out: _Compiler) -> list[str]:
    if selection.as_of is None:
        parts = ["m.ended_at IS NULL"]
        if not selection.expired:
            parts.append("(m.expires_at IS NULL OR m.expires_at > :now)")
        return parts if selection.superseded else [*parts, "m.valid_to IS NULL"]
    out.params["as_of"] = selection.as_of
    parts = [
        "m.recorded_at <= :as_of",
        "(m.ended_at IS NULL OR m.ended_at > :as_of)",
        "(m.expires_at IS NULL OR m.expires_at > :as_of)",
    ]
    return parts if selection.superseded else [*parts, "m.valid_to IS NULL"]


def _within(within: Within, out: _Compiler) -> list[str]:
    parts = []
    for column, names in (
        ("scope_user", within.users),
        ("scope_agent", within.agents),
        ("scope_session", within.sessions),
    ):
        if names is not None:
            found = [f"m.{column} IN ({out.binds(names)})"] if names else []
            shared = [f"m.{column} IS NULL"] if within.shared else []
            parts.append(_joined(" OR ", [*found, *shared], "FALSE"))
    return parts


@dataclass(slots=True)
class _Compiler:
    """Collects parameters while it writes SQL; every value is bound, never spliced."""

    dialect: Dialect
    params: dict[str, Value] = field(default_factory=dict)

    def bind(self, value: Scalar) -> str:
        name = f"v{len(self.params)}"
        self.params[name] = int(value) if isinstance(value, bool) else value
        return f":{name}"

    def binds(self, values: tuple[str, ...]) -> str:
        return ", ".join(self.bind(value) for value in values)

    def tag(self, tag: str) -> str:
        bound = self.bind(tag)
        # No EXISTS: an engine that turns it into a join may read all holders of the tag for each row.
        return f"coalesce((SELECT TRUE FROM tag t WHERE t.space = :space AND t.tag = {bound} AND t.seq = m.seq), FALSE)"

    def compile(self, node: Filter) -> str:
        if isinstance(node, All):
            return _joined(" AND ", [self.compile(part) for part in node.parts], "TRUE")
        if isinstance(node, Any):
            return _joined(" OR ", [self.compile(part) for part in node.parts], "FALSE")
        if isinstance(node, Not):
            return f"NOT {self.compile(node.part)}"
        return self.test(node)

    def test(self, test: Test) -> str:
        if test.field.name == "metadata":
            return self.metadata_test(test)
        column = f"m.{_COLUMNS.get(test.field.name, test.field.name)}"
        if test.operator == "$exists":
            found = "m.tags <> '[]'" if test.field.name == "tags" else f"{column} IS NOT NULL"
            return found if test.values[0] else f"NOT ({found})"
        if test.operator == "$contains":
            value = test.values[0]
            if test.field.name == "tags":
                return self.tag(str(value))
            return self.dialect.inside("m.text", self.bind(value))
        if test.operator == "$in":
            return self.listed(column, test.values)
        return self.compared(column, _COMPARED[test.operator], test.values[0])

    def compared(self, column: str, sign: str, value: Scalar) -> str:
        # Never NULL, so that NOT of it is right: a missing value compares false.
        if value is None:
            return f"({column} IS NULL)"
        return f"({column} IS NOT NULL AND {column} {sign} {self.bind(value)})"

    def listed(self, column: str, values: tuple[Scalar, ...]) -> str:
        """One of many values; they travel as one JSON parameter, so that a long list is no long statement."""
        named = [value for value in values if value is not None]
        parts = [f"({column} IS NULL)"] if None in values else []
        if named:
            bound = self.bind(json.dumps(named))
            among = self.dialect.among(column, bound, "text" if isinstance(named[0], str) else "number")
            parts.append(f"({column} IS NOT NULL AND {among})")
        return _joined(" OR ", parts, "FALSE")

    def metadata_test(self, test: Test) -> str:
        place, dialect = self.dialect.place(self.bind, test.field.path), self.dialect
        if test.operator == "$exists":
            return f"({'' if test.values[0] else 'NOT '}{dialect.present(place)})"
        if test.operator == "$contains":
            return dialect.contains(self.bind, place, test.values[0])
        if test.operator == "$in":
            return dialect.listed(self.bind, place, test.values)
        return dialect.compared(self.bind, place, _COMPARED[test.operator], test.values[0])


def _joined(word: str, parts: list[str], when_empty: str) -> str:
    return f"({word.join(parts)})" if parts else when_empty


def is_plain(selection: Selection) -> bool:
    """Whether the mirror narrows by this selection on its own: kinds, tags and scopes of the present."""
    return selection.filter == All(()) and selection.as_of is None
