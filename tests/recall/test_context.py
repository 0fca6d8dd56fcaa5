"""Words from around a memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from commonplace.recall import context
from commonplace.values.arrays import Floats
from tests.recall.making import candidates

QUERY = "puppy name"
TURNS = ("What is the name of the puppy?", "Rex!", "Lovely", "And the weather?", "It rains")


def lent(sessions: list[int], seqs: list[int] | None = None) -> Floats:
    found = replace(
        candidates(QUERY, TURNS), sessions=np.array(sessions), seqs=np.array(seqs or range(1, len(TURNS) + 1))
    )
    held = (found.counts > 0).astype(np.float32)
    return context.lent(found, held, np.ones(held.shape[1], np.float32))


def test_an_answer_borrows_the_words_of_the_question_before_it() -> None:
    evidence = lent([7] * 5)
    assert evidence[1] == context.BEFORE[0]
    assert evidence[1] > evidence[2] > evidence[3] == evidence[4] > 0


def test_what_holds_all_the_words_itself_borrows_nothing() -> None:
    assert lent([7] * 5)[0] == 0


def test_nothing_is_lent_between_sessions_or_outside_of_them() -> None:
    assert not lent([7, 8, 8, 8, 8]).any()
    assert not lent([0] * 5).any()


def test_turns_that_are_far_apart_are_no_neighbours() -> None:
    assert lent([7] * 5, [1, 50, 51, 52, 53])[1] == np.float32(context.SESSION)


def test_the_order_of_candidates_does_not_matter() -> None:
    found = replace(candidates(QUERY, TURNS[::-1]), sessions=np.full(5, 7), seqs=np.arange(5, 0, -1))
    held = (found.counts > 0).astype(np.float32)
    evidence = context.lent(found, held, np.ones(held.shape[1], np.float32))
    assert evidence[::-1].tolist() == lent([7] * 5).tolist()


def test_an_engine_that_tells_no_sessions_gets_no_context() -> None:
    found = candidates(QUERY, TURNS)
    held = (found.counts > 0).astype(np.float32)
    assert not context.lent(found, held, np.ones(held.shape[1], np.float32)).any()
