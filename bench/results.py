"""The results: lines of a table, a cell for each candidate, and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from measure import percentile

TIMES = ("wall", "CPU")
PERCENTILES = ("p50", "p95")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that was measured of every candidate, in one or two rows of one or two figures."""

    key: str
    title: str
    unit: str
    size: int = 0
    rows: tuple[str, ...] = TIMES
    figures: tuple[str, ...] = PERCENTILES
    higher: bool = False
    """Whether a higher figure is the better one."""
    ranked: bool = True
    """Whether the goals ask us to be ahead on this line."""
    judged: int = 2
    """How many of its rows the goals look at; the rest explain."""
    floor: bool = True
    """Whether bare SQLite is a fair floor for this line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One candidate's figures for one line, or why there are none."""

    rows: tuple[tuple[float, ...], ...] = ()
    count: int = 0
    missing: str = ""
    offered: bool = True
    """Whether a missing figure is our failure to get it, or the candidate has no such thing."""
    remark: str = ""


@dataclass(slots=True)
class Table:
    """Lines in the order in which they were measured."""

    lines: dict[str, Line] = field(default_factory=dict)
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)

    def put(self, line: Line, name: str, cell: Cell) -> None:
        """Set one cell; the line appears with its first cell."""
        self.lines.setdefault(line.key, line)
        self.cells[line.key, name] = cell

    def cell(self, key: str, name: str) -> Cell:
        """A candidate's cell; an empty one says that it was not measured."""
        return self.cells.get((key, name), Cell(missing="not run"))

    def worse(self, key: str, name: str, than: str, row: int) -> float | None:
        """How many times worse `name` is than `than` by the first figure of a row; below 1 it is better."""
        mine, theirs = self.cell(key, name), self.cell(key, than)
        if mine.missing or theirs.missing:
            return None
        a, b = mine.rows[row][0], theirs.rows[row][0]
        if self.lines[key].higher:
            a, b = b, a
        if a == b:
            return 1.0
        return a / b if b else float("inf")

    def plain(self) -> list[dict[str, Any]]:
        """All lines as JSON."""
        return [
            {
                "key": line.key,
                "title": line.title,
                "unit": line.unit,
                "size": line.size,
                "higher_is_better": line.higher,
                "cells": {name: _plain(line, cell) for (key, name), cell in self.cells.items() if key == line.key},
            }
            for line in self.lines.values()
        ]


def _plain(line: Line, cell: Cell) -> dict[str, Any]:
    if cell.missing:
        return {"missing": cell.missing}
    figures = {
        row: dict(zip(line.figures, values, strict=False)) for row, values in zip(line.rows, cell.rows, strict=True)
    }
    return figures | {"count": cell.count} | ({"remark": cell.remark} if cell.remark else {})


def spread(*columns: Sequence[float], remark: str = "") -> Cell:
    """A cell with the median and 95th percentile of each row of values."""
    rows = tuple((percentile(values, 0.5), percentile(values, 0.95)) for values in columns)
    return Cell(rows=rows, count=len(columns[0]), remark=remark)


def rate(wall: Sequence[float], cpu: Sequence[float], remark: str = "") -> Cell:
    """A cell with rows a second, from milliseconds a row of several equal batches."""
    rows = tuple((1e3 * len(ms) / max(sum(ms), 1e-9),) for ms in (wall, cpu))
    return Cell(rows=rows, count=len(wall), remark=remark)
