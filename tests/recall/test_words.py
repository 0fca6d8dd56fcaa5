from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall import words
from commonplace.store import bm25
from tests.recall.making import candidates

COUNTS = st.lists(st.integers(0, 1000), min_size=1, max_size=8)


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    rare, frequent = bm25.weights(np.array([1, 90]), 100)
    assert rare > frequent


@given(COUNTS, st.integers(0, 100_000))
def test_weights_are_positive_in_every_space(frequencies: list[int], population: int) -> None:
    common = np.ones(len(frequencies), np.bool_)
    for weights in (
        bm25.weights(np.array(frequencies), population),
        bm25.weights(np.array(frequencies), population, common),
    ):
        assert np.isfinite(weights).all()
        assert (weights > 0).all()


def test_a_small_space_does_not_take_a_common_word_for_a_rare_one() -> None:
    common, rare = bm25.weights(np.array([1, 1]), 1, np.array([True, False]))
    assert common < rare / 1.5


def test_holding_the_whole_question_covers_it() -> None:
    found = words.score(candidates("FastAPI async", ["FastAPI has async", "async only", "neither"]))
    assert found.coverage[0] == 1.0
    assert 0 < found.coverage[1] < 1
    assert found.coverage[2] == 0


def test_repetition_counts_a_little_and_saturates() -> None:
    once, twice, often = words.score(candidates("flask", ["flask", "flask flask", "flask " * 50])).share
    assert once < twice <= 1.0
    assert twice - once > 0.05
    assert often < 1.0


def test_a_long_text_needs_more_than_one_word() -> None:
    filler = " ".join(f"filler{i}" for i in range(400))
    short, long = words.score(candidates("flask", ["flask it is", f"flask {filler}"])).share
    assert short > 3 * long


def test_short_texts_are_not_told_apart_by_their_length() -> None:
    terse, plain = words.score(candidates("flask", ["flask", "we use flask for the small internal tools"])).share
    assert terse == plain


def test_a_question_without_words_scores_nothing() -> None:
    found = words.score(candidates("?!", ["anything", "else"]))
    assert found.bm25.tolist() == found.coverage.tolist() == found.share.tolist() == [0.0, 0.0]


@given(st.lists(st.text(alphabet="abc ", max_size=30), max_size=6), st.text(alphabet="abc ", max_size=10))
def test_shares_stay_between_nothing_and_all(texts: list[str], query: str) -> None:
    found = words.score(candidates(query, texts))
    for share in (found.coverage, found.share):
        assert ((share >= 0) & (share <= 1.0001)).all()
