"""Which of the memos that recall proposes bear on a task: those that stand out from the others, without a model.

A task is seldom worded as the one before it: what counts is less how close a memo comes than by how much closer than
the rest of the bank. Weights and bounds are fitted on tests/data/tasks/dev.jsonl (docs/tasks.md has the figures).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from commonplace.embed import load
from commonplace.embed.base import Vectors, WordMatcher
from commonplace.recall import question
from commonplace.recall.types import Floats
from commonplace.tasks import stored
from commonplace.tasks.memo import Memo
from commonplace.values import Hit

THRESHOLD = 0.22
"""Probability from which a memo is given."""
SHARE = 0.4
"""What it must have of the best memo's."""
GENEROUS = 0.02
"""Probability from which a memo is shown to somebody who looks at each."""
SURE = 0.9
"""Recall's own relevance from which a memo is given in any case: where many say the same, none of them stands out."""

# Log-odds.
BIAS = -3.6
MEANING = 0.63
"""For each deviation by which its meaning is closer than the third best memo's."""
WORDS = 8.7
"""For single words that are as much closer."""
PARTS = 5.6
"""For clauses of the task that come closer to clauses of the memo."""
LENGTH = 0.8
"""For each e-fold of the task's words: of a long one each memo tells a smaller part."""

_THIRD = 2
_NO_MEANING, _NO_WORDS = 0.0, 0.25
"""What unrelated text comes to: a bank of one or two memos is compared with that."""
_PART = re.compile(r"(?<=[.!?;:])\s+|\n+|, (?=\w+ \w+ \w+)| and (?=\w+ \w+)| but ")
_MOST_PARTS = 40
_LONGEST = 2_000
_KEPT = 4_096


def choose(task: str, hits: Sequence[Hit], *, threshold: float | None = None, generous: bool = False) -> list[Memo]:
    """The memos that bear on a task, the best first; `generous` also gives the less likely."""
    if not hits:
        return []
    likely = _probabilities(task, hits)
    least = THRESHOLD if threshold is None else threshold
    least = min(least, GENEROUS) if generous else max(least, SHARE * float(likely.max()))
    sure = np.array([hit.parts.relevance for hit in hits]) >= SURE
    order = np.argsort(-likely, kind="stable").tolist()
    return [stored.read(hits[at].memory, float(likely[at])) for at in order if likely[at] >= least or sure[at]]


def _probabilities(task: str, hits: Sequence[Hit]) -> Floats:
    texts = [hit.memory.text[:_LONGEST] for hit in hits]
    meaning = np.array([hit.parts.meaning for hit in hits], np.float32)
    parts = _closeness(task, texts)
    evidence = BIAS + LENGTH * math.log(max(len(task.split()), 1)) + PARTS * (parts - parts.max())
    evidence += MEANING * (meaning - _third(meaning, _NO_MEANING))
    words = _words(task, texts)
    evidence += WORDS * (words - _third(words, _NO_WORDS))
    likely: Floats = (1.0 / (1.0 + np.exp(-np.clip(evidence, -60, 60)))).astype(np.float32)
    return likely


def _third(values: Floats, unrelated: float) -> float:
    """The third best value: hardly ever do more memos help with one task."""
    padded = np.append(values, [unrelated] * _THIRD)
    return float(np.sort(padded)[::-1][_THIRD])


def _words(task: str, texts: Sequence[str]) -> Floats:
    embedder = load()
    if not isinstance(embedder, WordMatcher):  # the one that ships is; another may take its place one day
        return np.zeros(len(texts), np.float32)
    return embedder.affinity(question.informative(task), texts)


def _closeness(task: str, texts: Sequence[str]) -> Floats:
    """For each text, how close its clauses come to those of the task, on average over the task's."""
    asked = _embedded(task)
    return np.array([(asked @ _embedded(text).T).max(axis=1).mean() for text in texts], np.float32)


@lru_cache(maxsize=_KEPT)
def _embedded(text: str) -> Vectors:
    return load().embed(_parts(text))


def _parts(text: str) -> list[str]:
    found = [part.strip() for part in _PART.split(text) if len(part.split()) > 1]
    return found[:_MOST_PARTS] or [text]
