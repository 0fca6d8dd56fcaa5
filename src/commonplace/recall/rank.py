"""One number for each candidate: how likely it is that the memory bears on the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from commonplace.models.background import Background
from commonplace.recall import context, words
from commonplace.store import bm25
from commonplace.store.candidates import Candidates
from commonplace.text import terms as analyze
from commonplace.values.arrays import Bools, Floats, Ints

THRESHOLD = 0.25
"""Relevance below which nothing is recalled, unless the caller says otherwise."""
HANDFUL = 50
"""Memories among which little can be mistaken for an answer."""
HANDFUL_THRESHOLD = 0.15
"""The threshold there: of questions about something else, two in a hundred reach it."""
COMPANY = 0.08
"""Relevance that is enough for a memory beside one that passes: where one bears on a question, more do."""
APART = 4.5
"""Log-odds by which it may stand behind the best one: beside a sure answer, what is merely likely is noise."""

# Log-odds, fitted together with those of `closely` to put the evidence first (docs/quality.md).
BIAS = -3.4
MEANING = 0.60
"""For each deviation of the cosine above that of unrelated text."""
WORDS = 11.8
"""For all the question's words held, by BM25's share."""
CROWD = -0.44
"""For each e-fold of memories searched: the more there are, the better the best of the unrelated looks."""
UNHEARD = -4.6
"""For a question of words that the space never heard, once the space is large enough for that to tell."""
LARGE = 200.0
"""Memories from which a space is more large than small."""
BLIND = 4.0
"""The meaning that is assumed of whatever holds one of the words, when there is no vector to compare."""

CERTAIN = 60.0
"""Log-odds beyond which nothing changes, so that no cosine can overflow."""


def usual(searched: int) -> float:
    """Give the threshold that holds among so many memories, unless the caller says otherwise."""
    return HANDFUL_THRESHOLD if searched <= HANDFUL else THRESHOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The evidence for each candidate and what it comes to; every array has one value a candidate."""

    meaning: Floats
    """Deviations by which the cosine exceeds that of unrelated text; 0 without a vector."""
    share: Floats
    """BM25 as a share of the most that any text could get for this question, 0 to 1."""
    words: Floats
    """Share of the weight of the question's words that the candidate holds, 0 to 1."""
    evidence: Floats
    """Log-odds of `relevance`: what hits are ordered by, since certainties all look alike as probabilities."""
    relevance: Floats
    """Calibrated probability that the memory bears on the question."""
    reread: Floats | None = None
    """A reranker's log-odds for each candidate that it read, NaN for the others; None without a reranker."""


def judge(
    candidates: Candidates,
    background: Background,
    terms: Sequence[int] = (),
) -> Judgement:
    """Judge every candidate by its words, its meaning, and what stands around it in its session.

    `terms` are the question's, in the order of the candidates' counts: with them, words that are common
    everywhere count less.
    """
    common = analyze.common(terms) if len(terms) == candidates.counts.shape[1] else None
    wording = words.score(candidates, common)
    meaning = _meaning(candidates, background)
    evidence = _standing(candidates, common) + WORDS * wording.share + _lent(candidates, wording, common)
    if candidates.cosines.any():
        evidence += MEANING * meaning
    else:
        evidence = np.where(wording.share > 0, evidence + MEANING * BLIND, -CERTAIN)
        meaning = np.zeros_like(meaning)
    evidence = np.clip(evidence, -CERTAIN, CERTAIN).astype(np.float32)
    return Judgement(
        meaning=meaning,
        share=wording.share,
        words=wording.coverage,
        evidence=evidence,
        relevance=probability(evidence),
    )


def closer(judgement: Judgement, positions: Ints, found: Floats) -> Judgement:
    """Put the evidence that a closer look at some candidates found in place; whatever was not looked at is out."""
    evidence = np.full_like(judgement.evidence, -CERTAIN)
    evidence[positions] = np.clip(found, -CERTAIN, CERTAIN)
    return replace(judgement, evidence=evidence, relevance=probability(evidence))


_EVIDENCE = 0.0057
"""What one of log-odds is worth among certainties: a ninth of a memory's whole decay."""


def certainty(evidence: float) -> float:
    """Return the factor for the log-odds behind a relevance, since certainties look alike as probabilities."""
    return math.exp(_EVIDENCE * (evidence - CERTAIN))


def probability(evidence: Floats) -> Floats:
    """Turn log-odds into probabilities."""
    return (1.0 / (1.0 + np.exp(-evidence))).astype(np.float32)


def _lent(candidates: Candidates, wording: words.Wording, common: Bools | None) -> Floats:
    if wording.held is None:
        return np.zeros(len(candidates.seqs), np.float32)
    rarity = bm25.weights(candidates.frequencies, candidates.population, common)
    return context.lent(candidates, wording.held, rarity)


def _meaning(candidates: Candidates, background: Background) -> Floats:
    """Give the deviations of each cosine above that of unrelated text of the same length."""
    longer = np.log(np.maximum(candidates.lengths, bm25.PIVOT) / bm25.PIVOT)
    unrelated = background.mean + background.growth * longer
    meaning: Floats = ((candidates.cosines - unrelated) / background.deviation).astype(np.float32)
    return meaning


def _standing(candidates: Candidates, common: Bools | None) -> float:
    """Give the log-odds that hold before any candidate is looked at."""
    population = candidates.population
    crowd = float(np.log(max(candidates.searched, 1)))
    if not len(candidates.frequencies):
        return BIAS + CROWD * crowd
    rarity = bm25.weights(candidates.frequencies, population, common)
    unheard = float(rarity[candidates.frequencies == 0].sum() / rarity.sum())
    return BIAS + CROWD * crowd + UNHEARD * unheard * population / (population + LARGE)
