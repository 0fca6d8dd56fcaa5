"""Evidence from words: BM25 and the share of the question that a memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from commonplace.store.candidates import Candidates, Floats, Ints

K1 = 0.4
"""How slowly repetition of a word saturates: a memory is short, and once said is nearly enough."""

B = 1.0
"""Share of the damping that grows with length."""

PIVOT = 20.0
"""Informative words up to which a text is as good a place for a word as any. BM25 usually compares with the
average, which rewards terse texts in a book of chat and means nothing in a book of one memory."""

PRIOR = 50.0
"""A space is a small sample of what its owner writes: it counts as if it held this many more memories."""

PRIOR_COMMON = 5.0
"""In so many of those, words that occur in texts about anything are held."""

Bools = npt.NDArray[np.bool_]


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


def weights(frequencies: Ints, population: int, common: Bools | None = None) -> Floats:
    """Weigh each word by its rarity; always above zero, also in a space of one memory."""
    found = np.minimum(frequencies, population).astype(np.float32)
    if common is not None:
        found += np.float32(PRIOR_COMMON) * common.astype(np.float32)
    rarity: Floats = np.log1p((population + PRIOR - found + 0.5) / (found + 0.5)).astype(np.float32)
    return rarity


def damping(lengths: Floats) -> Floats:
    """Give what BM25 adds below the fraction line for texts of these lengths."""
    relative = np.maximum(lengths, PIVOT) / PIVOT
    damped: Floats = (K1 * (1.0 - B + B * relative)).astype(np.float32)
    return damped


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
