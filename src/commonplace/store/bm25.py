"""BM25: how rare a word is, and how much of it a text of some length holds."""

from __future__ import annotations

import numpy as np

from commonplace.values.arrays import Bools, Floats, Ints

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
