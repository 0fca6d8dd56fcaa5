"""Is there an answer here at all? The best memory decides it for the whole question."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from commonplace.values.arrays import Floats

# Log-odds that the book answers the question, fitted on questions of its own and of other books (docs/quality.md).
BIAS = -3.0
BEST = 0.7
"""For each of the best memory's log-odds: of many candidates one always looks good."""
AFFINITY = 4.8
"""For a best memory that has each of the question's words, or one that means the same."""
NAMED = 2.5
"""For a question that names somebody who has spoken here."""
LEAD = 1.5
"""For each of log-odds by which that person's words fit the question better than anybody else's, or worse."""
FARTHEST = 4.0
"""A lead beyond which nothing changes."""
FEW = 20.0
"""Memories up to which their own evidence rather stands as it is: among few, nothing looks good by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a question's circumstances make of the evidence for each memory; the order stays."""

    searched: int
    """Memories that the search was about."""
    named: bool
    """Whether the question names somebody who has spoken here."""

    def settle(self, evidence: Floats, *, affinity: float, lead: float = 0.0) -> Floats:
        """Give the log-odds that are left when the question may be about something else.

        `affinity` is that of the best memory, `lead` how much better it fits that the one who is named said it.
        """
        settled: Floats = (np.float32(self._slope) * evidence + self._standing(affinity, lead)).astype(np.float32)
        return settled

    def least(self, relevance: float) -> float:
        """Give the evidence below which no memory can come to this relevance, whatever its words."""
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
