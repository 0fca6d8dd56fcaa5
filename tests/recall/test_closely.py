"""The second look: who, when, and what an answer looks like."""

from __future__ import annotations

from datetime import datetime, timezone

import numpy as np
import pytest

from commonplace.recall import closely, question
from commonplace.recall.closely import Told
from commonplace.text import speakers as speech
from commonplace.values import times

MAY = datetime(2023, 5, 8, tzinfo=timezone.utc)
WINTER = datetime(2023, 12, 1, tzinfo=timezone.utc)


def told(source: str | None, text: str = "I went hiking", at: datetime = MAY, seq: int = 1) -> Told:
    return Told(text=text, speaker=speech.speaker(source, text), said_at=times.to_micros(at), seq=seq)


def speakers(text: str, named: set[str], *sources: str | None) -> list[float]:
    return closely.speakers(question.read(text), named, [told(source) for source in sources]).tolist()


def test_the_one_who_is_named_counts_more_than_another() -> None:
    found = speakers("Where did Ada go?", {"ada"}, "Ada Lovelace", "Bob", None)
    assert found == [closely.ASKED, -closely.ASKED, 0]


def test_between_two_who_are_named_nothing_is_told() -> None:
    found = speakers("Where did Ada and Bob go?", {"ada", "bob"}, "Ada", "Bob", "Eve")
    assert found == [0, 0, -closely.ASKED]


def test_what_the_assistant_said_counts_when_it_is_asked_for() -> None:
    assert speakers("What did I buy?", set(), "user", "assistant", "Ada") == [0, -2 * closely.ASKED, 0]
    assert speakers("What did you recommend?", set(), "user", "assistant") == [-2 * closely.ASKED, 0]
    assert speakers("Give me an overview", set(), "user", "assistant") == [0, 0]


def test_the_one_who_is_named_leads_by_what_fits_better() -> None:
    spoken, both = np.array([2, -2], np.float32), [told("Ada"), told("Bob")]
    assert closely.lead(np.array([1, 4], np.float32), spoken, both) == -3
    assert closely.lead(np.array([4, 1], np.float32), spoken, both) == 3
    assert closely.lead(np.array([1, 4], np.float32), np.array([2, 2], np.float32), both) == 0


def test_who_only_asked_is_led_by_nobody() -> None:
    both = [told("Ada"), told("Bob", "Did you go hiking?")]
    assert closely.lead(np.array([1, 4], np.float32), np.array([2, -2], np.float32), both) == 0


def test_what_was_said_near_a_named_date_counts_more() -> None:
    asked = question.read("What did she do in May 2023?")
    near, far = closely.moments(asked, [told("Ada"), told("Ada", at=WINTER)]).tolist()
    assert near == 0 > far
    assert not closely.moments(question.read("What did she do?"), [told("Ada")]).any()


def test_what_was_said_in_the_days_that_are_counted_from_now_counts_more_and_the_others_less() -> None:
    asked = question.read("What did she do last week?", datetime(2023, 5, 16, tzinfo=timezone.utc))
    near, far = closely.moments(asked, [told("Ada"), told("Ada", at=WINTER)]).tolist()
    assert near > 0 > far
    assert near == pytest.approx(-far)


def test_days_on_which_nothing_was_said_tell_nothing() -> None:
    asked = question.read("What did she do last week?", datetime(2026, 5, 16, tzinfo=timezone.utc))
    assert closely.moments(asked, [told("Ada"), told("Ada", at=WINTER)]).tolist() == pytest.approx([0, 0])
    assert closely.moments(asked, []).tolist() == []


def test_of_two_that_hold_the_words_the_later_one_counts_more() -> None:
    found = closely.ages([told("Ada"), told("Ada", at=WINTER)], np.ones(2, np.float32)).tolist()
    assert found[0] < found[1] == 0
    assert not closely.ages([told("Ada"), told("Ada", at=WINTER)], np.zeros(2, np.float32)).any()


def test_of_what_was_said_at_one_moment_the_last_written_is_the_later() -> None:
    found = closely.ages([told("Ada", seq=2), told("Ada", seq=1)], np.ones(2, np.float32)).tolist()
    assert found[1] < found[0] == 0


def test_a_text_that_looks_like_an_answer_counts_more() -> None:
    def shape(asked: str, text: str) -> float:
        return float(closely.shape(question.read(asked), [text])[0])

    assert shape("When did she move?", "We moved last week") == np.float32(closely.TIME)
    assert shape("How many dogs has she?", "She has 3") == np.float32(closely.NUMBER)
    assert shape("Who won?", "it was Ada Lovelace") > shape("Who won?", "it was fun") == 0
    assert shape("Who won?", "Did you see it?") < 0


def test_words_that_come_closer_than_expected_add_evidence() -> None:
    share, meaning = np.zeros(2, np.float32), np.zeros(2, np.float32)
    above, below = closely.likeness(np.array([0.6, 0.1], np.float32), share, meaning).tolist()
    assert above > 0 > below
