"""Statements on `erasure`: the receipts of a space in a chain, and its head in row 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from commonplace.errors import Conflict
from commonplace.store.base import Tx
from commonplace.store.tables.table import CopyUnit, Table


class ErasureRow(NamedTuple):
    """A receipt; its body as JSON text. The head, number 0, holds the count in its body and the last hash."""

    number: int
    changed_at: int
    settled_at: int | None
    seal: str | None
    hash: str
    body: str


@dataclass(frozen=True, kw_only=True)
class _Chain(Table[ErasureRow]):
    """The table of receipts: two stores whose chains have parted are never merged."""

    def _is_ahead(self, tx: Tx, space: int, unit: CopyUnit) -> bool:
        theirs = self.make(unit.rows[0])
        rows = self.select(tx, "space = :space AND number = :number", {"space": space, "number": theirs.number})
        if theirs.number != HEAD and rows and rows[0].hash != theirs.hash:
            raise Conflict(f"there is another receipt {theirs.number} already", current=theirs.number)
        return super()._is_ahead(tx, space, unit)


HEAD = 0
START = ""
"""The hash before the first receipt."""
ERASURES = _Chain(
    name="receipts",
    table="erasure",
    start=(-1,),
    columns=ErasureRow._fields,
    make=ErasureRow._make,
    rank="changed_at",
)


def head(tx: Tx, space: int) -> tuple[int, str]:
    """Return how many receipts there are by the head, and the hash of the last."""
    rows = ERASURES.select(tx, "space = :space AND number = 0", {"space": space})
    return (int(rows[0].body), rows[0].hash) if rows else (0, START)


def read_all(tx: Tx, space: int) -> list[ErasureRow]:
    """Return the receipts without the head, oldest first."""
    return ERASURES.select(tx, "space = :space AND number > 0 ORDER BY number", {"space": space})


def append(tx: Tx, space: int, row: ErasureRow) -> None:
    """Add a receipt and move the head to it."""
    tx.run(ERASURES.insert, ERASURES.params(space, row))
    now = ErasureRow(HEAD, row.changed_at, None, None, row.hash, str(row.number))
    tx.run(f"{ERASURES.insert} {ERASURES.update}", ERASURES.params(space, now))


def settle(tx: Tx, space: int, number: int, *, at: int, seal: str) -> None:
    """Note when the bytes were gone, unless that is noted already."""
    tx.run(
        "UPDATE erasure SET settled_at = :at, changed_at = :at, seal = :seal"
        " WHERE space = :space AND number = :number AND settled_at IS NULL",
        {"space": space, "number": number, "at": at, "seal": seal},
    )
