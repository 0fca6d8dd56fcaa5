"""Which of the memos that recall proposes bear on a task: those that stand out from the others, without a model.

A task is seldom worded as the one before it: what counts is less how close a memo comes than by how much closer than
the rest of the bank. Weights and bounds are fitted on those sets of tests/data/tasks that are for tuning. Figures:
docs/tasks.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from commonplace.integrations.tasks import stored
from commonplace.integrations.tasks.memo import Memo
from commonplace.models.embedders import load_embedder
from commonplace.models.embedders.base import Vectors, WordMatcher
from commonplace.recall.request import informative_words
from commonplace.values import Hit
from commonplace.values.arrays import Floats

THRESHOLD = 0.24
"""Probability from which a memo is given."""
GENEROUS = 0.02
"""Probability from which a memo is shown to somebody who looks at each."""
SURE = 0.9
"""Recall's own relevance from which a memo is given in any case: where many say the same, none of them stands out."""

# Log-odds.
BIAS = -4.69
RELEVANCE = 0.40
"""For each of recall's log-odds that is more than the other memos have on average."""
MEANING = 0.65
"""For each deviation by which its meaning is closer than theirs."""
TASK = 2.1
"""For the cosine of the task and the memo's own, or of its insight if it has none."""
WORDS = 3.5
"""For the closeness of single words, less that of the best memo."""
LENGTH = 0.78
"""For each e-fold of the task's words: of a long one each memo tells a smaller part."""

_USUAL = 8
"""A bank of fewer memos is compared with as many that have nothing to do with the task, which come to:"""
_UNRELATED_RELEVANCE, _UNRELATED_MEANING = -4.4, 2.8
_SMALLEST = 1e-6
_LONGEST = 2_000
_KEPT = 4_096


def choose(task: str, hits: Sequence[Hit], *, threshold: float | None = None, generous: bool = False) -> list[Memo]:
    """The memos that bear on a task, the best first; `generous` also gives the less likely."""
    if not hits:
        return []
    relevance = np.array([hit.parts.relevance for hit in hits])
    likely = _probabilities(task, hits, relevance)
    least = THRESHOLD if threshold is None else threshold
    given = (likely >= (min(least, GENEROUS) if generous else least)) | (relevance >= SURE)
    order = np.argsort(-likely, kind="stable").tolist()
    return [stored.read(hits[at].memory, float(likely[at])) for at in order if given[at]]


def _probabilities(task: str, hits: Sequence[Hit], relevance: Floats) -> Floats:
    odds = np.log(np.maximum(relevance, _SMALLEST) / np.maximum(1.0 - relevance, _SMALLEST))
    meaning = np.array([hit.parts.meaning for hit in hits])
    words = _words(task, [hit.memory.text[:_LONGEST] for hit in hits])
    evidence = BIAS + LENGTH * math.log(max(len(task.split()), 1)) + WORDS * (words - words.max())
    evidence += RELEVANCE * (odds - _average(odds, _UNRELATED_RELEVANCE))
    evidence += MEANING * (meaning - _average(meaning, _UNRELATED_MEANING))
    evidence += TASK * _closeness(task, [stored.read(hit.memory) for hit in hits])
    likely: Floats = (1.0 / (1.0 + np.exp(-np.clip(evidence, -60, 60)))).astype(np.float32)
    return likely


def _average(values: Floats, unrelated: float) -> float:
    missing = max(_USUAL - len(values), 0)
    return float(values.sum() + missing * unrelated) / (len(values) + missing)


def _words(task: str, texts: Sequence[str]) -> Floats:
    embedder = load_embedder()
    if not isinstance(embedder, WordMatcher):  # the one that ships is; another may take its place one day
        return np.zeros(len(texts), np.float32)
    return embedder.affinity(informative_words(task), texts)


def _closeness(task: str, memos: Sequence[Memo]) -> Floats:
    asked = _embedded(task)
    return np.array([asked @ _embedded((memo.task or memo.insight)[:_LONGEST]) for memo in memos], np.float32)


@lru_cache(maxsize=_KEPT)
def _embedded(text: str) -> Vectors:
    vector: Vectors = load_embedder().embed([text])[0]
    return vector
