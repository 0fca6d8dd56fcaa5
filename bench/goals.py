"""The goals, checked with the figures of this run: passed, missed, or not measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import peers
from results import Line, Table

OURS, BARE = peers.OURS, peers.BARE
UNKNOWN = ("not measured",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One goal: what it asks, whether it is met (None: not measured), and the figures that say so."""

    goal: str
    met: bool | None
    because: tuple[str, ...]


def judge(table: Table, names: list[str]) -> list[Verdict]:
    """All goals, in order."""
    if OURS not in names:
        return []
    others = [name for name in names if name not in (OURS, BARE)]
    return [
        *(_ahead(table, name) for name in others),
        _within(table),
        *_quarter(table),
        *_loop(table),
        *_limits(table),
    ]


def _ahead(table: Table, name: str) -> Verdict:
    compared, behind = 0, []
    for line, row in _rows(table):
        ratio = table.worse(line.key, name, OURS, row) if line.ranked else None
        if ratio is None:
            continue
        compared += 1
        if ratio < 1:
            behind.append(f"{_name(line, row)}: {_pair(table, line, row, name)}")
    title = f"ahead of {peers.PEERS[name].title} on every line"
    if not compared:
        return Verdict(goal=title, met=None, because=UNKNOWN)
    return Verdict(goal=title, met=not behind, because=tuple(behind) or (f"{compared} comparisons",))


def _within(table: Table, times: float = 3.0) -> Verdict:
    over, worst = [], 0.0
    for line, row in _rows(table):
        ratio = table.worse(line.key, OURS, BARE, row) if line.ranked and line.floor else None
        if ratio is None:
            continue
        worst = max(worst, ratio)
        if ratio > times:
            over.append(f"{_name(line, row)}: {ratio:.1f} times")
    goal = f"within {times:g} times bare SQLite on every line"
    if not worst:
        return Verdict(goal=goal, met=None, because=UNKNOWN)
    return Verdict(goal=goal, met=not over, because=tuple(over) or (f"at worst {worst:.1f} times",))


def _quarter(table: Table) -> Iterator[Verdict]:
    for line in _lines(table, "both@"):
        ratios = [table.worse(line.key, "chroma", OURS, row) for row in range(len(line.rows))]
        known = [ratio for ratio in ratios if ratio is not None]
        because = ", ".join(f"{row} 1/{r:.1f}" for row, r in zip(line.rows, known, strict=False))
        yield Verdict(
            goal=f"{line.title} at {line.size:,}: at most a quarter of Chroma's",
            met=min(known) >= 4 if known else None,
            because=(because,) if known else UNKNOWN,
        )


def _loop(table: Table) -> Iterator[Verdict]:
    for line in _lines(table, "loop@"):
        goal = f"{line.title} at {line.size:,}: at most 5 ms"
        cell, idle = table.cell(line.key, OURS), table.cell(f"idle@{line.size}", OURS)
        if cell.missing:
            yield Verdict(goal=goal, met=None, because=(cell.missing,))
            continue
        because = (
            f"{cell.rows[0][0]:.1f} ms late; the loop's own thread worked {cell.rows[1][0]:.1f} ms at most;"
            f" with nothing to do it was {idle.rows[0][0]:.1f} ms late"
        )
        yield Verdict(goal=goal, met=cell.rows[0][0] <= 5, because=(because,))


def _limits(table: Table) -> Iterator[Verdict]:
    """The goals that are plain numbers: (line, row, figure, limit)."""
    largest = max((line.size for line in table.lines.values()), default=0)
    wanted = [
        ("recall without embedding, CPU p50", f"both@{largest}", 1, 0, 3.0, "ms"),
        ("recall with the default embedder, CPU p50", f"embedded@{largest}", 1, 0, 8.0, "ms"),
        ("recall with the default embedder, CPU p95", f"embedded@{largest}", 1, 1, 20.0, "ms"),
        ("import", "import", 0, 0, 0.4, "s"),
        ("packages installed", "packages", 0, 0, 15.0, ""),
        ("megabytes installed, default embedder included", "megabytes", 0, 0, 250.0, "MB"),
        ("megabytes installed, without its model", "megabytes", 0, 1, 110.0, "MB"),
    ]
    for title, key, row, figure, limit, unit in wanted:
        at = f" at {largest:,}" if "@" in key else ""
        goal = f"{title}{at}: at most {limit:g} {unit}".rstrip()
        cell = table.cell(key, OURS)
        if cell.missing:
            yield Verdict(goal=goal, met=None, because=(cell.missing,))
        else:
            value = cell.rows[row][figure]
            yield Verdict(goal=goal, met=value <= limit, because=(f"{value:.3g} {unit}".rstrip(),))


def _lines(table: Table, prefix: str) -> list[Line]:
    return [line for line in table.lines.values() if line.key.startswith(prefix)]


def _rows(table: Table) -> Iterator[tuple[Line, int]]:
    for line in table.lines.values():
        for row in range(min(line.judged, len(line.rows))):
            yield line, row


def _name(line: Line, row: int) -> str:
    at = f" at {line.size:,}" if line.size else ""
    return f"{line.title}{at}" + (f", {line.rows[row]}" if line.rows[row] else "")


def _pair(table: Table, line: Line, row: int, name: str) -> str:
    ours, theirs = (table.cell(line.key, n).rows[row][0] for n in (OURS, name))
    return f"{ours:.3g} against {theirs:.3g} {line.unit}".rstrip()
