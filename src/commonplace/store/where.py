"""Conditions on `memory` as SQL, always inside one space, in the syntax of each engine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace import filters
from commonplace.filters import All, Any, Filter, Not, Scalar, Test
from commonplace.store.base import Bind, ListKind, Syntax, Value, Where
from commonplace.values import Kind, Scope, Within, checks, times

_EVERYTHING = All(())
_COLUMNS = {"user": "scope_user", "agent": "scope_agent", "session": "scope_session", "updated_at": "recorded_at"}
_COMPARED = {"$eq": "=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which memories of a space to take; by default all current ones."""

    filter: Filter = _EVERYTHING
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
    """Check a caller's arguments and return them as a Selection."""
    return Selection(
        filter=_EVERYTHING if filter is None else filters.parse(filter),
        within=checks.within(within),
        kinds=checks.kinds(kinds),
        tags=checks.names(tags, "tags"),
        superseded=superseded,
        expired=expired,
        as_of=None if as_of is None else times.to_micros(as_of),
    )


def compile_where(syntax: Syntax, space: int, selection: Selection, *, now: int) -> Where:
    """Return the condition on table `m` that holds for exactly the selected memories."""
    out = _Compiler(syntax, params={"space": space, "now": now})
    parts = ["m.space = :space", *_time_tests(selection, out)]
    if selection.within is not None:
        parts += _scope_tests(selection.within, out)
    if selection.kinds:
        parts.append(f"m.kind IN ({out.binds(selection.kinds)})")
    parts += [out.tag(tag) for tag in selection.tags]
    parts.append(out.compile(selection.filter))
    return Where(sql=" AND ".join(part for part in parts if part != "TRUE"), params=out.params)


def _time_tests(selection: Selection, out: _Compiler) -> list[str]:
    if selection.as_of is None:
        parts = ["m.ended_at IS NULL"]
        if not selection.expired:
            parts.append("(m.expires_at IS NULL OR m.expires_at > :now)")
    else:
        out.params["as_of"] = selection.as_of
        parts = [
            "m.recorded_at <= :as_of",
            "(m.ended_at IS NULL OR m.ended_at > :as_of)",
            "(m.expires_at IS NULL OR m.expires_at > :as_of)",
        ]
    return parts if selection.superseded else [*parts, "m.valid_to IS NULL"]


def _scope_tests(within: Within, out: _Compiler) -> list[str]:
    parts = []
    for column, names in (
        ("scope_user", within.users),
        ("scope_agent", within.agents),
        ("scope_session", within.sessions),
    ):
        if names is not None:
            found = [f"m.{column} IN ({out.binds(names)})"] if names else []
            shared = [f"m.{column} IS NULL"] if within.shared else []
            parts.append(_join(" OR ", [*found, *shared], "FALSE"))
    return parts


@dataclass(slots=True)
class _Compiler:
    """Writes SQL and collects its parameters; every value is bound."""

    syntax: Syntax
    params: dict[str, Value] = field(default_factory=dict)

    def bind(self, value: Scalar) -> str:
        name = f"v{len(self.params)}"
        self.params[name] = int(value) if isinstance(value, bool) else value
        return f":{name}"

    def binds(self, values: tuple[str, ...]) -> str:
        return ", ".join(self.bind(value) for value in values)

    def tag(self, tag: str) -> str:
        bound = self.bind(tag)
        # Not EXISTS: an engine that turns it into a join may read all rows with the tag for each memory.
        return f"coalesce((SELECT TRUE FROM tag t WHERE t.space = :space AND t.tag = {bound} AND t.seq = m.seq), FALSE)"

    def compile(self, node: Filter) -> str:
        if isinstance(node, All):
            return _join(" AND ", [self.compile(part) for part in node.parts], "TRUE")
        if isinstance(node, Any):
            return _join(" OR ", [self.compile(part) for part in node.parts], "FALSE")
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
            return self.syntax.inside("m.text", self.bind(value))
        if test.operator == "$in":
            return self.equals_any(column, test.values)
        return self.compare(column, _COMPARED[test.operator], test.values[0])

    def compare(self, column: str, sign: str, value: Scalar) -> str:
        # Never NULL, so that NOT works: a missing value compares false.
        if value is None:
            return f"({column} IS NULL)"
        return f"({column} IS NOT NULL AND {column} {sign} {self.bind(value)})"

    def equals_any(self, column: str, values: tuple[Scalar, ...]) -> str:
        # All values in one JSON parameter: a long list does not make a long statement.
        named = [value for value in values if value is not None]
        parts = [f"({column} IS NULL)"] if None in values else []
        if named:
            bound = self.bind(json.dumps(named))
            among = self.syntax.among(column, bound, "text" if isinstance(named[0], str) else "number")
            parts.append(f"({column} IS NOT NULL AND {among})")
        return _join(" OR ", parts, "FALSE")

    def metadata_test(self, test: Test) -> str:
        syntax, place = self.syntax, self.syntax.place(self.bind, test.field.path)
        if test.operator == "$exists":
            return f"({'' if test.values[0] else 'NOT '}{syntax.present(place)})"
        if test.operator == "$contains":
            return syntax.contains(self.bind, place, test.values[0])
        if test.operator == "$in":
            return syntax.equals_any(self.bind, place, test.values)
        return syntax.compare(self.bind, place, _COMPARED[test.operator], test.values[0])


def _join(word: str, parts: list[str], when_empty: str) -> str:
    return f"({word.join(parts)})" if parts else when_empty


def is_plain(selection: Selection) -> bool:
    """Whether the search index alone can apply this selection: kinds, tags and scopes of the present."""
    return selection.filter == All(()) and selection.as_of is None


