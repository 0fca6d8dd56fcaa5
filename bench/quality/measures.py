"""Measures of a ranking: for one question, and over many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quality.data import Question

DEPTHS = (1, 5, 10, 20)
BUDGETS = (300, 700, 1_000, 2_000)
SESSION_DEPTHS = (1, 5, 10)
_SAMPLES = 1_000
Array = npt.NDArray[Any]


def measure(question: Question, ids: Sequence[str], sessions: Sequence[str | None]) -> dict[str, float]:
    """Give everything that one ranking of units, and of the sessions they stand in, is judged by."""
    return {**ranking(question.evidence, ids), **in_sessions(question.sessions, sessions)}


def ranking(evidence: frozenset[str], ids: Sequence[str]) -> dict[str, float]:
    """Recall at each depth in its three meanings, NDCG@10 and the reciprocal rank of the first evidence."""
    found = [id in evidence for id in ids]
    out: dict[str, float] = {}
    for depth in DEPTHS:
        out |= shares(sum(found[:depth]), len(evidence), f"@{depth}")
    gained = sum(1 / math.log2(place + 2) for place, hit in enumerate(found[:10]) if hit)
    out["ndcg@10"] = gained / sum(1 / math.log2(place + 2) for place in range(min(10, len(evidence))))
    out["mrr"] = 1 / (found.index(True) + 1) if any(found) else 0.0
    return out


def shares(found: int, total: int, where: str) -> dict[str, float]:
    """Any, all and the fraction of the evidence: the field calls each of them recall."""
    return {f"any{where}": float(found > 0), f"all{where}": float(found == total), f"part{where}": found / total}


def in_sessions(wanted: frozenset[str], sessions: Sequence[str | None]) -> dict[str, float]:
    """The same for sessions, each ranked by its first unit; nothing for data without sessions."""
    if not wanted:
        return {}
    order = list(dict.fromkeys(sessions))
    out: dict[str, float] = {}
    for depth in SESSION_DEPTHS:
        out |= shares(sum(session in wanted for session in order[:depth]), len(wanted), f" session@{depth}")
    return out


def updated(question: Question, ids: Sequence[str]) -> float | None:
    """Return whether the current value ranks above the outdated one; None for questions without an update."""
    if not (question.old and question.new):
        return None
    places = {id: place for place, id in enumerate(ids)}
    new = min((places[id] for id in question.new if id in places), default=math.inf)
    old = min((places[id] for id in question.old if id in places), default=math.inf)
    return float(new < old)


def averaged(rows: Iterable[Mapping[str, float]]) -> dict[str, list[float]]:
    """The values of each measure over the questions that have it."""
    out: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            out.setdefault(name, []).append(value)
    return out


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean with the bounds of its 95% bootstrap interval, by question."""
    if not values:
        return math.nan, math.nan, math.nan
    drawn = np.random.default_rng(7).choice(np.asarray(values, float), (_SAMPLES, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), (2.5, 97.5))
    return float(np.mean(values)), float(low), float(high)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a question with an answer has a higher best score than one without; a tie is half."""
    if not positive or not negative:
        return math.nan
    above = np.asarray(positive)[:, None] - np.asarray(negative)[None, :]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def auroc_interval(positive: Sequence[float], negative: Sequence[float]) -> tuple[float, float, float]:
    """The area with the bounds of its 95% bootstrap interval."""
    if not positive or not negative:
        return math.nan, math.nan, math.nan
    chance = np.random.default_rng(7)
    drawn = [
        auroc(chance.choice(positive, len(positive)).tolist(), chance.choice(negative, len(negative)).tolist())
        for _ in range(200)
    ]
    low, high = np.percentile(drawn, (2.5, 97.5))
    return auroc(positive, negative), float(low), float(high)
