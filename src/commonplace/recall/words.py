"""Evidence from words: BM25 and the share of the question that a memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from commonplace.recall.types import Candidates, Floats, Ints

K1 = 1.2
B = 0.75

# A space is one sample of what its owner writes. Until it is large, a word's rarity in it says little, so
# every space counts as if it held this many more memories without any of the question's words.
PRIOR_MEMORIES = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What the question's words say about each candidate."""

    bm25: Floats
    coverage: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    share: Floats
    """BM25 as a share of the most that any text could get for this question, 0 to 1."""


def weights(frequencies: Ints, population: int) -> Floats:
    """Weigh each word by its rarity; always above zero, also in a space of one memory."""
    total = population + PRIOR_MEMORIES
    found = np.minimum(frequencies, population)
    rarity: Floats = np.log1p((total - found + 0.5) / (found + 0.5)).astype(np.float32)
    return rarity


def score(candidates: Candidates) -> Wording:
    """Score every candidate by words, from the numbers of its own space alone."""
    n, asked = candidates.counts.shape
    if not asked:
        nothing = np.zeros(n, np.float32)
        return Wording(bm25=nothing, coverage=nothing, share=nothing)
    rarity = weights(candidates.frequencies, candidates.population)
    total = float(rarity.sum())
    bm25 = _saturated(candidates) @ rarity
    coverage = (candidates.counts > 0) @ rarity / total
    share = bm25 / (total * (K1 + 1.0))
    return Wording(bm25=bm25, coverage=coverage, share=share)


def _saturated(candidates: Candidates) -> npt.NDArray[np.float32]:
    """Give each count its BM25 weight: it saturates, and in a long text it says less."""
    counts = candidates.counts.astype(np.float32)
    relative = candidates.lengths / max(candidates.mean_length, 1.0)
    damping = K1 * (1.0 - B + B * relative).astype(np.float32)
    weighted: npt.NDArray[np.float32] = counts * np.float32(K1 + 1.0) / (counts + damping[:, np.newaxis])
    return weighted
