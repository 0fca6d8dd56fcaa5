"""Reading a question: names, dates, the speaker of the answer, and its form."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from commonplace.recall.request import (
    find_names,
    informative_words,
    read_dates,
    read_question,
    strip_names,
    strip_request,
)


def test_capitalized_words_are_names() -> None:
    assert find_names("What did Caroline's sister tell Ada?") == ("caroline", "ada")


def test_only_the_speakers_names_are_cut() -> None:
    cut = strip_names("Which city did Caroline's brother show Caroline in Japan?", {"caroline"})
    assert cut.split() == "Which city did brother show in Japan?".split()


def test_a_name_in_small_letters_stays() -> None:
    assert strip_names("is grace a virtue?", {"grace"}) == "is grace a virtue?"


def test_a_question_of_nothing_but_names_stays_whole() -> None:
    assert strip_names("Who is Caroline?", {"caroline"}) == "Who is Caroline?"


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
def test_phrases_about_the_answer_are_cut(text: str, subject: str) -> None:
    assert strip_request(text).split() == subject.split()


def test_a_question_that_is_nothing_but_a_request_stays_whole() -> None:
    text = "What did we say in our chats, in order?"
    assert strip_request(text) == text


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
def test_the_role_of_who_said_the_answer(text: str, role: str | None) -> None:
    assert read_question(text).role == role


def test_the_kind_of_answer_that_is_wanted() -> None:
    assert read_question("When did they move?").wants_time
    assert read_question("How many dogs are there?").wants_number
    assert read_question("Who won?").wants_name
    plain = read_question("What did she paint?")
    assert (plain.wants_time, plain.wants_number, plain.wants_name) == (False, False, False)


def test_informative_words_say_what_it_is_about() -> None:
    assert informative_words("Do you remember what Ada's cat is called?") == ["ada", "cat", "called"]


def test_months_years_and_days_are_read() -> None:
    read = read_dates("What happened on 7 May 2023, and on June 9th?")
    assert (read.months, read.years, read.days) == ({5, 6}, {2023}, {(5, 7), (6, 9)})  # type: ignore[comparison-overlap]


def test_may_is_a_month_only_as_a_name() -> None:
    assert not read_dates("may I see it?")
    assert read_dates("What did she do in May?").months == {5}


def test_a_question_without_a_date_names_none() -> None:
    assert not read_dates("When did they move?")


def test_months_are_near_around_the_turn_of_the_year() -> None:
    assert read_dates("in December").months_off(date(2023, 1, 5)) == 1
    assert read_dates("in December").months_off(date(2023, 12, 5)) == 0


def test_another_year_does_not_match() -> None:
    assert read_dates("in May 2023").months_off(date(2022, 5, 1)) is None


def test_a_day_after_is_nearer_than_a_day_before() -> None:
    read = read_dates("on 7 May 2023")
    same, after, before = (read.nearness(date(2023, 5, day)) for day in (7, 10, 4))
    assert same == 1
    assert same > after > before > 0


def test_an_impossible_day_is_near_nothing() -> None:
    assert read_dates("on 31 June 2023").nearness(date(2023, 6, 30)) == 0


ASKED = datetime(2026, 5, 6, 12, tzinfo=timezone.utc)


def counted(text: str) -> list[tuple[str, str]]:
    """Return the days that a question's relative dates mean."""
    return [(first.isoformat(), last.isoformat()) for first, last in read_dates(text, ASKED).counted]


def test_relative_dates_need_the_moment_of_asking() -> None:
    assert counted("What did I do last week?") == [("2026-04-27", "2026-05-03")]
    assert counted("What did I say yesterday?") == [("2026-05-05", "2026-05-05")]
    assert counted("Where was I last May?") == [("2025-05-01", "2025-05-31")]
    assert not read_dates("What did I do last week?")


@pytest.mark.parametrize(
    "text",
    [
        "What shall we watch tonight?",
        "When do I get up on Saturday mornings?",
        "What is planned for this weekend?",
        "What is planned for next week?",
        "And then?",
    ],
)
def test_weekdays_and_future_dates_are_ignored(text: str) -> None:
    assert not read_dates(text, ASKED)


def test_memories_of_the_relative_days_are_nearest() -> None:
    read = read_dates("What did I buy last week?", ASKED)
    within, after, before = (read.fit(day) for day in (date(2026, 4, 28), date(2026, 5, 5), date(2026, 4, 25)))
    assert within > after > before > 0
    assert read.fit(date(2020, 1, 1)) < 1e-9


def test_longer_spans_count_less() -> None:
    day, week, year = (read_dates(f"What was it {when}?", ASKED) for when in ("yesterday", "last week", "last year"))
    assert day.fit(date(2026, 5, 5)) == 1
    assert 1 > week.fit(date(2026, 5, 1)) > year.fit(date(2025, 5, 1)) > 0


def test_a_relative_date_excludes_no_month() -> None:
    assert read_dates("What did I do last week?", ASKED).months_off(date(2020, 1, 1)) == 0


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("What did we decide last week?", [("2026-05-04", "2026-05-10")]),
        ("What happened in March?", [("2026-03-01", "2026-03-31")]),
        ("What happened in November?", [("2025-11-01", "2025-11-30")]),
        ("What happened in February 2024?", [("2024-02-01", "2024-02-29")]),
        ("What did I read in 2023?", [("2023-01-01", "2023-12-31")]),
        ("What did I read?", []),
    ],
)
def test_the_dates_of_a_question_are_spans_of_days(question: str, spans: list[tuple[str, str]]) -> None:
    asked = datetime(2026, 5, 13, tzinfo=timezone.utc)
    found = read_dates(question, asked).spans(asked.date())
    assert [(first.isoformat(), last.isoformat()) for first, last in found] == spans
