"""Prints the table, the notes and the verdicts for a reader at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import peers
from goals import Verdict
from results import Cell, Line, Table

LABEL, WIDTH = 50, 21


def show(table: Table, names: Sequence[str], notes: dict[str, Sequence[str]], verdicts: Sequence[Verdict]) -> str:
    """Everything as one text."""
    return "\n".join([*_table(table, names), "", *_notes(table, names, notes), "", *_verdicts(verdicts)])


def _table(table: Table, names: Sequence[str]) -> Iterator[str]:
    yield "×N: how many times worse than commonplace (below 1: better), by the first figure"
    yield " " * LABEL + "".join(peers.PEERS[name].title.rjust(WIDTH) for name in names)
    size = -1
    for line in table.lines.values():
        if line.size != size:
            size = line.size
            title = f"{size:,} memories" if size else "at rest"
            yield f"── {title} ".ljust(LABEL + WIDTH * len(names), "─")
        yield from _line(table, line, names)


def _line(table: Table, line: Line, names: Sequence[str]) -> Iterator[str]:
    figures = "/".join(line.figures)
    for row, label in enumerate(line.rows):
        head = line.title if row == 0 else ""
        tail = " ".join(filter(None, [label, line.unit, figures]))
        text = f"{head} " if head else ""
        yield f"{text:<{max(0, LABEL - len(tail) - 1)}}{tail} ".rjust(LABEL)[:LABEL] + "".join(
            _cell(table, line, name, row).rjust(WIDTH) for name in names
        )


def _cell(table: Table, line: Line, name: str, row: int) -> str:
    cell = table.cell(line.key, name)
    if cell.missing:
        return _short(cell) if row == 0 else ""
    values = "/".join(_figure(value) for value in cell.rows[row])
    compared = line.ranked and name != peers.OURS and (line.floor or name != peers.BARE)
    ratio = table.worse(line.key, name, peers.OURS, row) if compared else None
    mark = "*" if cell.remark else ""
    return f"{values}{mark}" + (f" ×{_figure(ratio)}" if ratio is not None else "")


def _short(cell: Cell) -> str:
    """A reason that fits in a cell; a longer one goes into the notes."""
    if cell.missing == "not run":
        return "–"
    if cell.missing == "over limit":
        return cell.missing
    return "failed" if cell.offered else "not offered"


def _figure(value: float) -> str:
    if value == int(value) and value < 1e5:
        return f"{int(value)}"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def _notes(table: Table, names: Sequence[str], notes: dict[str, Sequence[str]]) -> Iterator[str]:
    yield "Notes"
    for name in names:
        for note in notes.get(name, ()):
            yield f"  {peers.PEERS[name].title}: {note}"
    told: set[tuple[str, str]] = set()
    for (key, name), cell in table.cells.items():
        reason = cell.missing or cell.remark
        if reason and reason != "not run" and (name, reason) not in told:
            told.add((name, reason))
            yield f"  {peers.PEERS[name].title}, {table.lines[key].title}: {reason}"


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if verdicts:
        yield "Goals"
    for verdict in verdicts:
        word = {True: "PASS", False: "MISS", None: "  – "}[verdict.met]
        few = len(verdict.because) == 1
        yield f"  {word}  {verdict.goal}" + (f"  ({verdict.because[0]})" if few else "")
        yield from () if few else (f"          {reason}" for reason in verdict.because)
