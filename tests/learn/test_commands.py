"""Explicit requests to remember and to forget."""

from __future__ import annotations

import pytest

from commonplace.learn.commands import find_command
from commonplace.learn.segment import Span


def read(text: str) -> tuple[str, str] | None:
    found = find_command(Span(0, len(text), text))
    return None if found is None else (found.act, found.span.text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remember that Lena's school closes at 16:00", "Lena's school closes at 16:00"),
        ("Could you remember that my son is called Aurel?", "my son is called Aurel"),
        ("Please keep in mind: the alarm code changed.", "the alarm code changed."),
        ("don't forget that the boiler is leaking", "the boiler is leaking"),
        ("For the record, we paid in March.", "we paid in March."),
        ("My oven runs twenty degrees hot, keep that in mind.", "My oven runs twenty degrees hot"),
    ],
)
def test_what_is_to_be_remembered_follows_or_stands_before(text: str, kept: str) -> None:
    assert read(text) == ("remember", kept)


@pytest.mark.parametrize(
    "text", ["Please remember that.", "keep it in mind please", "Remember this for all our sessions."]
)
def test_that_means_another_sentence(text: str) -> None:
    assert read(text) == ("remember that", text)


@pytest.mark.parametrize("text", ["Remind me to call Bob on Friday", "Don't forget to water the fern"])
def test_a_reminder_is_a_task(text: str) -> None:
    assert read(text) == ("to do", text)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Please forget my old address on Elm Road.", "my old address on Elm Road"),
        ("forget what I said about the divorce", "the divorce"),
        ("Delete everything you know about my ex, Martin.", "my ex, Martin"),
        ("Don't store my phone number, it's 555-0134", "my phone number"),
        ("I don't want you to remember my salary", "my salary"),
        ("Forget that I said I like tea", "I like tea"),
        ("Please delete my old address in the Kanalstraße from your notes.", "my old address in the Kanalstraße"),
    ],
)
def test_a_request_to_forget_names_its_subject(text: str, subject: str) -> None:
    assert read(text) == ("forget", subject)


@pytest.mark.parametrize(
    "text", ["forget that", "Delete it please.", "forget everything about him", "strike the last bit"]
)
def test_a_request_to_forget_may_point_at_another_sentence(text: str) -> None:
    assert read(text) == ("forget that", text)


@pytest.mark.parametrize(
    "text",
    [
        "forget it",
        "Delete the old branch please",
        "Did you forget the milk?",
        "remember when we met?",
        "Do you remember that movie?",
        "I remember that day",
        "remember to smile",
        "never mind",
        "We moved to Lisbon",
    ],
)
def test_not_every_such_word_is_asked_of_the_book(text: str) -> None:
    assert read(text) is None
