"""Rules for dates that the calendar names: days, months, seasons, quarters and years, with or without the year."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from commonplace.text.dates import spans
from commonplace.text.dates.spans import Span
from commonplace.text.dates.words import (
    DIGIT,
    MONTH,
    PART,
    PARTS,
    SEASON,
    SHORT_MONTH,
    SHORT_WEEKDAY,
    YEAR,
    Phrase,
    Rule,
    month_of,
    part_of,
)

_AGAINST = 5
"""How many times as far away a day seems that lies on the other side than the verbs say."""
_LONG = 20
"""Days from which a span is a month rather than a day: what is told of a month that lies ahead was a year ago."""
_TH = r"(?:st|nd|rd|th)"
_BEFORE_MONTH = "in|since|until|till|by|during|before|after|through|from|around"
_BEFORE_SEASON = "in|over|during|since|until|by"
_NO_TIME = r"(?!\d|:\d|[.,]\d|\s?[ap]\.?m\b|%)"


def _in_year(phrase: Phrase, of: Callable[[int], Span]) -> Span:
    """What has no year is meant in the year that the sentence points to; if it points nowhere, the nearest.

    A day that is near is meant all the same: "booked for May 20" has its past tense from the booking.
    """
    here = phrase.said
    years = [of(year) for year in range(here.year - 1, here.year + 2) if _exists(of, year)]
    told = phrase.tense()

    def away(span: Span) -> float:
        against = (told == "past" and span[0] > here) or (told == "future" and span[1] < here)
        return abs((span[0] - here).days + (span[1] - here).days) * (_AGAINST if against else 1)

    if told and years and (years[0][1] - years[0][0]).days >= _LONG:
        years = [span for span in years if (span[0] <= here if told == "past" else span[1] >= here)]
    return min(years, key=away)


def _exists(of: Callable[[int], Span], year: int) -> bool:
    try:
        of(year)
    except (ValueError, OverflowError):
        return False
    return True


def _iso(phrase: Phrase) -> Span:
    return spans.day(date(*map(int, re.findall(r"\d+", phrase["day"]))))


def _day(phrase: Phrase) -> Span | None:
    if phrase.found["month"] in ("may", "march", "mar") and not (phrase["th"] or phrase["year"]):
        return None
    month, first = month_of(phrase["month"]), int(phrase["day"])
    last = int(phrase["until"] or first)

    def of(year: int) -> Span:
        return date(year, month, first), date(year, month, max(first, last))

    if phrase["year"]:
        return of(int(phrase["year"]))
    return _in_year(phrase, of)


def _month(phrase: Phrase) -> Span:
    month = month_of(phrase["month"])
    if phrase["year"]:
        whole = spans.month(int(phrase["year"]), month)
    else:
        whole = _in_year(phrase, lambda year: spans.month(year, month))
    return spans.part(whole, part_of(phrase["part"])) if phrase["part"] else whole


def _season(phrase: Phrase) -> Span:
    if phrase["year"]:
        whole = spans.season(int(phrase["year"]), phrase["season"])
    else:
        whole = _in_year(phrase, lambda year: spans.season(year, phrase["season"]))
    return spans.part(whole, part_of(phrase["part"])) if phrase["part"] else whole


def _quarter(phrase: Phrase) -> Span:
    number = int(phrase["quarter"])
    if phrase["year"]:
        return spans.quarter(int(phrase["year"]), number)
    return _in_year(phrase, lambda year: spans.quarter(year, number))


def _year(phrase: Phrase) -> Span:
    whole = spans.year(int(phrase["year"]))
    return spans.part(whole, part_of(phrase["part"])) if phrase["part"] else whole


_OF_YEAR = rf"(?:(?:,|,? of)? (?P<year>{YEAR})\b)?"
_IN_PART = rf"(?:(?P<part>{PART})(?: |-))"
# April, June and August are also names of people and "may" is mostly no month: only a word before it tells.
_ALONE = rf"(?P<month>(?-i:May|March)|(?!may\b|march\b)(?:{MONTH}))\b"
_NOT_COUNTED = (
    r"(?![\w%:/$€£]|[.,-]\d|\s+(?:people|km|kg|m\b|feet|percent|[a-z]+(?<!wa)(?<!\bi)(?<!\bha)(?<!\bthi)(?<!\ba)s\b))"
)
_ON = rf"(?:{SHORT_WEEKDAY})\.?,?"
_NUMBERED = rf"(?P<day>\d{{1,2}})(?P<th>{_TH})?"
_UNTIL = rf"(?:(?:\s?[-–]\s?| to )(?P<until>\d{{1,2}}){_TH}?\b{_NO_TIME})?"

RULES: list[Rule] = [
    (DIGIT, r"(?P<day>\d{4}(?:-\d\d-\d\d|/\d\d/\d\d))(?!\d)", _iso),
    (
        f"{DIGIT}|{SHORT_WEEKDAY}",
        rf"(?:{_ON}(?: the)? )?{_NUMBERED}{_UNTIL}(?: of)? (?P<month>{SHORT_MONTH})\b\.?{_OF_YEAR}",
        _day,
    ),
    (
        f"{SHORT_MONTH}|{SHORT_WEEKDAY}",
        rf"(?:{_ON} )?(?P<month>{SHORT_MONTH})\.? (?:the )?{_NUMBERED}\b{_NO_TIME}{_UNTIL}{_OF_YEAR}",
        _day,
    ),
    (
        f"{SHORT_MONTH}|{PARTS}",
        rf"{_IN_PART}?(?P<month>{SHORT_MONTH})\b\.?(?:,|,? of|['’]s)? (?P<year>{YEAR})\b",
        _month,
    ),
    (f"{SEASON}|{PARTS}", rf"{_IN_PART}?(?P<season>{SEASON})(?:,|,? of)? (?P<year>{YEAR})\b", _season),
    (PARTS, rf"{_IN_PART}{_ALONE}", _month),
    (_BEFORE_MONTH, rf"(?:{_BEFORE_MONTH}) {_ALONE}(?!(?:,|,? of)? \d)", _month),
    ("in|since", r"(?:in|since) (?P<month>may|march)\b(?=\s*(?:[.,;:!?)]|$))", _month),
    (_BEFORE_SEASON, rf"(?:{_BEFORE_SEASON}) {_IN_PART}?(?:the )?(?P<season>{SEASON})\b", _season),
    ("q1|q2|q3|q4", rf"Q(?P<quarter>[1-4])\b(?:(?:,|,? of)? (?P<year>{YEAR})\b)?", _quarter),
    (f"{PARTS}|{DIGIT}", rf"{_IN_PART}?(?P<year>{YEAR})\b{_NOT_COUNTED}", _year),
]
"""The first that fits is taken: what says more stands above."""
