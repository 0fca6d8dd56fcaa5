from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.rank import HANDFUL_THRESHOLD, THRESHOLD, Judgement
from commonplace.recall.verdict import coverage
from tests.recall.making import candidates


def judged(*relevance: float) -> Judgement:
    nothing = np.zeros(len(relevance), np.float32)
    return Judgement(
        meaning=nothing, words=nothing, share=nothing, evidence=nothing, relevance=np.array(relevance, np.float32)
    )


def test_nothing_that_passes_is_unknown() -> None:
    found = candidates("flask", ["flask", "tea"])
    assert coverage(found, judged(0.1, 0.05), THRESHOLD) == "unknown"
    assert coverage(candidates("flask", []), judged(), THRESHOLD) == "unknown"


def test_a_sure_memory_is_known() -> None:
    assert coverage(candidates("flask", ["flask", "tea"]), judged(0.95, 0.05), THRESHOLD) == "known"


def test_only_doubtful_memories_are_partly_known() -> None:
    assert coverage(candidates("flask", ["flask", "tea"]), judged(0.5, 0.3), THRESHOLD) == "partly known"


def test_a_question_mostly_without_an_answer_is_partly_known() -> None:
    query = "flask pricing hiring zoning catering plumbing"
    assert coverage(candidates(query, ["flask"]), judged(0.95), THRESHOLD) == "partly known"


def test_two_memories_answer_a_question_together() -> None:
    query = "flask pricing hiring zoning"
    both = candidates(query, ["flask pricing", "hiring zoning"])
    assert coverage(both, judged(0.95, 0.5), THRESHOLD) == "known"


def test_meaning_alone_may_know() -> None:
    assert coverage(candidates("?!", ["flask"]), judged(0.95), THRESHOLD) == "known"


@given(st.lists(st.floats(0, 0.99 * HANDFUL_THRESHOLD), max_size=5))
def test_asking_for_everything_makes_nothing_known(relevance: list[float]) -> None:
    found = candidates("flask", ["flask"] * len(relevance))
    assert coverage(found, judged(*relevance), 0.0) == "unknown"


def test_a_stricter_caller_hears_unknown_sooner() -> None:
    assert coverage(candidates("flask", ["flask"]), judged(0.6), 0.7) == "unknown"
