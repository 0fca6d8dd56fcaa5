"""Tables of text, fitted to the terminal."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.cli.output import one_line

_GAP = "  "
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A heading and how its cells are set; one with `least` gives way, down to that width."""

    name: str
    least: int | None = None
    right: bool = False


def columns() -> int | None:
    """The width to fit: COLUMNS, or the terminal's; None, no limit, when a program reads the output."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 80


def table(heads: Sequence[Column], rows: Sequence[Sequence[str]], *, limit: int | None) -> str:
    """Rows under headings, each in one line of at most `limit` columns; columns without any cell are left out."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    used = [i for i in range(len(heads)) if any(row[i] for row in cells)]
    heads = [heads[i] for i in used]
    lines = [[head.name for head in heads], *([row[i] for i in used] for row in cells)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(heads))]
    if limit is not None:
        widths = _fitted(heads, widths, limit)
    return "\n".join(_line(heads, line, widths) for line in lines)


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_width(character) for character in text)


def cut(text: str, most: int) -> str:
    """A text of at most `most` columns, with … where something is missing."""
    if width(text) <= most:
        return text
    kept, left = [], most - 1
    for character in text:
        left -= _width(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fitted(heads: Sequence[Column], widths: list[int], limit: int) -> list[int]:
    """Take what is too much from the columns that give way, the widest of them first."""
    fitted = list(widths)
    excess = sum(fitted) + len(_GAP) * (len(fitted) - 1) - limit
    while excess > 0:
        giving = [i for i, head in enumerate(heads) if head.least is not None and fitted[i] > head.least]
        if not giving:
            break
        fitted[max(giving, key=fitted.__getitem__)] -= 1
        excess -= 1
    return fitted


def _line(heads: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> str:
    set_cells = []
    for head, cell, room in zip(heads, cells, widths, strict=True):
        shown = cut(cell, room)
        padding = " " * (room - width(shown))
        set_cells.append(padding + shown if head.right else shown + padding)
    return _GAP.join(set_cells).rstrip()
