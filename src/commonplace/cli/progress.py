"""A progress bar on stderr: only where somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TextIO, TypeVar

T = TypeVar("T")

_CELLS = 24
_BETWEEN = 0.1
"""Seconds between two drawings: more often nobody sees."""


class Progress:
    """A bar with rate and time left; it draws nothing unless its stream is a terminal."""

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
        """Say how much is done by now, of how much."""
        if self._first is None:
            # What an earlier run did says nothing of this one's pace.
            self._first = done if total else 0
        self.done = done
        self._total = total if total is not None else self._total
        if self._watched and self._clock() - self._drawn >= _BETWEEN:
            self._draw()

    @property
    def begun(self) -> bool:
        """Whether anything was said of how much is done."""
        return self._first is not None

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Pass items on, counting them."""
        for count, item in enumerate(items, start=1):
            yield item
            self.update(count)

    def line(self) -> str:
        """What the bar says now."""
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
        """Draw the last state and leave the line to what comes next."""
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
    """A duration for people: `45s`, `3m20s`, `1h05m`."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"
