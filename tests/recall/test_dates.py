"""Dates that a question names."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from commonplace.recall import dates


def test_months_years_and_days_are_read() -> None:
    read = dates.read("What happened on 7 May 2023, and on June 9th?")
    assert (read.months, read.years, read.days) == ({5, 6}, {2023}, {(5, 7), (6, 9)})


def test_may_is_a_month_only_as_a_name() -> None:
    assert not dates.read("may I see it?")
    assert dates.read("What did she do in May?").months == {5}


def test_a_question_without_a_date_names_none() -> None:
    assert not dates.read("When did they move?")


def test_months_are_near_around_the_turn_of_the_year() -> None:
    assert dates.read("in December").months_off(date(2023, 1, 5)) == 1
    assert dates.read("in December").months_off(date(2023, 12, 5)) == 0


def test_another_year_is_not_meant() -> None:
    assert dates.read("in May 2023").months_off(date(2022, 5, 1)) is None


def test_a_day_is_told_of_after_it() -> None:
    read = dates.read("on 7 May 2023")
    same, after, before = (read.nearness(date(2023, 5, day)) for day in (7, 10, 4))
    assert same == 1
    assert same > after > before > 0


def test_a_day_that_no_calendar_has_is_near_nothing() -> None:
    assert dates.read("on 31 June 2023").nearness(date(2023, 6, 30)) == 0


ASKED = datetime(2026, 5, 6, 12, tzinfo=timezone.utc)


def counted(text: str) -> list[tuple[str, str]]:
    """The days that a question counts from the moment of asking."""
    return [(first.isoformat(), last.isoformat()) for first, last in dates.read(text, ASKED).counted]


def test_what_is_counted_from_now_needs_the_moment_of_asking() -> None:
    assert counted("What did I do last week?") == [("2026-04-27", "2026-05-03")]
    assert counted("What did I say yesterday?") == [("2026-05-05", "2026-05-05")]
    assert counted("Where was I last May?") == [("2025-05-01", "2025-05-31")]
    assert not dates.read("What did I do last week?")


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
def test_a_weekday_and_what_lies_ahead_do_not_tell_when_something_was_said(text: str) -> None:
    assert not dates.read(text, ASKED)


def test_what_was_said_in_the_days_that_are_meant_is_nearest() -> None:
    read = dates.read("What did I buy last week?", ASKED)
    within, after, before = (read.fit(day) for day in (date(2026, 4, 28), date(2026, 5, 5), date(2026, 4, 25)))
    assert within > after > before > 0
    assert read.fit(date(2020, 1, 1)) < 1e-9


def test_the_longer_the_span_the_less_it_tells() -> None:
    day, week, year = (dates.read(f"What was it {when}?", ASKED) for when in ("yesterday", "last week", "last year"))
    assert day.fit(date(2026, 5, 5)) == 1
    assert 1 > week.fit(date(2026, 5, 1)) > year.fit(date(2025, 5, 1)) > 0


def test_a_date_that_is_counted_from_now_speaks_against_nothing() -> None:
    assert dates.read("What did I do last week?", ASKED).months_off(date(2020, 1, 1)) == 0
