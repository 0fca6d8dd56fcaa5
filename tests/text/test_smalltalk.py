"""Small talk is taken off a turn; what it asks stays."""

from __future__ import annotations

import pytest

from commonplace.text.smalltalk import strip_small_talk


@pytest.mark.parametrize(
    "turn",
    [
        "ok", "Thanks, Nate. Have a great day.", "continue", "Good morning!", "thanks a lot!!", "haha",
        "Perfect, thanks",
        "yes please", "lol same", "See you tomorrow, Mia!", "👍", "Hello", "sounds good",
        "Thank you so much for your help!",
        "go on", "Sure.", "Bye", "Good night, take care",
    ],
)  # fmt: skip
def test_nothing_is_left_of_small_talk(turn: str) -> None:
    assert strip_small_talk(turn) == ""


@pytest.mark.parametrize(
    ("turn", "left"),
    [
        ("Hi! Where does Ana live?", "Where does Ana live?"),
        ("Thanks, that helps. Now draft the mail to Ben.", "that helps. Now draft the mail to Ben."),
        ("Good morning. Which database did we pick?", "Which database did we pick?"),
    ],
)
def test_the_rest_of_a_turn_stays(turn: str, left: str) -> None:
    assert strip_small_talk(turn) in (left, turn)
    assert strip_small_talk(turn).endswith(left[-20:])


@pytest.mark.parametrize(
    "question",
    [
        "Which tea does she like?", "no sugar", "Fine dining", "yes or no: is Bob vegan", "okay google settings",
        "What is a good night's sleep worth to him?", "Is Sam well?", "How is Paris?", "coffee", "hello kitty",
    ],
)  # fmt: skip
def test_a_question_is_not_small_talk(question: str) -> None:
    assert strip_small_talk(question) == question
