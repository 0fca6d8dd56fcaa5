"""The answer: whether the book answers a question, and how well."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import commonplace
from commonplace.recall.evidence import Judgement, probability
from commonplace.recall.settlement import HANDFUL_THRESHOLD, THRESHOLD, Settlement, find_coverage
from tests.recall.making import candidates


def judged(*relevance: float) -> Judgement:
    nothing = np.zeros(len(relevance), np.float32)
    return Judgement(
        meaning=nothing, words=nothing, share=nothing, evidence=nothing, relevance=np.array(relevance, np.float32)
    )


def test_coverage_is_unknown_when_nothing_passes() -> None:
    found = candidates("flask", ["flask", "tea"])
    assert find_coverage(found, judged(0.1, 0.05), THRESHOLD) == "unknown"
    assert find_coverage(candidates("flask", []), judged(), THRESHOLD) == "unknown"


def test_a_sure_memory_is_known() -> None:
    assert find_coverage(candidates("flask", ["flask", "tea"]), judged(0.95, 0.05), THRESHOLD) == "known"


def test_only_doubtful_memories_are_partly_known() -> None:
    assert find_coverage(candidates("flask", ["flask", "tea"]), judged(0.5, 0.3), THRESHOLD) == "partly known"


def test_a_question_mostly_without_an_answer_is_partly_known() -> None:
    query = "flask pricing hiring zoning catering plumbing"
    assert find_coverage(candidates(query, ["flask"]), judged(0.95), THRESHOLD) == "partly known"


def test_two_memories_answer_a_question_together() -> None:
    query = "flask pricing hiring zoning"
    both = candidates(query, ["flask pricing", "hiring zoning"])
    assert find_coverage(both, judged(0.95, 0.5), THRESHOLD) == "known"


def test_meaning_alone_can_make_an_answer_known() -> None:
    assert find_coverage(candidates("?!", ["flask"]), judged(0.95), THRESHOLD) == "known"


@given(st.lists(st.floats(0, 0.99 * HANDFUL_THRESHOLD), max_size=5))
def test_a_threshold_of_zero_makes_nothing_known(relevance: list[float]) -> None:
    found = candidates("flask", ["flask"] * len(relevance))
    assert find_coverage(found, judged(*relevance), 0.0) == "unknown"


def test_a_higher_threshold_gives_unknown_sooner() -> None:
    assert find_coverage(candidates("flask", ["flask"]), judged(0.6), 0.7) == "unknown"


MANY = Settlement(searched=5_000, named=False)


def settled(settlement: Settlement, evidence: float, affinity: float = 0.5, lead: float = 0.0) -> float:
    return float(settlement.settle(np.array([evidence], np.float32), affinity=affinity, lead=lead)[0])


def test_settling_keeps_the_order() -> None:
    evidence = np.array([3, -1, 4, -60, 60], np.float32)
    assert np.argsort(MANY.settle(evidence, affinity=0.3)).tolist() == np.argsort(evidence).tolist()


def test_a_high_affinity_raises_the_odds() -> None:
    assert settled(MANY, 1.0, 0.9) > settled(MANY, 1.0, 0.4)


def test_a_named_speaker_raises_the_odds() -> None:
    assert settled(Settlement(searched=5_000, named=True), 1.0) > settled(MANY, 1.0)


def test_a_better_fit_with_another_speaker_lowers_the_odds() -> None:
    named = Settlement(searched=5_000, named=True)
    assert settled(named, 1.0, lead=-1) < settled(named, 1.0) < settled(named, 1.0, lead=1)
    assert settled(named, 1.0, lead=100) == settled(named, 1.0, lead=1000)


def test_among_few_memories_the_evidence_hardly_changes() -> None:
    assert abs(settled(Settlement(searched=1, named=False), 1.0) - 1.0) < 0.1
    assert settled(MANY, 1.0) < 0.5


def test_without_a_cut_off_any_evidence_is_enough() -> None:
    assert MANY.least(0.0) == -math.inf
    assert MANY.least(1.0) == math.inf


@given(st.integers(0, 10**6), st.booleans(), st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0.1, 50))
def test_evidence_below_the_least_never_reaches_the_relevance(
    searched: int, named: bool, relevance: float, affinity: float, under: float
) -> None:
    settlement = Settlement(searched=searched, named=named)
    low = np.array([settlement.least(relevance) - under], np.float32)
    assert probability(settlement.settle(low, affinity=affinity))[0] < relevance


def test_a_paraphrase_is_answered_among_a_few_memories(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "team.db", reader=None) as book:
        book.remember("We chose FastAPI over Flask because of async support", kind="decision", source="alice")
        for content in ("The cron approach failed because jobs overlapped", "Sarah prefers TypeScript"):
            book.remember(content)
            answer = book.recall("which web framework did we pick?")
            assert [hit.memory.content for hit in answer] == ["We chose FastAPI over Flask because of async support"]
            assert answer.coverage == "partly known"
        assert len(book.recall("what is the capital of Peru?")) == 0
