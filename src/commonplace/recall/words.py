"""Evidence from words: BM25 and the share of the question that a memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commonplace.store.bm25 import K1, damping, weights
from commonplace.store.candidates import Candidates
from commonplace.values.arrays import Bools, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What the question's words say about each candidate."""

    bm25: Floats
    coverage: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    share: Floats
    """BM25 as a share of the most that any text could get for this question, 0 to 1."""
    held: Floats | None = None
    """How far each candidate holds each word, 0 to 1; None for a question without words."""


def score(candidates: Candidates, common: Bools | None = None) -> Wording:
    """Score every candidate by words, from the numbers of its own space alone."""
    n, asked = candidates.counts.shape
    if not asked:
        nothing = np.zeros(n, np.float32)
        return Wording(bm25=nothing, coverage=nothing, share=nothing)
    rarity = weights(candidates.frequencies, candidates.population, common)
    total = rarity.sum()
    counts = candidates.counts.astype(np.float32)
    saturated = counts * np.float32(K1 + 1.0) / (counts + damping(candidates.lengths)[:, np.newaxis])
    bm25: Floats = saturated @ rarity
    coverage: Floats = (counts > 0) @ rarity / total
    most = np.float32(K1 + 1.0)
    return Wording(bm25=bm25, coverage=coverage, share=bm25 / (total * most), held=saturated / most)
