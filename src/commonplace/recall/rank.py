"""One number for each candidate: how likely it is that the memory bears on the question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commonplace.recall import words
from commonplace.recall.background import Background
from commonplace.recall.types import Candidates, Floats

THRESHOLD = 0.5
"""Relevance below which a memory is not recalled, unless the caller says otherwise."""

# Fitted by bench/calibrate.py.
_BIAS = -6.0
_MEANING = 0.8
_SHARE = 4.0
_COVERAGE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The evidence for each candidate and what it comes to; every array has one value a candidate."""

    meaning: Floats
    """Deviations by which the cosine exceeds that of unrelated text."""
    words: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    bm25: Floats
    relevance: Floats
    """Calibrated probability that the memory bears on the question."""


def judge(candidates: Candidates, background: Background) -> Judgement:
    """Judge every candidate by itself: the same evidence gives the same relevance in every space."""
    wording = words.score(candidates)
    meaning = (candidates.cosines - np.float32(background.mean)) / np.float32(background.deviation)
    if not candidates.cosines.any():
        meaning = np.zeros_like(candidates.cosines)
    evidence = _BIAS + _MEANING * meaning + _SHARE * wording.share + _COVERAGE * wording.coverage
    relevance = (1.0 / (1.0 + np.exp(-evidence))).astype(np.float32)
    return Judgement(meaning=meaning, words=wording.coverage, bm25=wording.bm25, relevance=relevance)
