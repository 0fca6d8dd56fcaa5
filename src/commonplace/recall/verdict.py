"""How much of a question the book can answer, in one of three words."""

from __future__ import annotations

import numpy as np

from commonplace.recall import words
from commonplace.recall.rank import Judgement
from commonplace.recall.types import Candidates
from commonplace.values import Coverage

KNOWN = 0.8
"""Relevance from which the best memory alone settles that the book knows about it."""

HELD = 0.5
"""Share of the question's words that must be found when the best memory is less sure than that."""


def coverage(candidates: Candidates, judgement: Judgement, threshold: float) -> Coverage:
    """Say `known` when something surely bears on the question, `unknown` when nothing passes the threshold."""
    passed = judgement.relevance >= threshold
    if not passed.any():
        return "unknown"
    if float(judgement.relevance[passed].max()) >= KNOWN and _held(candidates, passed) >= HELD:
        return "known"
    return "partly known"


def _held(candidates: Candidates, passed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """Give the share of the weight of the question's words that the passed memories hold together."""
    if not candidates.counts.shape[1]:
        return 1.0
    rarity = words.weights(candidates.frequencies, candidates.population)
    held = (candidates.counts[passed] > 0).any(axis=0)
    return float(rarity[held].sum() / rarity.sum())
