"""One number for each candidate: how likely it is that the memory bears on the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from commonplace.recall import analyze, words
from commonplace.recall.background import Background
from commonplace.recall.types import Candidates, Floats

THRESHOLD = 0.2
"""Relevance below which a memory is not recalled, unless the caller says otherwise."""

# Log-odds of relevance, fitted by bench/calibrate.py on books of 1 to 680 memories.
BIAS = -4.0
MEANING = 0.85
"""For each deviation of the cosine above that of unrelated text."""
WORDS = 14.0
"""For all the question's words held, by BM25's share."""
CROWD = -0.55
"""For each e-fold of memories searched: the more there are, the better the best of the unrelated looks."""
UNHEARD = -2.5
"""For a question of words that the space never heard, once the space is large enough for that to tell."""
LARGE = 200.0
"""Memories from which a space is more large than small."""
BLIND = 3.0
"""The meaning that is assumed of whatever holds one of the words, when there is no vector to compare."""

CERTAIN = 60.0
"""Log-odds beyond which nothing changes, so that no cosine can overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The evidence for each candidate and what it comes to; every array has one value a candidate."""

    meaning: Floats
    """Deviations by which the cosine exceeds that of unrelated text; 0 without a vector."""
    words: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    bm25: Floats
    evidence: Floats
    """Log-odds of `relevance`: what hits are ordered by, since certainties all look alike as probabilities."""
    relevance: Floats
    """Calibrated probability that the memory bears on the question."""


def judge(
    candidates: Candidates,
    background: Background,
    terms: Sequence[int] = (),
) -> Judgement:
    """Judge every candidate by itself: the rest of the list changes nothing.

    `terms` are the question's, in the order of the candidates' counts: with them, words that are common
    everywhere count less.
    """
    common = analyze.common(terms) if len(terms) == candidates.counts.shape[1] else None
    wording = words.score(candidates, common)
    meaning = _meaning(candidates, background)
    evidence = _standing(candidates, common) + WORDS * wording.share
    if candidates.cosines.any():
        evidence += MEANING * meaning
    else:
        evidence = np.where(wording.share > 0, evidence + MEANING * BLIND, -CERTAIN)
        meaning = np.zeros_like(meaning)
    evidence = np.clip(evidence, -CERTAIN, CERTAIN).astype(np.float32)
    relevance = (1.0 / (1.0 + np.exp(-evidence))).astype(np.float32)
    return Judgement(meaning=meaning, words=wording.coverage, bm25=wording.bm25, evidence=evidence, relevance=relevance)


def _meaning(candidates: Candidates, background: Background) -> Floats:
    """Give the deviations of each cosine above that of unrelated text of the same length."""
    longer = np.log(np.maximum(candidates.lengths, words.PIVOT) / words.PIVOT)
    unrelated = background.mean + background.growth * longer
    meaning: Floats = ((candidates.cosines - unrelated) / background.deviation).astype(np.float32)
    return meaning


def _standing(candidates: Candidates, common: words.Bools | None) -> float:
    """Give the log-odds that hold before any candidate is looked at."""
    population = candidates.population
    crowd = float(np.log(max(candidates.searched, 1)))
    if not len(candidates.frequencies):
        return BIAS + CROWD * crowd
    rarity = words.weights(candidates.frequencies, population, common)
    unheard = float(rarity[candidates.frequencies == 0].sum() / rarity.sum())
    return BIAS + CROWD * crowd + UNHEARD * unheard * population / (population + LARGE)