class SqliteSyntax:
    """SQLite: JSON by json_type, json_extract and json_each."""

    new_space = "(SELECT coalesce(max(number), 0) + 1 FROM space)"
    by_key = " NOT INDEXED"  # otherwise SQLite reads the whole space by an index

    def among(self, column: str, param: str, kind: ListKind) -> str:
        return f"{column} IN (SELECT value FROM json_each({param}))"

    def inside(self, column: str, param: str) -> str:
        return f"(instr({column}, {param}) > 0)"

    def text_at(self, column: str, name: str) -> str:
        return f"json_extract({column}, '$.{name}')"

    def place(self, bind: Bind, path: tuple[str, ...]) -> str:
        steps = "".join(f".{json.dumps(part, ensure_ascii=False)}" for part in path)
        return f"m.metadata, {bind('$' + steps)}"

    def present(self, place: str) -> str:
        return f"(json_type({place}) IS NOT NULL)"

    def compare(self, bind: Bind, place: str, sign: str, value: Scalar) -> str:
        # SQLite ranks text above numbers and takes true for 1: compare only within one JSON type.
        kind = f"coalesce(json_type({place}), '')"
        if _is_constant(value):
            return f"({kind} = {bind(json.dumps(value))})"
        return f"({kind} IN {_types(value)} AND json_extract({place}) {sign} {bind(value)})"

    def equals_any(self, bind: Bind, place: str, values: tuple[Scalar, ...]) -> str:
        kind = f"coalesce(json_type({place}), '')"
        constants = dict.fromkeys(json.dumps(value) for value in values if _is_constant(value))
        parts = [f"{kind} = {bind(each)}" for each in constants]
        rest = [value for value in values if not _is_constant(value)]
        for some in ([v for v in rest if isinstance(v, str)], [v for v in rest if not isinstance(v, str)]):
            if some:
                inside = f"json_extract({place}) IN (SELECT value FROM json_each({bind(json.dumps(some))}))"
                parts.append(f"({kind} IN {_types(some[0])} AND {inside})")
        return f"({' OR '.join(parts)})" if parts else "FALSE"

    def contains(self, bind: Bind, place: str, value: Scalar) -> str:
        if _is_constant(value):
            match = f"e.type = {bind(json.dumps(value))}"
        else:
            match = f"e.type IN {_types(value)} AND e.value = {bind(value)}"
        is_list = f"coalesce(json_type({place}), '') = 'array'"
        return f"({is_list} AND EXISTS (SELECT 1 FROM json_each({place}) e WHERE {match}))"


class PostgresSyntax:
    """PostgreSQL: JSON by jsonb, whose equality compares types strictly and numbers by value."""

    by_key = ""
    # Random: a number lost in a failover must not be given to another space while a process still uses it.
    new_space = """(SELECT c.number FROM (SELECT 1 + CAST(floor(random() * 2147483646) AS integer) AS number
        FROM generate_series(1, 20)) c WHERE NOT EXISTS (SELECT 1 FROM space s WHERE s.number = c.number) LIMIT 1)"""

    def among(self, column: str, param: str, kind: ListKind) -> str:
        # An array, built once, can use an index.
        cast = {"text": "text", "integer": "bigint", "number": "double precision"}[kind]
        elements = f"jsonb_array_elements_text(CAST({param} AS jsonb))"
        return f"{column} = ANY(ARRAY(SELECT CAST({elements} AS {cast})))"

    def inside(self, column: str, param: str) -> str:
        return f"(strpos({column}, CAST({param} AS text)) > 0)"

    def text_at(self, column: str, name: str) -> str:
        return f"(CAST({column} AS jsonb) ->> '{name}')"

    def place(self, bind: Bind, path: tuple[str, ...]) -> str:
        # Step by step: a whole path would take a name such as "0" for the first element of a list.
        return "(CAST(m.metadata AS jsonb)" + "".join(f" -> CAST({bind(part)} AS text)" for part in path) + ")"

    def present(self, place: str) -> str:
        return f"({place} IS NOT NULL)"

    def compare(self, bind: Bind, place: str, sign: str, value: Scalar) -> str:
        if sign == "=" or _is_constant(value):
            return f"coalesce({place} = CAST({bind(json.dumps(value))} AS jsonb), FALSE)"
        # CASE, since AND guarantees no order and the cast fails on text.
        if isinstance(value, str):
            kind, found, wanted = "string", f"({place} #>> '{{}}') COLLATE \"C\"", bind(value)
        else:
            kind, found = "number", f"CAST({place} #>> '{{}}' AS numeric)"
            wanted = f"CAST({bind(json.dumps(value))} AS numeric)"
        return f"(CASE WHEN jsonb_typeof({place}) = '{kind}' THEN {found} {sign} {wanted} ELSE FALSE END)"

    def equals_any(self, bind: Bind, place: str, values: tuple[Scalar, ...]) -> str:
        wanted = f"ARRAY(SELECT jsonb_array_elements(CAST({bind(json.dumps(values))} AS jsonb)))"
        return f"coalesce({place} = ANY({wanted}), FALSE)"

    def contains(self, bind: Bind, place: str, value: Scalar) -> str:
        match = f"e = CAST({bind(json.dumps(value))} AS jsonb)"
        found = f"EXISTS (SELECT 1 FROM jsonb_array_elements({place}) e WHERE {match})"
        return f"(CASE WHEN jsonb_typeof({place}) = 'array' THEN {found} ELSE FALSE END)"


def _is_constant(value: Scalar) -> bool:
    return value is None or isinstance(value, bool)


def _types(value: Scalar) -> str:
    return "('text')" if isinstance(value, str) else "('integer', 'real')"
