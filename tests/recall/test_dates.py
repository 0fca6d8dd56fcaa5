"""Dates that a question names."""

from __future__ import annotations

from datetime import date

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
