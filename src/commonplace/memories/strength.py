"""Time and use: they re-order what is relevant, and neither can hide it nor bring in what is not."""

from __future__ import annotations

import math

from commonplace.recall.rank import CERTAIN

_DAY = 86_400.0

OLDEST = 0.95
"""The recency of a memory without any freshness left. Relevance is nearly 1 for all that surely bears on a
question, so that this little puts the newest of them first, and what is only likely stays behind them."""

WEAKEST = 0.6
STRONGEST = 1.2

_EVIDENCE = 0.0057
"""What one of log-odds is worth among certainties: a ninth of a memory's whole decay."""

_IMPORTANCE = 0.2
"""The most and the least important memory are this far apart."""
_USE = 0.1
"""What any amount of use can add, and any amount of being ignored can take."""
_BLAME = 0.5
"""What being called wrong takes when it never ends; half of it the first time."""


def recency(age: float, half_life: float) -> float:
    """Give the factor for a memory said `age` seconds ago: 1 when new, never under OLDEST."""
    return OLDEST + (1.0 - OLDEST) * freshness(age, half_life)


def freshness(age: float, half_life: float) -> float:
    """Give what is left of a memory after `age` seconds, if half of it is gone after `half_life` days."""
    return math.pow(0.5, max(age, 0.0) / (half_life * _DAY))


def strength(importance: float, *, used: int = 0, ignored: int = 0, wrong: int = 0, confirmed: int = 0) -> float:
    """Give the factor for importance, use and repetition: 1 by default, within WEAKEST and STRONGEST."""
    use = math.tanh((used + confirmed - 0.5 * ignored) / 4.0)
    blame = 1.0 - math.pow(0.5, wrong)
    factor = 1.0 + _IMPORTANCE * (importance - 0.5) + _USE * use - _BLAME * blame
    return min(max(factor, WEAKEST), STRONGEST)


def certainty(evidence: float) -> float:
    """Give the factor for the log-odds behind a relevance, since certainties look alike as probabilities."""
    return math.exp(_EVIDENCE * (evidence - CERTAIN))


def score(relevance: float, certainty: float, recency: float, strength: float) -> float:
    """Give the number that hits are ordered by; what is cut off is decided by relevance alone."""
    return relevance * certainty * recency * strength
