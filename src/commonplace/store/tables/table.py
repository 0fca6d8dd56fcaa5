"""Tables with one row for each record, and the units in which stores are copied to one another.

Standard SQL only, so that every engine can be the source or the target of a copy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

from commonplace.errors import Conflict
from commonplace.store.base import Params, Row, Tx

R = TypeVar("R", bound=tuple[Any, ...])

MOST_ROWS = 500
MOST_BYTES = 16_000_000
"""A page ends with the record that reaches this: contents of 32 MB must not fill the memory by the hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyUnit:
    """Something that is copied whole; equal fingerprints mean equal to the bit."""

    key: Row
    rows: tuple[Row, ...]
    vectors: tuple[bytes | None, ...] = ()
    """One for each version of a memory; empty if a version has lost its trace."""
    terms: tuple[bytes, ...] = ()
    """The words of each version, once the unit is ready to be written."""
    fingerprint: int

    @property
    def name(self) -> str:
        """The key as text."""
        return "/".join(map(str, self.key))


class Copyable(Protocol):
    """A table, or tables, that can be copied unit by unit."""

    @property
    def name(self) -> str: ...

    @property
    def start(self) -> Row:
        """A key before every other."""

    def count(self, tx: Tx, space: int) -> int: ...

    def page(self, tx: Tx, space: int, after: Row) -> list[CopyUnit]:
        """Return the next units by key, in the engine's own order; none after the last."""

    def ready(self, units: Sequence[CopyUnit]) -> list[CopyUnit]:
        """Prepare units for writing: the slow part, done before a transaction is open."""

    def put(
        self, tx: Tx, space: int, new: Sequence[CopyUnit], changed: Sequence[CopyUnit], *, overwrite: bool
    ) -> list[CopyUnit]:
        """Write ready units and return those that are newer here and were left alone.

        Conflict if something else has a unit's key, unless it may be overwritten.
        """

    def remove(self, tx: Tx, space: int, keys: Sequence[Row]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Table(Generic[R]):
    """A table of single rows, each a NamedTuple with the columns of the key first. It is Copyable."""

    name: str
    table: str
    start: Row
    columns: tuple[str, ...]
    make: Callable[[Iterable[Any]], R]
    rank: str | None = None
    """The column that tells which of two different rows is newer; without it they are in conflict."""
    versioned: bool = False
    """Whether a restored row replaces an older one."""
    counted: bool = False
    """Whether rows are counts, of which two stores may have different ones at the same moment."""
    size: str = "0"
    """SQL for the size of a row."""

    @cached_property
    def key(self) -> tuple[str, ...]:
        return self.columns[: len(self.start)]

    @cached_property
    def insert(self) -> str:
        """An INSERT of one row."""
        names = ("space", *self.columns)
        values = ", ".join(f":{name}" for name in names)
        return f"INSERT INTO {self.table} ({', '.join(names)}) VALUES ({values})"

    @cached_property
    def update(self) -> str:
        """Suffix of `insert` that replaces a row with the same key."""
        rest = ", ".join(f"{name} = excluded.{name}" for name in self.columns[len(self.start) :])
        return f"ON CONFLICT (space, {', '.join(self.key)}) DO UPDATE SET {rest}"

    def params(self, space: int, row: Row) -> Params:
        return dict(zip(self.columns, row, strict=False), space=space)

    def read_all(self, tx: Tx, space: int) -> list[R]:
        """Return every row of a space by key."""
        return self.select(tx, f"space = :space ORDER BY {', '.join(self.key)}", {"space": space})

    @cached_property
    def _select(self) -> str:
        return f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE "

    def select(self, tx: Tx, condition: str, params: Params) -> list[R]:
        """Return the rows for which a condition holds; it may be followed by an order."""
        return [*map(self.make, tx.run(self._select + condition, params))]

    def restore(self, tx: Tx, space: int, row: R) -> bool:
        """Put back one row of `read_all`; False if the key is taken, for a versioned row by one as new."""
        newer = f"{self.update} WHERE {self.table}.{self.rank} < excluded.{self.rank}"
        conflict = newer if self.versioned else "ON CONFLICT DO NOTHING"
        return bool(tx.run(f"{self.insert} {conflict} RETURNING space", self.params(space, row)))

    def forget_all(self, tx: Tx, space: int) -> None:
        """Remove every row of a space."""
        tx.run(f"DELETE FROM {self.table} WHERE space = :space", {"space": space})

    def count(self, tx: Tx, space: int) -> int:
        return int(tx.run(f"SELECT count(*) FROM {self.table} WHERE space = :space", {"space": space})[0][0])

    def page(self, tx: Tx, space: int, after: Row) -> list[CopyUnit]:
        key, last = ", ".join(self.key), ", ".join(f":{name}" for name in self.key)
        condition = f"space = :space AND ({key}) > ({last}) ORDER BY {key} LIMIT :limit"
        params = {**self.params(space, after), "limit": MOST_ROWS}
        limit = count_fitting(tx.run(f"SELECT {self.size} FROM {self.table} WHERE {condition}", params))
        if not limit:
            return []
        return [*map(self._unit, self.select(tx, condition, {**params, "limit": limit}))]

    def units(self, tx: Tx, space: int, keys: Sequence[Row]) -> list[CopyUnit]:
        """Return the units with these keys, of a table whose key is one column."""
        condition, params = among(tx, self.key[0], space, [name for (name,) in keys])
        return [*map(self._unit, self.select(tx, condition, params))]

    def ready(self, units: Sequence[CopyUnit]) -> list[CopyUnit]:
        return list(units)

    def put(
        self, tx: Tx, space: int, new: Sequence[CopyUnit], changed: Sequence[CopyUnit], *, overwrite: bool
    ) -> list[CopyUnit]:
        tx.many(f"{self.insert} ON CONFLICT DO NOTHING", [self.params(space, unit.rows[0]) for unit in new])
        ahead, behind = [], []
        for unit in changed:
            if not overwrite and self._is_ahead(tx, space, unit):
                ahead.append(unit)
            else:
                behind.append(self.params(space, unit.rows[0]))
        tx.many(f"{self.insert} {self.update}", behind)
        return ahead

    def remove(self, tx: Tx, space: int, keys: Sequence[Row]) -> None:
        tx.many(f"DELETE FROM {self.table} WHERE {self._one}", [self.params(space, key) for key in keys])

    def _is_ahead(self, tx: Tx, space: int, unit: CopyUnit) -> bool:
        """Whether the row at a unit's key is newer than the unit."""
        sql = f"SELECT {self.rank or 0} FROM {self.table} WHERE {self._one}"
        found = tx.run(sql, self.params(space, unit.key))
        if not found:
            return False
        here = found[0][0]
        there = unit.rows[0][self.columns.index(self.rank)] if self.rank else here
        if here == there and not self.counted:
            raise Conflict(f"there is a different record at {unit.name} already", current=int(here))
        return bool(here > there)

    @cached_property
    def _one(self) -> str:
        return " AND ".join(f"{name} = :{name}" for name in ("space", *self.key))

    def _unit(self, row: R) -> CopyUnit:
        return CopyUnit(key=tuple(row[: len(self.start)]), rows=(row,), fingerprint=fingerprint(tuple(row)))


def fingerprint(values: object, blobs: Iterable[bytes | None] = ()) -> int:
    """Return 128 bits over plain values, and over large bytes."""
    found = blake2b(repr(values).encode(), digest_size=16)
    for blob in blobs:
        found.update(b"-" if blob is None else b"%d:" % len(blob))
        found.update(blob or b"")
    return int.from_bytes(found.digest(), "big")


def count_fitting(sizes: Iterable[Row]) -> int:
    """Return how many records make a page."""
    count = total = 0
    for size, *_ in sizes:
        count, total = count + 1, total + int(size or 0)
        if total >= MOST_BYTES:
            break
    return count


def among(tx: Tx, column: str, space: int, names: Sequence[str]) -> tuple[str, Params]:
    """Return a condition on a space and a list of texts, with its parameters."""
    params: Params = {"space": space, "names": json.dumps(list(names))}
    return f"space = :space AND {tx.syntax.among(column, ':names', 'text')}", params
