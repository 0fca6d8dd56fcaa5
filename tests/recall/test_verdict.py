"""The verdict: which of the memories that were read are returned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.models.reader import Opinion
from commonplace.recall.verdict import choose


def opinion(*relevant: float, answered: float | None = None) -> Opinion:
    likely = np.array(relevant, np.float32)
    least = float(likely.max()) if len(likely) else 0.0
    return Opinion(
        places=np.arange(len(likely)),
        answered=least if answered is None else answered,
        relevant=likely,
        outdated=np.zeros_like(likely),
        timeless=likely,
    )


def test_a_sure_answer_is_returned_without_company() -> None:
    assert choose(opinion(0.02, 0.97, 0.03)).tolist() == [1]


def test_two_sure_answers_are_both_returned_the_likelier_first() -> None:
    assert choose(opinion(0.8, 0.01, 0.95)).tolist() == [2, 0]


def test_nothing_likely_means_silence() -> None:
    assert choose(opinion(0.02, 0.01, 0.02)).tolist() == []


def test_silence_also_when_nothing_was_read() -> None:
    assert choose(opinion()).tolist() == []


def test_unsure_candidates_come_together_where_each_alone_would_likely_miss() -> None:
    assert len(choose(opinion(0.4, 0.4, 0.4, answered=0.95))) > 1


def test_more_care_returns_more() -> None:
    unsure = opinion(0.6, 0.3, 0.2, 0.1, answered=0.9)
    assert len(choose(unsure, care=2.0)) > len(choose(unsure, care=0.5))


@given(st.lists(st.floats(0, 1, width=32), max_size=20), st.floats(0, 1))
def test_what_is_returned_is_never_less_likely_than_what_is_not(relevant: list[float], answered: float) -> None:
    said = opinion(*relevant, answered=answered)
    chosen = choose(said).tolist()
    left = [share for place, share in enumerate(said.relevant) if place not in chosen]
    assert not chosen or not left or min(said.relevant[chosen]) >= max(left)
    assert [*said.relevant[chosen]] == sorted(said.relevant[chosen], reverse=True)


@pytest.mark.parametrize("answered", [0.0, 0.1])
def test_if_there_is_hardly_an_answer_even_a_likely_memory_is_not_returned(answered: float) -> None:
    assert choose(opinion(0.1, 0.05, answered=answered)).tolist() == []
