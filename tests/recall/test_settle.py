"""Whether there is an answer here at all."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.rank import probability
from commonplace.recall.settle import Settlement

MANY = Settlement(searched=5_000, named=False)


def settled(settlement: Settlement, evidence: float, affinity: float = 0.5, lead: float = 0.0) -> float:
    return float(settlement.settle(np.array([evidence], np.float32), affinity=affinity, lead=lead)[0])


def test_the_order_stays() -> None:
    evidence = np.array([3, -1, 4, -60, 60], np.float32)
    assert np.argsort(MANY.settle(evidence, affinity=0.3)).tolist() == np.argsort(evidence).tolist()


def test_words_that_are_met_speak_for_an_answer() -> None:
    assert settled(MANY, 1.0, 0.9) > settled(MANY, 1.0, 0.4)


def test_a_speaker_who_is_named_speaks_for_an_answer() -> None:
    assert settled(Settlement(searched=5_000, named=True), 1.0) > settled(MANY, 1.0)


def test_what_another_said_rather_than_the_one_who_is_named_speaks_against_an_answer() -> None:
    named = Settlement(searched=5_000, named=True)
    assert settled(named, 1.0, lead=-1) < settled(named, 1.0) < settled(named, 1.0, lead=1)
    assert settled(named, 1.0, lead=100) == settled(named, 1.0, lead=1000)


def test_among_few_memories_their_own_evidence_stands() -> None:
    assert abs(settled(Settlement(searched=1, named=False), 1.0) - 1.0) < 0.1
    assert settled(MANY, 1.0) < 0.5


def test_without_a_cut_off_nothing_is_too_little() -> None:
    assert MANY.least(0.0) == -math.inf
    assert MANY.least(1.0) == math.inf


@given(st.integers(0, 10**6), st.booleans(), st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0.1, 50))
def test_what_is_under_the_least_never_comes_to_a_relevance(
    searched: int, named: bool, relevance: float, affinity: float, under: float
) -> None:
    settlement = Settlement(searched=searched, named=named)
    low = np.array([settlement.least(relevance) - under], np.float32)
    assert probability(settlement.settle(low, affinity=affinity))[0] < relevance
