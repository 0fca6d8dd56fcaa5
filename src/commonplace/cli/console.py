"""The console: results on stdout, remarks and errors on stderr, tables and progress bars."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple, TextIO, TypeAlias, TypeVar

from commonplace.wire import plain


class UsageError(Exception):
    """A command that cannot be understood; `hint` says where its help is."""

    code = "usage"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Result(NamedTuple):
    """The result of a command: a value for machines, a text and remarks for people, and a notice for both."""

    value: object
    text: str
    status: int = 0
    remarks: Sequence[str] = ()
    notice: str = ""


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Console:
    """Writes a command's output; with `json`, every line on either stream is JSON."""

    json: bool = False

    def show(self, result: Result) -> int:
        """Print a result and its remarks, and return its exit status."""
        if self.json:
            self.data(result.value)
        elif result.text:
            self.text(result.text if result.text.endswith("\n") else result.text + "\n")
        for remark in (*(() if self.json else result.remarks), result.notice):
            if remark:
                self.remark(remark)
        return result.status

    def data(self, value: object) -> None:
        """Print a value as one JSON document: one line, or indented on a terminal."""
        indent = 2 if sys.stdout.isatty() else None
        sys.stdout.write(_dumps(value, sys.stdout, indent) + "\n")

    def text(self, text: str) -> None:
        """Write text exactly; on a terminal, control characters from memories are escaped."""
        printable = escape_controls(text) if sys.stdout.isatty() else text
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(printable.encode(encoding, "backslashreplace").decode(encoding))

    def raw(self, content: bytes) -> None:
        """Write bytes exactly."""
        sys.stdout.flush()
        sys.stdout.buffer.write(content)

    def remark(self, text: str) -> None:
        """Print a remark on stderr, after the output so far."""
        sys.stdout.flush()
        self._complain({"remark": text}, escape_controls(text))

    def error(self, code: str, message: str, *, hint: str | None = None) -> None:
        """Print an error on stderr, in one line."""
        self._complain({"error": code, "message": message}, one_line(message) + (f"\n{hint}" if hint else ""))

    def _complain(self, value: object, text: str) -> None:
        line = _dumps(value, sys.stderr) if self.json else f"commonplace: {text}"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def escape_controls(text: str) -> str:
    """Return text with control characters escaped, so that no memory can control a terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str) -> str:
    """Return text in one line: white space collapsed, control characters escaped."""
    return escape_controls(" ".join(text.split()))


def moment(when: datetime | None) -> str:
    """Return a time to the minute in UTC, or an empty text."""
    return "" if when is None else when.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun: `1 memory`, `2 memories`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Return a number of bytes for people: `184.0 KiB`."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def is_utf8(stream: TextIO) -> bool:
    """Return whether a stream takes every character."""
    return (stream.encoding or "utf-8").lower().replace("-", "") == "utf8"


def _dumps(value: object, stream: TextIO, indent: int | None = None) -> str:
    # A stream that is not UTF-8 gets escapes, which every JSON reader undoes.
    return json.dumps(plain(value), ensure_ascii=not is_utf8(stream), indent=indent)


_GAP = "  "


def facts(values: Mapping[str, object], indent: int) -> str:
    """Return names and values, one line each, the values at column `indent`; empty values are left out."""
    cells = {name: _cell(value) for name, value in values.items()}
    return "\n".join(f"{name:<{indent}}{cell}" for name, cell in cells.items() if cell)


def terminal_width() -> int | None:
    """Return the width to fit: COLUMNS, else the terminal's, else None when a program reads the output."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 80


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "", limit: int | None = None) -> str:
    """Return rows under headings, one line each, or `empty` if there are none; empty columns are left out.

    The head "SIZE:>" aligns its column to the right; "TEXT:20" may shrink to 20 characters to fit the terminal, or
    `limit`.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    if not cells:
        return empty
    used = [i for i in range(len(heads)) if any(row[i] for row in cells)]
    names, options = zip(*(heads[i].partition(":")[::2] for i in used), strict=True)
    lines = [names, *([row[i] for i in used] for row in cells)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(names))]
    limit = limit or terminal_width()
    if limit is not None:
        _shrink(widths, [int(option) if option.isdecimal() else None for option in options], limit)
    return "\n".join(_join_cells(line, widths, options) for line in lines)


def _cell(value: object) -> str:
    text = moment(value) if isinstance(value, datetime) else "" if value is None else str(value)
    return one_line(text)


def width(text: str) -> int:
    """Return how many terminal columns a text takes."""
    return sum(_width(character) for character in text)


def cut(text: str, most: int) -> str:
    """Return a text cut to `most` columns, with … at the cut."""
    if width(text) <= most:
        return text
    start, left = [], most - 1
    for character in text:
        left -= _width(character)
        if left < 0:
            break
        start.append(character)
    return "".join(start).rstrip() + "…"


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _shrink(widths: list[int], leasts: Sequence[int | None], limit: int) -> None:
    """Shrink the columns that may shrink, the widest first, until the line fits."""
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - limit
    while excess > 0:
        shrinkable = [i for i, least in enumerate(leasts) if least is not None and widths[i] > least]
        if not shrinkable:
            break
        widths[max(shrinkable, key=widths.__getitem__)] -= 1
        excess -= 1


def _join_cells(cells: Sequence[str], widths: Sequence[int], options: Sequence[str]) -> str:
    line = []
    for cell, room, option in zip(cells, widths, options, strict=True):
        text = cut(cell, room)
        padding = " " * (room - width(text))
        line.append(padding + text if option == ">" else text + padding)
    return _GAP.join(line).rstrip()


T = TypeVar("T")
Clock: TypeAlias = Callable[[], float]

_CELLS = 24
_BETWEEN = 0.1
"""Seconds between two drawings."""


class Progress:
    """A progress bar with rate and time left; it draws only on a terminal."""

    def __init__(
        self, label: str, total: int | None = None, *, stream: TextIO | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._label, self._total, self._stream, self._clock = label, total, stream or sys.stderr, clock
        self._draws = self._stream.isatty()
        self._started_at, self._drawn_at = clock(), float("-inf")
        self.done = self._first = 0
        self.has_begun = False

    def update(self, done: int, total: int | None = None) -> None:
        """Set how much is done, and of how much."""
        if not self.has_begun:
            # An earlier run's progress says nothing about this run's rate.
            self.has_begun, self._first = True, done if total else 0
        self.done = done
        self._total = total if total is not None else self._total
        if self._draws and self._clock() - self._drawn_at >= _BETWEEN:
            self._draw()

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items and count them."""
        for count, item in enumerate(items, start=1):
            yield item
            self.update(count)

    def line(self) -> str:
        """Return the bar's current text."""
        seconds = max(self._clock() - self._started_at, 1e-9)
        rate = (self.done - self._first) / seconds
        if not self._total:
            return f"{self._label} {self.done:,}  {rate:,.0f}/s"
        share = min(self.done / self._total, 1.0)
        bar = "#" * int(share * _CELLS)
        left = span((self._total - self.done) / rate) if rate > 0 else "?"
        count = f"{self.done:,}/{self._total:,}"
        return f"{self._label} [{bar:<{_CELLS}}] {share:4.0%}  {count}  {rate:,.0f}/s  {left} left"

    def close(self) -> None:
        """Draw the last state and end the line."""
        if self._draws:
            self._draw(end="\n")
            self._draws = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _draw(self, end: str = "") -> None:
        self._drawn_at = self._clock()
        self._stream.write(f"\r\x1b[K{self.line()}{end}")
        self._stream.flush()


def span(seconds: float) -> str:
    """Return a duration for people: `45s`, `3m20s`, `1h05m`."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


@contextmanager
def warnings_as_remarks(console: Console) -> Iterator[None]:
    """Print the library's log warnings as remarks while the block runs."""
    import logging  # the other commands have no use for it

    class Remarks(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            console.remark(record.getMessage())

    handler, logger = Remarks(logging.WARNING), logging.getLogger("commonplace")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
