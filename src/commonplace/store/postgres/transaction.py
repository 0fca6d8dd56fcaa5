"""One open transaction on one connection."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from commonplace.store.base import Params, Row
from commonplace.store.dialects import PostgresDialect
from commonplace.store.postgres.index import PostgresIndex
from commonplace.store.postgres.wire import Answer, Wire

POSTGRES = PostgresDialect()

_ROWS = 40
"""Rows of one INSERT: a statement costs both sides something, whatever it holds."""
_LARGE = 8_000_000
_TAKEN = "SELECT coalesce((SELECT last FROM census WHERE space = :space), 0)"
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_GIVES_ROWS = re.compile(r"\s*(SELECT|WITH|SHOW|EXPLAIN)\b|.*\bRETURNING\b", re.IGNORECASE | re.DOTALL)


class Statement(NamedTuple):
    """A statement as the server takes it."""

    text: bytes
    names: tuple[str, ...]
    """Whose values $1, $2, … are."""
    gives_rows: bool


@lru_cache(maxsize=4096)
def statement(sql: str) -> Statement:
    """Turn :name into $1, $2, …, the same number for the same name."""
    names: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    text = _PARAMETER.sub(numbered, sql)
    return Statement(text.encode(), tuple(names), _GIVES_ROWS.match(sql) is not None)


@lru_cache(maxsize=64)
def _of_many_rows(sql: str) -> str:
    """An INSERT of one row as one of many, whose parameters have the row's number behind their names."""
    before, row, after = re.split(r"(?<=VALUES )(\(.*?\))", sql, maxsplit=1, flags=re.DOTALL)
    return before + ", ".join(_PARAMETER.sub(rf":\1_{i}", row) for i in range(_ROWS)) + after


class Transaction:
    """A Tx on one connection; its owner begins and ends it."""

    __slots__ = ("_wire", "dialect", "index", "last", "population")

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.dialect = POSTGRES
        self.population: Counter[int] = Counter()
        """By how much the number of current memories of each space changes."""
        self.index = PostgresIndex(self)
        self.last: dict[int, int] = {}
        """The last sequence number that was given out in each space."""

    def run(self, sql: str, params: Params | Mapping[str, object] | None = None) -> list[Row]:
        answer = self.send(sql, params)
        # What gives no rows is not waited for: an error of it comes to light with the next answer.
        return answer.fetchall() if statement(sql).gives_rows else []

    def send(self, sql: str, params: Mapping[str, object] | None = None) -> Answer:
        """Run one statement without waiting for it; its rows come when they are asked for."""
        text, names, _ = statement(sql)
        return self._wire.send(text, [params[name] for name in names] if params else None)

    def many(self, sql: str, params: Iterable[Params | Mapping[str, object]]) -> None:
        rows = list(params)
        while len(rows) >= _ROWS and sql.startswith("INSERT"):
            some, rows = rows[:_ROWS], rows[_ROWS:]
            if sum(map(_size, some)) > _LARGE:  # the protocol has an end, too
                self._each(sql, some)
                continue
            self.send(_of_many_rows(sql), {f"{name}_{i}": row[name] for i, row in enumerate(some) for name in row})
        self._each(sql, rows)

    def _each(self, sql: str, rows: Iterable[Params | Mapping[str, object]]) -> None:
        for row in rows:
            self.send(sql, row)

    def take(self, space: int, count: int) -> int:
        # Writers of a space take turns, so that the order of its numbers is the order of its commits; other spaces
        # count for themselves, and nobody waits.
        if space not in self.last:
            ((self.last[space],),) = self.run(_TAKEN, {"space": space})
        first = self.last[space] + 1
        self.last[space] += count
        self.population[space] += 0  # so that it is written down
        return first


def _size(row: Params | Mapping[str, object]) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, (str, bytes)))
