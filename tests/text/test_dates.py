"""Dates that a text names, given the day it was said."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import commonplace
from commonplace import Dated, Draft, dates_in
from commonplace.text import dates

WEDNESDAY = datetime(2023, 5, 10, 12, tzinfo=timezone.utc)


def spans(text: str, said_at: datetime = WEDNESDAY) -> list[str]:
    """The days of each date in a text, written shortly."""
    return [
        f"{each.first}" if each.first == each.last else f"{each.first}..{each.last}" for each in dates_in(text, said_at)
    ]


BACK = {
    "I went there yesterday": "2023-05-09",
    "We met the day before yesterday": "2023-05-08",
    "I saw it last night": "2023-05-09",
    "I ran a race last Saturday": "2023-05-06",
    "I ran a race last Wednesday": "2023-05-03",
    "I joined last Fri": "2023-05-05",
    "On Friday, I got great news": "2023-05-05",
    "I was there on Wednesday": "2023-05-03",
    "It happened last week": "2023-05-01..2023-05-07",
    "We were away last weekend": "2023-05-06..2023-05-07",
    "this past weekend was fun": "2023-05-06..2023-05-07",
    "It rained over the weekend, we stayed in": "2023-05-06..2023-05-07",
    "We left the weekend before.": "2023-05-06..2023-05-07",
    "the weekend before last": "2023-04-29..2023-04-30",
    "the week before last": "2023-04-24..2023-04-30",
    "last month": "2023-04-01..2023-04-30",
    "last year": "2022-01-01..2022-12-31",
    "last quarter": "2023-01-01..2023-03-31",
    "last summer": "2022-06-01..2022-08-31",
    "last winter": "2022-12-01..2023-02-28",
    "Last May I told you": "2022-05-01..2022-05-31",
    "two days ago": "2023-05-08",
    "a few days ago": "2023-05-05..2023-05-08",
    "the other day": "2023-05-03..2023-05-09",
    "two weeks ago": "2023-04-23..2023-04-29",
    "two or three weeks ago": "2023-04-16..2023-04-29",
    "a couple of months ago": "2023-03-01..2023-03-31",
    "around 3 years ago": "2020-01-01..2020-12-31",
    "half a year ago": "2022-11-01..2022-11-30",
    "a year and a half ago": "2021-11-01..2021-11-30",
    "in the past two weeks": "2023-04-26..2023-05-10",
    "the last few months": "2022-12-10..2023-05-10",
    "earlier this year": "2023-01-01..2023-05-10",
    "I met them on the 15th": "2023-04-15",
    "I met them on March 3rd": "2023-03-03",
    "I was there in December": "2022-12-01..2022-12-31",
    "I've had them for three years now": "2020-01-01..2020-12-31",
    "I have lived here for five years": "2018-01-01..2018-12-31",
}

AHEAD = {
    "I'll come over tomorrow": "2023-05-11",
    "the day after tomorrow": "2023-05-12",
    "Friday": "2023-05-12",
    "by Friday": "2023-05-12",
    "See you on Wednesday": "2023-05-17",
    "The draft that I promised is due on Friday": "2023-05-12",
    "this coming Monday": "2023-05-15",
    "next Tuesday by 5pm": "2023-05-16",
    "Friday next week": "2023-05-19",
    "a week from Friday": "2023-05-19",
    "next week": "2023-05-15..2023-05-21",
    "We are moving this weekend": "2023-05-13..2023-05-14",
    "next month": "2023-06-01..2023-06-30",
    "later this week": "2023-05-10..2023-05-14",
    "end of the week": "2023-05-12..2023-05-14",
    "by the end of the month": "2023-05-25..2023-05-31",
    "by EOW": "2023-05-12",
    "this summer": "2023-06-01..2023-08-31",
    "next spring": "2024-03-01..2024-05-31",
    "in three weeks": "2023-05-28..2023-06-03",
    "We will know in a week": "2023-05-14..2023-05-20",
    "within two weeks": "2023-05-10..2023-05-24",
    "over the next two weeks": "2023-05-10..2023-05-24",
    "We will meet on March 3rd": "2024-03-03",
    "I'm going there in April": "2024-04-01..2024-04-30",
    "booked for May 20": "2023-05-20",
    "I'll pay on the 5th": "2023-06-05",
}

NAMED = {
    "10 July 2023": "2023-07-10",
    "July 10th, 2023": "2023-07-10",
    "Monday, July 10, 2023": "2023-07-10",
    "the 3rd of March": "2023-03-03",
    "2023-07-01": "2023-07-01",
    "2023-07-01T09:30:00Z": "2023-07-01",
    "July 3-5": "2023-07-03..2023-07-05",
    "in May": "2023-05-01..2023-05-31",
    "in June 2019": "2019-06-01..2019-06-30",
    "Sept. 2019": "2019-09-01..2019-09-30",
    "early May": "2023-05-01..2023-05-10",
    "summer of 2021": "2021-06-01..2021-08-31",
    "2022": "2022-01-01..2022-12-31",
    "since 2016": "2016-01-01..2016-12-31",
    "Q3": "2023-07-01..2023-09-30",
    "Q4 2021": "2021-10-01..2021-12-31",
}


@pytest.mark.parametrize(("text", "meant"), [*BACK.items(), *AHEAD.items(), *NAMED.items()])
def test_a_phrase_means_these_days(text: str, meant: str) -> None:
    assert spans(text) == [meant]


@pytest.mark.parametrize(
    "text",
    [
        "You may go", "this may be wrong", "The last may be the best", "It may 5 times out of ten", "We march on",
        "June is a friend of April", "just a second", "the second of two", "on the 5th floor", "every Friday",
        "Monday to Friday", "Black Friday", "It cost $2022", "2022 people came", "version 1.2023", "#2023", "at 20:15",
        "I lived there for five years", "I read it in two days", "seven trips in a year", "the week", "a long day", "",
    ],
)  # fmt: skip
def test_ordinary_words_are_no_dates(text: str) -> None:
    assert spans(text) == []


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert spans("on 2023-02-30 and on June 31st") == []
    assert spans("999 decades ago and in 999 decades") == []
    assert spans("last year", datetime(1, 1, 1, tzinfo=timezone.utc)) == []
    assert spans("We will go next year", datetime(9999, 12, 31, tzinfo=timezone.utc)) == []


def test_leaning_decides_where_the_verbs_do_not() -> None:
    (ahead,), (back,) = (dates_in("Dinner on Friday", WEDNESDAY, leaning=way) for way in (None, "past"))
    assert (ahead.first, back.first) == (date(2023, 5, 12), date(2023, 5, 5))
    (told,) = dates_in("We had dinner on Friday", WEDNESDAY, leaning="future")
    assert told.first == date(2023, 5, 5)


def test_only_phrases_counted_from_the_day_they_are_said_are_relative() -> None:
    text = "Last May, on Friday, in June, on 5 July, in 2022 and on 2023-07-01"
    assert [each.phrase for each in dates_in(text, WEDNESDAY) if each.relative] == ["Last May", "Friday"]


def test_the_day_is_that_of_the_speakers_time_zone() -> None:
    late = datetime(2023, 5, 10, 23, tzinfo=timezone(timedelta(hours=-8)))
    assert spans("yesterday", late) == ["2023-05-09"]


def test_phrases_come_in_the_order_of_the_text_with_their_places() -> None:
    text = "We met last week,  and will meet\u00a0again next\u00a0week or in June 2024."
    found = dates_in(text, WEDNESDAY)
    assert [each.phrase for each in found] == ["last week", "next\u00a0week", "June 2024"]
    assert all(text[each.start : each.end] == each.phrase for each in found)


WORDS = (
    "last next this past the a few two 5 31 5th on in by for of ago week weekend month year day days years May march"
    " Friday summer ſummer Q3 2022 2023-05-07 tomorrow before after from now early end was will have been . ("
).split()


@given(
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=60),
    st.dates().map(lambda day: datetime(day.year, day.month, day.day, tzinfo=timezone.utc)),
)
@example("on February 29th we met", WEDNESDAY)
@example("the 31st, by the 31st", datetime(2023, 2, 28, tzinfo=timezone.utc))
def test_every_text_is_read_and_every_span_is_in_order(text: str, said_at: datetime) -> None:
    end = 0
    for each in dates_in(text, said_at):
        assert isinstance(each, Dated)
        assert each.first <= each.last
        assert end <= each.start < each.end
        assert text[each.start : each.end] == each.phrase
        end = each.end


@pytest.mark.parametrize("text", [*BACK, *AHEAD, *NAMED])
def test_no_rule_is_missed_for_the_word_it_begins_with(text: str) -> None:
    everything = {id(rule): rule for rules in dates._rules().values() for rule in rules}.values()
    (found,) = dates_in(text, WEDNESDAY)
    sooner = [rule.pattern.match(text, at) for rule in everything for at in range(found.start)]
    assert [match[0] for match in sooner if match and match.end() >= found.end] == []


def test_reading_time_grows_linearly_with_the_text() -> None:
    assert len(dates_in("last " * 20_000 + "the " * 20_000 + "1 " * 20_000, WEDNESDAY)) == 0


def test_a_question_with_a_relative_date_finds_what_was_said_that_day(tmp_path: Path) -> None:
    now = datetime.now(timezone.utc)
    ago = {"leek": 1, "pea": 20, "bean": 40}
    with commonplace.open(tmp_path / "book.db", embedder="none") as book:
        book.remember(
            [Draft(content=f"I cooked {id} soup", id=id, said_at=now - timedelta(days=n)) for id, n in ago.items()]
        )
        for id, days in ago.items():
            assert book.recall(f"What soup did I cook {days} days ago?").hits[0].memory.id == id
