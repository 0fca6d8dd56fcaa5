"""What a question says about its answer."""

from __future__ import annotations

import pytest

from commonplace.recall import question


def test_words_written_like_names_may_be_names() -> None:
    assert question.read("What did Caroline's sister tell Ada?").names == ("caroline", "ada")


def test_the_speakers_names_are_cut_and_nothing_else() -> None:
    cut = question.without("Which city did Caroline's brother show Caroline in Japan?", {"caroline"})
    assert cut.split() == "Which city did brother show in Japan?".split()


def test_a_name_in_small_letters_stays() -> None:
    assert question.without("is grace a virtue?", {"grace"}) == "is grace a virtue?"


def test_a_question_of_nothing_but_names_stays_whole() -> None:
    assert question.without("Who is Caroline?", {"caroline"}) == "Who is Caroline?"


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("List the order in which I brought up the two trips throughout our conversations", "List the two trips"),
        ("I was going through our previous chat. What is the dentist's name?", ". What is the dentist's name?"),
        ("Which parks did I see, in order? Mention only five.", "Which parks did I see, ? ."),
        ("In what order did the parcels come?", "In what order did the parcels come?"),
        ("What did the summary say?", "What did the summary say?"),
    ],
)
def test_how_a_question_asks_is_cut_from_what_it_asks(text: str, subject: str) -> None:
    assert question.subject(text).split() == subject.split()


def test_a_question_that_is_nothing_but_a_request_stays_whole() -> None:
    text = "What did we say in our chats, in order?"
    assert question.subject(text) == text


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("What did I buy last week?", "user"),
        ("Which hotel did you recommend in Lisbon?", "assistant"),
        ("Can you remind me of the name of that deli?", "assistant"),
        ("What did I say in our previous conversation about Rome?", "user"),
        ("Can you suggest a good film?", "user"),
        ("Give me a summary of the project", None),
    ],
)
def test_whom_an_answer_comes_from(text: str, role: str | None) -> None:
    assert question.read(text).role == role


def test_what_the_answer_looks_like() -> None:
    assert question.read("When did they move?").wants_time
    assert question.read("How many dogs are there?").wants_number
    assert question.read("Who won?").wants_name
    plain = question.read("What did she paint?")
    assert (plain.wants_time, plain.wants_number, plain.wants_name) == (False, False, False)


def test_informative_words_say_what_it_is_about() -> None:
    assert question.informative("Do you remember what Ada's cat is called?") == ["ada", "cat", "called"]
