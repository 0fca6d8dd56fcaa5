"""Settling without a reader: the cut-off by words, meaning, speaker and date alone.

The best memory decides for the whole question: irrelevant memories are never returned to fill a quota.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from commonplace.recall.evidence import Judgement
from commonplace.recall.request import RecallRequest
from commonplace.recall.verdict import Verdict
from commonplace.store.base import Candidates, Found
from commonplace.store.view import weigh_terms
from commonplace.values import Coverage
from commonplace.values.arrays import Floats, Ints

SPARE = 2
"""Look at this many times k, so that duplicates leave enough."""
THRESHOLD = 0.25
"""Relevance below which nothing is recalled, unless the caller says otherwise."""
HANDFUL = 50
"""Memories among which little can be mistaken for an answer."""
HANDFUL_THRESHOLD = 0.15
"""The threshold among a handful of memories: two in a hundred unrelated questions reach it."""
KNOWN = 0.8
"""Relevance from which the best memory is surely relevant."""
HELD = 0.7
"""Share of the question's words that must be found for the whole question to be known."""

# Log-odds that the book answers the question, fitted on questions of its own and of other books (docs/quality.md).
BIAS = -3.0
BEST = 0.7
"""Weight of the best memory's evidence: below 1, because one of many candidates always looks good."""
AFFINITY = 4.8
"""Added if the best memory holds each of the question's words, or one that means the same."""
NAMED = 2.5
"""Added if the question names somebody who has spoken here."""
LEAD = 1.5
"""Weight of the lead: the log-odds by which that person's words fit the question better than anybody else's."""
FARTHEST = 4.0
"""The largest lead that counts."""
FEW = 20.0
"""Memories up to which the evidence hardly changes: among few, nothing looks good by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Turns the evidence for each memory into the log-odds that it answers the question; the order stays."""

    searched: int
    """Memories that the search was about."""
    named: bool
    """Whether the question names somebody who has spoken here."""

    def settle(self, evidence: Floats, *, affinity: float, lead: float = 0.0) -> Floats:
        """Return the log-odds, lowered by the chance that the question is about something else.

        `affinity` is that of the best memory; `lead` is that of the person whom the question names.
        """
        settled: Floats = (np.float32(self._slope) * evidence + self._standing(affinity, lead)).astype(np.float32)
        return settled

    def least(self, relevance: float) -> float:
        """Return the evidence below which no memory can reach this relevance, whatever its words."""
        if relevance <= 0:
            return -math.inf
        odds = math.log(relevance / (1 - relevance)) if relevance < 1 else math.inf
        return (odds - self._standing(1.0, FARTHEST if self.named else 0.0)) / self._slope

    @property
    def _many(self) -> float:
        return self.searched / (self.searched + FEW)

    @property
    def _slope(self) -> float:
        return 1 - self._many * (1 - BEST)

    def _standing(self, affinity: float, lead: float) -> float:
        ahead = min(max(lead, -FARTHEST), FARTHEST)
        return self._many * (BIAS + AFFINITY * affinity + NAMED * self.named + LEAD * ahead)


def settle(
    found: Found[Judgement], judgement: Judgement, request: RecallRequest, asking: Sequence[int] = ()
) -> Verdict:
    """Return the verdict that the search alone allows; candidates at the places `asking` only ask."""
    return Verdict(
        judgement=judgement,
        best=find_best(found, judgement, request),
        coverage=find_coverage(found.candidates, judgement, request_threshold(found, request), asking),
    )


def usual_threshold(searched: int) -> float:
    """Return the default threshold for a search among this many memories."""
    return HANDFUL_THRESHOLD if searched <= HANDFUL else THRESHOLD


def find_coverage(
    candidates: Candidates, judgement: Judgement, threshold: float, asking: Sequence[int] = ()
) -> Coverage:
    """Return `known` if a memory is surely relevant and most words are found, `unknown` if no memory passes.

    A lower threshold shows more, but does not make the book know more. Candidates at the places `asking` are only
    questions: they do not make it `known`.
    """
    passed = judgement.relevance >= max(threshold, usual_threshold(candidates.searched))
    if not passed.any():
        return "unknown"
    passed[list(asking)] = False
    if not passed.any() or float(judgement.relevance[passed].max()) < KNOWN:
        return "partly known"
    if not candidates.counts.shape[1]:
        return "known"
    rarity = weigh_terms(candidates.frequencies, candidates.population)
    held = (candidates.counts[passed] > 0).any(axis=0)
    return "known" if float(rarity[held].sum() / rarity.sum()) >= HELD else "partly known"


def find_best(found: Found[Judgement], judgement: Judgement, request: RecallRequest) -> list[tuple[int, int]]:
    """Return the rows that may be shown, each with its place among the candidates: none if the best is too weak."""
    if not (judgement.relevance[found.positions] >= request_threshold(found, request)).any():
        return []
    order = np.argsort(-judgement.evidence[found.positions], kind="stable")[: max(SPARE * request.k, 20)]
    places: Ints = found.positions[order]
    least = judgement.evidence[places[0]] - request.apart
    return [
        (i, at)
        for i, at in zip(order.tolist(), places.tolist(), strict=True)
        if judgement.relevance[at] >= request.company and judgement.evidence[at] >= least
    ]


def request_threshold(found: Found[Judgement], request: RecallRequest) -> float:
    """Return the threshold that the caller gave, or the usual one."""
    return usual_threshold(found.candidates.searched) if request.threshold is None else request.threshold
