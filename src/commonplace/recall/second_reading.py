"""A second opinion: a reranker reads the question and the best candidates together, for as long as it may."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from commonplace.errors import CommonplaceError, RerankerFailed
from commonplace.models.rerankers import Reranker
from commonplace.recall import rank
from commonplace.store.base import Found
from commonplace.store.row import MemoryRow
from commonplace.values.arrays import Floats

FIRST = 30
"""Candidates that are read at most, the best by our own evidence first."""
_BATCH = 4
"""Candidates that are read at once; between two batches the clock is looked at."""
_BEGINNING = 2_000
"""Characters of a memory that are given to it: about 512 tokens, which is all that models of this kind read."""

# Log-odds, fitted for ms-marco-minilm on three sets, each of which chose about the same (docs/quality.md).
WEIGHT = 0.4
"""What one of the reranker's log-odds is worth in ours."""
EXPECTED = (-5.5, 0.8)
"""The reranker's log-odds for a candidate at even odds, and what each of our log-odds leads to expect more."""

RANGE = (-10.5, 8.0)
"""Between which the reranker answers."""

Clock = Callable[[], float]


def reread(
    query: str,
    found: Found[rank.Judgement],
    judgement: rank.Judgement,
    reranker: Reranker,
    *,
    budget: float,
    clock: Clock = time.monotonic,
) -> rank.Judgement:
    """The judgement after the best candidates were read, for as many as there was time.

    What counts is how far the reranker's answer is from the one that our evidence led to expect. Candidates that were
    not read are expected to disappoint as much as the others did on average; or else they would pass them unread.
    """
    order = np.argsort(-judgement.evidence[found.positions], kind="stable")[:FIRST]
    scores = _scores(reranker, query, [_text(found.rows[i]) for i in order.tolist()], budget, clock)
    if not len(scores):
        return judgement
    read = found.positions[order[: len(scores)]]
    said = np.full_like(judgement.evidence, np.nan)
    said[read] = scores
    added = news(judgement.evidence[read], scores)
    evidence = judgement.evidence + min(float(added.mean()), 0.0)
    evidence[read] = judgement.evidence[read] + added
    evidence = np.clip(evidence, -rank.CERTAIN, rank.CERTAIN).astype(np.float32)
    return replace(judgement, evidence=evidence, relevance=rank.probability(evidence), reread=said)


def news(evidence: Floats, scores: Floats) -> Floats:
    """What the reranker's scores add to our log-odds."""
    added: Floats = np.float32(WEIGHT) * (scores - expected(evidence))
    return added


def expected(evidence: Floats) -> Floats:
    """The reranker's log-odds that our evidence leads to expect."""
    middle, slope = EXPECTED
    answers: Floats = np.clip(middle + slope * evidence, *RANGE).astype(np.float32)
    return answers


def _text(row: MemoryRow) -> str:
    """A memory as the reranker reads it: who said it stands in front."""
    source, text = row.source, row.text[:_BEGINNING]
    return f"{source}: {text}" if source else text


def _scores(reranker: Reranker, query: str, texts: Sequence[str], budget: float, clock: Clock) -> Floats:
    """Scores of the first batch of texts, and of more until one like the slowest would end after the budget."""
    scores = np.empty(0, np.float32)
    started, slowest = clock(), 0.0
    while len(scores) < len(texts):
        begun = clock()
        if len(scores) and begun - started + slowest > budget:
            break
        batch = texts[len(scores) : len(scores) + _BATCH]
        scores = np.concatenate([scores, _checked(reranker, query, batch)])
        slowest = max(slowest, clock() - begun)
    return scores


def _checked(reranker: Reranker, query: str, batch: Sequence[str]) -> Floats:
    try:
        scores = np.asarray(reranker.score(query, batch), np.float32)
    except CommonplaceError:
        raise
    except Exception as error:
        raise RerankerFailed(f"{reranker.name} failed: {error!r}") from error
    if scores.shape != (len(batch),):
        raise RerankerFailed(f"{reranker.name} answered with an array of shape {scores.shape} for {len(batch)} texts")
    if not np.isfinite(scores).all():
        raise RerankerFailed(f"{reranker.name} answered with a number that is not finite")
    return scores
