"""The tables, as text for a document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from quality import dates, measures
from quality.running import Row

_HEAD = """Percent, with 95% bootstrap intervals by question. any, all, part: at least one piece of the evidence,
all of it, the fraction of it."""
_UNITS = [
    *(f"{what}@{depth}" for depth in measures.DEPTHS for what in ("any", "all", "part")),
    "ndcg@10",
    "mrr",
]
_SESSIONS = [f"{what} session@{depth}" for depth in measures.SESSION_DEPTHS for what in ("any", "all")]
_BUDGETS = [f"{what} in {budget:,} tokens" for budget in measures.BUDGETS for what in ("any", "all", "part")]
_BRIEF = ["any@1", "any@5", "any@10", "all@10", "part@10", "ndcg@10", "mrr", "part in 1,000 tokens"]


def report(rows: Sequence[Row]) -> str:
    """Every table of every set."""
    parts = [_HEAD]
    for set_ in dict.fromkeys(row.set for row in rows):
        parts += _set(set_, [row for row in rows if row.set == set_])
    return "\n\n".join(part for part in parts if part)


def _set(name: str, rows: Sequence[Row]) -> list[str]:
    systems = list(dict.fromkeys(row.system for row in rows))
    by = {system: [row for row in rows if row.system == system] for system in systems}
    own = {system: [row for row in by[system] if row.kind == "own"] for system in systems}
    asked = ", ".join(f"{system} {len(own[system])}" for system in systems)
    return [
        f"## {name}\n\nAnswerable questions asked: {asked}.",
        _table("units", _UNITS, own),
        _table("within a budget of text", _BUDGETS, own),
        _table("sessions", _SESSIONS, own),
        _table("dates, by rule", dates.NAMES, own),
        _categories(own[systems[0]], systems[0]),
        _beside("cut-off, updates and cost", systems, [_other(by[system]) for system in systems]),
    ]


def _table(title: str, names: Sequence[str], own: dict[str, list[Row]]) -> str:
    values = {system: measures.averaged(row.measured for row in rows) for system, rows in own.items()}
    held = [name for name in names if any(name in each for each in values.values())]
    columns = [{name: _percent(values[system].get(name, [])) for name in held} for system in own]
    return _beside(title, list(own), columns) if held else ""


def _beside(title: str, systems: Sequence[str], columns: Sequence[dict[str, str]]) -> str:
    names = list(dict.fromkeys(name for column in columns for name in column))
    lines = [f"| {title} | {' | '.join(systems)} |", "|---|" + "--:|" * len(systems)]
    lines += [f"| {name} | {' | '.join(column.get(name, '–') for column in columns)} |" for name in names]
    return "\n".join(lines)


def _categories(rows: Sequence[Row], system: str) -> str:
    lines = [f"| {system}, by category | questions | {' | '.join(_BRIEF)} |", "|---|" + "--:|" * (len(_BRIEF) + 1)]
    for category in sorted({row.category for row in rows}):
        some = [row.measured for row in rows if row.category == category]
        values = measures.averaged(some)
        lines.append(f"| {category} | {len(some)} | {' | '.join(_short(values.get(name, [])) for name in _BRIEF)} |")
    return "\n".join(lines)


def _other(rows: Sequence[Row]) -> dict[str, str]:
    own = [row for row in rows if row.kind == "own"]
    out = {
        "tokens returned by default": f"{np.mean([row.tokens for row in own]):,.0f}",
        "evidence kept by the cut-off": _percent([row.keeps for row in own if row.keeps is not None]),
        "current above outdated": _percent([row.updated for row in own if row.updated is not None]),
    }
    categories = dict.fromkeys((row.kind, row.category) for row in rows if row.kind == "unanswerable")
    groups: list[tuple[str, Callable[[Row], bool]]] = [("foreign", lambda row: row.kind == "foreign")]
    groups += [(category, _of(category)) for _, category in categories]
    for name, belongs in groups:
        negative = [row for row in rows if belongs(row)]
        if negative:
            out[f"{name} questions that get anything"] = _percent([float(row.returned > 0) for row in negative])
            out[f"AUROC against {name} questions"] = _area([row.score for row in own], [row.score for row in negative])
    out["ms a query, wall (median)"] = f"{1000 * np.median([row.wall for row in rows]):.1f}"
    out["ms a query, CPU (median)"] = f"{1000 * np.median([row.cpu for row in rows]):.1f}"
    return out


def _of(category: str) -> Callable[[Row], bool]:
    return lambda row: row.kind == "unanswerable" and row.category == category


def _percent(values: Iterable[float]) -> str:
    mean, low, high = measures.interval(list(values))
    return "–" if math.isnan(mean) else f"{100 * mean:.1f} ({100 * low:.0f}–{100 * high:.0f})"


def _short(values: Sequence[float]) -> str:
    return f"{100 * np.mean(values):.1f}" if values else "–"


def _area(positive: Sequence[float], negative: Sequence[float]) -> str:
    area, low, high = measures.auroc_interval(positive, negative)
    return f"{area:.3f} ({low:.2f}–{high:.2f})"
