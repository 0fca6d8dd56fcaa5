"""The figures of the PostgreSQL benchmarks as a table, and who is ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LABEL = 46
HEADS = ("p50 ms", "p95 ms", "per s", "× rate", "CPU ms", "client", "server", "× CPU", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One side's figures on one line."""

    p50: float
    p95: float
    rate: float
    client: float
    server: float
    right: float | None
    calls: int

    @property
    def cpu(self) -> float:
        return self.client + self.server


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One line: a thing that was measured of every side."""

    size: int
    title: str
    unit: str
    figures: dict[str, Figures]


def show(measured: Sequence[Measured], *, heads: bool = True) -> str:
    """Everything as one text."""
    return "\n".join([*(_heads() if heads else ()), *_lines(measured)])


def _heads() -> Iterator[str]:
    yield "×N: how many times commonplace's (rate: commonplace's is N times that); above 1 commonplace is ahead"
    yield " " * LABEL + "".join(head.rjust(9) for head in HEADS)


def _lines(measured: Sequence[Measured]) -> Iterator[str]:
    size = -1
    for line in measured:
        if line.size != size:
            size = line.size
            yield f"── {size:,} memories ".ljust(LABEL + 9 * len(HEADS), "─")
        yield line.title
        ours = next(iter(line.figures.values()))
        for name, each in line.figures.items():
            yield f"    {name}".ljust(LABEL) + _row(each, None if each is ours else ours)


def _row(each: Figures, ours: Figures | None) -> str:
    cells = [
        f"{each.p50:.2f}",
        f"{each.p95:.2f}",
        f"{each.rate:,.0f}",
        f"×{ours.rate / each.rate:.2f}" if ours else "",
        f"{each.cpu:.2f}",
        f"{each.client:.2f}",
        f"{each.server:.2f}",
        f"×{each.cpu / ours.cpu:.2f}" if ours else "",
        f"{each.right:.3f}" if each.right is not None else "",
    ]
    return "".join(cell.rjust(9) for cell in cells)


def verdict(measured: Sequence[Measured], ours: str) -> str:
    """Return the lines on which commonplace is ahead of every other side, by rate and by CPU, and the others."""
    compared = [line for line in measured if any(not name.startswith(ours) for name in line.figures)]
    behind = [text for line in compared if (text := _behind(line, ours))]
    ahead = len(compared) - len(behind)
    if not compared:
        return "Nothing to compare with."
    end = "." if not behind else "; not ahead on: " + "; ".join(behind) + "."
    return f"commonplace is ahead by rate and by CPU on {ahead} of {len(compared)} lines" + end


def _behind(line: Measured, ours: str) -> str:
    """Return how and against which side commonplace is not ahead; empty if it is."""
    mine = line.figures[ours]
    told = []
    for name, each in line.figures.items():
        if name.startswith(ours):
            continue
        lost = [
            *([f"rate ×{mine.rate / each.rate:.2f}"] if mine.rate < each.rate else []),
            *([f"CPU ×{each.cpu / mine.cpu:.2f}"] if mine.cpu > each.cpu else []),
        ]
        if lost:
            wrong = f", whose answers hold {each.right:.0%} of the true ten" if (each.right or 1.0) < 0.9 else ""
            told.append(f"{' and '.join(lost)} to {name}{wrong}")
    return f"{line.size:,} {line.title} ({', '.join(told)})" if told else ""
