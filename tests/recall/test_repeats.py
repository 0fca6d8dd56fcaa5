from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.recall.repeats import find_distinct


def alike(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return equal vectors, so that only the words can tell texts apart."""
    return np.tile(np.array([1, 0], np.float32), (count, 1))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We chose FastAPI over Flask", "we chose fastapi over flask."),
        ("We chose FastAPI over Flask", "  We chose FastAPI,\n over Flask!  "),
        ("The office is in Berlin", "Office is in Berlin"),
        ("Don’t deploy on Friday", "Don't deploy on Friday"),
        ("The deer is jumping over the low fence by the road", "The deer is jumping over the fence by the road"),
    ],
)
def test_of_two_repeats_the_better_stays(first: str, second: str) -> None:
    assert find_distinct([first, second], alike(2)) == [0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We use Flask in production", "We do not use Flask in production"),
        ("We don't use Flask in production", "We use Flask in production"),
        ("Never deploy on Friday afternoon at work", "Deploy on Friday afternoon at work"),
        ("The limit is 100 requests", "The limit is 1000 requests"),
        ("The limit is 100 requests", "The limit is -100 requests"),
        ("Meet at 10.30 in the big room upstairs", "Meet in the big room upstairs"),
        ("Alice likes tea", "Bob likes tea"),
        ("Alice likes Bob", "Bob likes Alice"),
        ("I like tea in the morning with milk", "You like tea in the morning with milk"),
        ("We ship with tests", "We ship without tests"),
        ("Call before noon", "Call after noon"),
        ("We ship on Friday", "We ship on Friday?"),
        ("a < b", "a > b"),
        ("version 1.2", "version 12"),
        ("Great 👍", "Great 👎"),
        ("The coffee is too hot", "The coffee is hot"),
        ("会议在星期三", "会议在星期四"),
    ],
)
def test_different_statements_are_never_merged_even_with_equal_vectors(first: str, second: str) -> None:
    assert find_distinct([first, second], alike(2)) == [0, 1]
    assert find_distinct([second, first], alike(2)) == [0, 1]


def test_a_text_that_says_more_stays_beside_one_that_says_less() -> None:
    less, more = "we picked the red paint for the door", "we picked the red paint for the front door"
    assert find_distinct([less, more], alike(2)) == [0, 1]
    assert find_distinct([more, less], alike(2)) == [0]


def test_a_part_is_kept_when_the_vectors_are_not_alike() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6]], np.float32)
    texts = ["we picked the red paint for the front door", "we picked the red paint for the door"]
    assert find_distinct(texts, vectors) == [0, 1]


def test_without_vectors_only_equal_wording_is_merged() -> None:
    assert find_distinct(["one two three four five", "One two three four five!", "two three four five"]) == [0, 2]


def test_the_first_of_many_repeats_stays_in_its_place() -> None:
    assert find_distinct(["a cat", "the dog", "A cat.", "dog", "bird"], alike(5)) == [0, 1, 4]


def test_no_texts_give_no_places() -> None:
    assert find_distinct([]) == []
    assert find_distinct(["", "   ", "..."]) == [0, 2]


@given(st.lists(st.text(), max_size=8))
def test_every_text_is_kept_or_repeats_a_kept_one(texts: list[str]) -> None:
    kept = find_distinct(texts)
    assert kept == sorted(set(kept))
    assert bool(kept) == bool(texts)
    assert find_distinct([texts[place] for place in kept]) == list(range(len(kept)))
