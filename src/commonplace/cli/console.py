"""The console: results on stdout, remarks and errors on stderr, tables and progress bars."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from types import TracebackType
from typing import TextIO, TypeVar

from commonplace.wire import plain


class Usage(Exception):
    """A command that cannot be understood; `hint` says where its help is."""

    code = "usage"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Console:
    """Writes a command's output; with `json`, every line on either stream is JSON."""

    json: bool = False

    def result(self, value: object, text: str) -> None:
        """Print the result: the value for machines, or the text for people."""
        if self.json:
            self.data(value)
        elif text:
            self.text(text if text.endswith("\n") else text + "\n")

    def data(self, value: object) -> None:
        """Print a value as one JSON document: one line, or indented on a terminal."""
        indent = 2 if sys.stdout.isatty() else None
        sys.stdout.write(_dumps(value, sys.stdout.encoding, indent) + "\n")

    def text(self, text: str) -> None:
        """Write text exactly; on a terminal, control characters from memories are escaped."""
        shown = visible(text) if sys.stdout.isatty() else text
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(shown.encode(encoding, "backslashreplace").decode(encoding))

    def raw(self, content: bytes) -> None:
        """Write bytes exactly."""
        sys.stdout.flush()
        sys.stdout.buffer.write(content)

    def remark(self, text: str) -> None:
        """Print a remark on stderr, after the output so far."""
        sys.stdout.flush()
        if self.json:
            _complain(_dumps({"remark": text}, sys.stderr.encoding))
        else:
            _complain(f"commonplace: {visible(text)}")

    def error(self, code: str, message: str, *, hint: str | None = None) -> None:
        """Print an error on stderr, in one line."""
        if self.json:
            _complain(_dumps({"error": code, "message": message}, sys.stderr.encoding))
        else:
            _complain(f"commonplace: {one_line(message)}" + (f"\n{hint}" if hint else ""))


def visible(text: str) -> str:
    """Return text with control characters escaped, so that no memory can control a terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str) -> str:
    """Return text in one line: white space collapsed, control characters escaped."""
    return visible(" ".join(text.split()))


def moment(when: datetime | None) -> str:
    """Return a time to the minute in UTC, or an empty text."""
    return "" if when is None else when.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun: `1 memory`, `2 memories`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Return a number of bytes for people: `184 KiB`."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def _dumps(value: object, encoding: str | None, indent: int | None = None) -> str:
    # A stream that is not UTF-8 gets escapes, which every JSON reader undoes.
    unicode = (encoding or "utf-8").lower().replace("-", "") == "utf8"
    return json.dumps(plain(value), ensure_ascii=not unicode, indent=indent)


def _complain(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


_GAP = "  "
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and its alignment; a column with `least` may shrink to that width."""

    name: str
    least: int | None = None
    right: bool = False


def columns() -> int | None:
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


def table(heads: Sequence[Column], rows: Sequence[Sequence[str]], *, limit: int | None) -> str:
    """Return rows under headings, one line each, at most `limit` wide; empty columns are left out."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    used = [i for i in range(len(heads)) if any(row[i] for row in cells)]
    heads = [heads[i] for i in used]
    lines = [[head.name for head in heads], *([row[i] for i in used] for row in cells)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(heads))]
    if limit is not None:
        widths = _fitted(heads, widths, limit)
    return "\n".join(_line(heads, line, widths) for line in lines)


def width(text: str) -> int:
    """Return how many terminal columns a text takes."""
    return sum(_width(character) for character in text)


def cut(text: str, most: int) -> str:
    """Return a text cut to `most` columns, with … at the cut."""
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
    """Shrink the columns that may shrink, the widest first, until the line fits."""
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


T = TypeVar("T")

_CELLS = 24
_BETWEEN = 0.1
"""Seconds between two drawings."""


class Progress:
    """A progress bar with rate and time left; it draws only on a terminal."""

    def __init__(
        self,
        label: str,
        total: int | None = None,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._watched = self._stream.isatty()
        self._started = clock()
        self._first: int | None = None
        self.done = 0
        self._drawn = float("-inf")

    def update(self, done: int, total: int | None = None) -> None:
        """Set how much is done, and of how much."""
        if self._first is None:
            # An earlier run's progress says nothing about this run's rate.
            self._first = done if total else 0
        self.done = done
        self._total = total if total is not None else self._total
        if self._watched and self._clock() - self._drawn >= _BETWEEN:
            self._draw()

    @property
    def begun(self) -> bool:
        """Return whether `update` was called."""
        return self._first is not None

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items and count them."""
        for count, item in enumerate(items, start=1):
            yield item
            self.update(count)

    def line(self) -> str:
        """Return the bar's current text."""
        seconds = max(self._clock() - self._started, 1e-9)
        rate = (self.done - (self._first or 0)) / seconds
        if not self._total:
            return f"{self._label} {self.done:,}  {rate:,.0f}/s"
        share = min(self.done / self._total, 1.0)
        bar = "#" * int(share * _CELLS)
        left = span((self._total - self.done) / rate) if rate > 0 else "?"
        return (
            f"{self._label} [{bar:<{_CELLS}}] {share:4.0%}  {self.done:,}/{self._total:,}  {rate:,.0f}/s  {left} left"
        )

    def close(self) -> None:
        """Draw the last state and end the line."""
        if self._watched:
            self._draw()
            self._stream.write("\n")
            self._stream.flush()
            self._watched = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _draw(self) -> None:
        self._drawn = self._clock()
        self._stream.write(f"\r\x1b[K{self.line()}")
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
