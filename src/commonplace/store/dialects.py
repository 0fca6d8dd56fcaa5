"""How each engine spells the few things that are not the same SQL in both."""

from __future__ import annotations

import json

from commonplace.filters import Scalar
from commonplace.store.base import Bind, Listed


class SqliteDialect:
    """SQLite: JSON by json_type, json_extract and json_each."""

    new_space = "(SELECT coalesce(max(number), 0) + 1 FROM space)"
    by_key = " NOT INDEXED"  # it would read the whole space by an index and drop what is not listed

    def among(self, column: str, param: str, kind: Listed) -> str:
        return f"{column} IN (SELECT value FROM json_each({param}))"

    def inside(self, column: str, param: str) -> str:
        return f"(instr({column}, {param}) > 0)"

    def place(self, bind: Bind, path: tuple[str, ...]) -> str:
        steps = "".join(f".{json.dumps(part, ensure_ascii=False)}" for part in path)
        return f"m.metadata, {bind('$' + steps)}"

    def present(self, place: str) -> str:
        return f"(json_type({place}) IS NOT NULL)"

    def compared(self, bind: Bind, place: str, sign: str, value: Scalar) -> str:
        # SQLite would rank text above numbers and take true for 1: compare only within one JSON type.
        kind = f"coalesce(json_type({place}), '')"
        if _is_constant(value):
            return f"({kind} = {bind(json.dumps(value))})"
        return f"({kind} IN {_types(value)} AND json_extract({place}) {sign} {bind(value)})"

    def listed(self, bind: Bind, place: str, values: tuple[Scalar, ...]) -> str:
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


class PostgresDialect:
    """PostgreSQL: JSON by jsonb, whose equality is strict about types and blind to how a number is written."""

    by_key = ""
    # By chance, not in order: a number that a failover has lost must not come back for another space, while a process
    # still knows it as the first one's.
    new_space = """(SELECT c.number FROM (SELECT 1 + CAST(floor(random() * 2147483646) AS integer) AS number
        FROM generate_series(1, 20)) c WHERE NOT EXISTS (SELECT 1 FROM space s WHERE s.number = c.number) LIMIT 1)"""

    def among(self, column: str, param: str, kind: Listed) -> str:
        # An array made once, so that an index can be asked for its members.
        cast = {"text": "text", "integer": "bigint", "number": "double precision"}[kind]
        elements = f"jsonb_array_elements_text(CAST({param} AS jsonb))"
        return f"{column} = ANY(ARRAY(SELECT CAST({elements} AS {cast})))"

    def inside(self, column: str, param: str) -> str:
        return f"(strpos({column}, CAST({param} AS text)) > 0)"

    def place(self, bind: Bind, path: tuple[str, ...]) -> str:
        # Step by step: a path in one go would take a name such as "0" for the first element of a list.
        return "(CAST(m.metadata AS jsonb)" + "".join(f" -> CAST({bind(part)} AS text)" for part in path) + ")"

    def present(self, place: str) -> str:
        return f"({place} IS NOT NULL)"

    def compared(self, bind: Bind, place: str, sign: str, value: Scalar) -> str:
        if sign == "=" or _is_constant(value):
            return f"coalesce({place} = CAST({bind(json.dumps(value))} AS jsonb), FALSE)"
        # CASE, since AND promises no order, and a text is no number to cast.
        if isinstance(value, str):
            kind, found, wanted = "string", f"({place} #>> '{{}}') COLLATE \"C\"", bind(value)
        else:
            kind, found = "number", f"CAST({place} #>> '{{}}' AS numeric)"
            wanted = f"CAST({bind(json.dumps(value))} AS numeric)"
        return f"(CASE WHEN jsonb_typeof({place}) = '{kind}' THEN {found} {sign} {wanted} ELSE FALSE END)"

    def listed(self, bind: Bind, place: str, values: tuple[Scalar, ...]) -> str:
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
