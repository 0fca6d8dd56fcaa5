"""Reranking: a model reads the question together with each of the best candidates, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from commonplace.errors import CommonplaceError, RerankerFailed
from commonplace.models.rerankers import Reranker
from commonplace.recall.evidence import CERTAIN, Judgement, probability
from commonplace.store.base import Found
from commonplace.store.row import MemoryRow
from commonplace.values.arrays import Floats

FIRST = 30
"""Candidates that are read at most, the best by our own evidence first."""
_BATCH = 4
"""Candidates that are read at once; the clock is checked between two batches."""
_BEGINNING = 2_000
"""Characters of a memory that are given to it: about 512 tokens, which is all that models of this kind read."""

# Log-odds, fitted for ms-marco-minilm on three sets, each of which chose about the same (docs/quality.md).
WEIGHT = 0.4
"""Weight of one of the reranker's log-odds in ours."""
EXPECTED = (-5.5, 0.8)
"""The reranker's log-odds for a candidate at even odds, and how much each of our log-odds adds to them."""

RANGE = (-10.5, 8.0)
"""The least and the most that the reranker answers."""

Clock = Callable[[], float]


def rerank(
    query: str,
    found: Found[Judgement],
    judgement: Judgement,
    reranker: Reranker,
    *,
    budget: float,
    clock: Clock = time.monotonic,
) -> Judgement:
    """Return the judgement after the best candidates were read, as many as there was time for.

    The reranker's score counts by how far it is from the one that our evidence led to expect. Candidates that were not
    read are expected to disappoint as much as the others did on average, so that they do not overtake them unread.
    """
    order = np.argsort(-judgement.evidence[found.positions], kind="stable")[:FIRST]
    scores = read_scores(reranker, query, [_text(found.rows[i]) for i in order.tolist()], budget, clock)
    if not len(scores):
        return judgement
    read = found.positions[order[: len(scores)]]
    said = np.full_like(judgement.evidence, np.nan)
    said[read] = scores
    added = weigh_scores(judgement.evidence[read], scores)
    evidence = judgement.evidence + min(float(added.mean()), 0.0)
    evidence[read] = judgement.evidence[read] + added
    evidence = np.clip(evidence, -CERTAIN, CERTAIN).astype(np.float32)
    return replace(judgement, evidence=evidence, relevance=probability(evidence), reread=said)


def weigh_scores(evidence: Floats, scores: Floats) -> Floats:
    """Return what the reranker's scores add to our log-odds."""
    added: Floats = np.float32(WEIGHT) * (scores - expect_scores(evidence))
    return added


def expect_scores(evidence: Floats) -> Floats:
    """Return the reranker's log-odds that our evidence leads to expect."""
    middle, slope = EXPECTED
    answers: Floats = np.clip(middle + slope * evidence, *RANGE).astype(np.float32)
    return answers


def _text(row: MemoryRow) -> str:
    """Return a memory as the reranker reads it, with who said it in front."""
    source, text = row.source, row.text[:_BEGINNING]
    return f"{source}: {text}" if source else text


def read_scores(reranker: Reranker, query: str, texts: Sequence[str], budget: float, clock: Clock) -> Floats:
    """Score the first batch of texts, and more until one like the slowest would end after the budget."""
    scores = np.empty(0, np.float32)
    started, slowest = clock(), 0.0
    while len(scores) < len(texts):
        begun = clock()
        if len(scores) and begun - started + slowest > budget:
            break
        batch = texts[len(scores) : len(scores) + _BATCH]
        scores = np.concatenate([scores, _score_batch(reranker, query, batch)])
        slowest = max(slowest, clock() - begun)
    return scores


def _score_batch(reranker: Reranker, query: str, batch: Sequence[str]) -> Floats:
    try:
        scores = np.asarray(reranker.score(query, batch), np.float32)
    except CommonplaceError:
        raise
    except Exception as error:
        raise RerankerFailed(f"{reranker.name} failed: {error!r}") from error
    if scores.shape != (len(batch),):
        raise RerankerFailed(f"{reranker.name} returned an array of shape {scores.shape} for {len(batch)} texts")
    if not np.isfinite(scores).all():
        raise RerankerFailed(f"{reranker.name} returned a number that is not finite")
    return scores
