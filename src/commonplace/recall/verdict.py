"""How much of a question the book can answer, in one of three words."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.recall.rank import Judgement, usual
from commonplace.store import bm25
from commonplace.store.candidates import Candidates
from commonplace.values import Coverage
from commonplace.values.arrays import Bools

KNOWN = 0.8
"""Relevance from which the best memory surely bears on the question."""

HELD = 0.7
"""Share of the question's words that must be found, or only a part of what was asked can be answered."""


def coverage(candidates: Candidates, judgement: Judgement, threshold: float, asking: Sequence[int] = ()) -> Coverage:
    """Say `known` when something surely bears on the question, `unknown` when nothing passes.

    A caller who lowers the threshold sees more, but does not make the book know more. Neither do those candidates that
    only ask: a question that was put before is no answer to it.
    """
    passed = judgement.relevance >= max(threshold, usual(candidates.searched))
    if not passed.any():
        return "unknown"
    passed[list(asking)] = False
    if not passed.any():
        return "partly known"
    sure = float(judgement.relevance[passed].max()) >= KNOWN
    return "known" if sure and _held(candidates, passed) >= HELD else "partly known"


def _held(candidates: Candidates, passed: Bools) -> float:
    """Give the share of the weight of the question's words that the passed memories hold together."""
    if not candidates.counts.shape[1]:
        return 1.0
    rarity = bm25.weights(candidates.frequencies, candidates.population)
    held = (candidates.counts[passed] > 0).any(axis=0)
    return float(rarity[held].sum() / rarity.sum())
