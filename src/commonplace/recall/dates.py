"""Dates that a question names, and how near a memory was said to them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime

from commonplace.text.dates import Dated, dates_in
from commonplace.text.dates.spans import Span

_MONTHS = "january february march april may june july august september october november december".split()
_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
_NAMED = "|".join(name.capitalize() for name in _MONTHS)
_MONTH = re.compile(rf"\b({_NAMED})\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_DAY = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_NAMED})|({_NAMED})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b)(?!\d)"
)

_WEEK = 7.0
_BEFORE = 3.0
"""People tell of a day after it: what was said before counts as so many times as far away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """The months, years and days that a question names, and the days it counts from when it was asked."""

    months: frozenset[int]
    years: frozenset[int]
    days: frozenset[tuple[int, int]]
    """Month and day."""
    counted: tuple[Span, ...] = ()
    """The days that "last week" or "two months ago" mean to who asks."""

    def __bool__(self) -> bool:
        return bool(self.months or self.years or self.counted)

    def months_off(self, said: date) -> int | None:
        """Give the months between a date and the nearest named month; None in a year that was not meant."""
        if self.years and said.year not in self.years:
            return None
        return min((abs((said.month - month + 6) % 12 - 6) for month in self.months), default=0)

    def nearness(self, said: date) -> float:
        """Give 1 on a named day, falling by the week to 0; 0 when no day is named."""
        return max((_near(self._days_off(said, month, day)) for month, day in self.days), default=0.0)

    def fit(self, said: date) -> float:
        """Give 1 on a day that is counted from now, falling by the week to 0; in a longer span less."""
        return max((_share(span) * _near(_off(said, span)) for span in self.counted), default=0.0)

    def _days_off(self, said: date, month: int, day: int) -> float:
        meant = (_date(year, month, day) for year in self.years or {said.year})
        return min((_off(said, (day, day)) for day in meant if day), default=math.inf)


def read(text: str, asked_at: datetime | None = None) -> Dates:
    """Find the dates that a question names; a month counts when it is written as a name.

    With the moment of asking, also those that are counted from it.
    """
    days = {
        (_NUMBERS[(before or after).lower()], int(first or second))
        for first, before, after, second in _DAY.findall(text)
    }
    return Dates(
        months=frozenset(_NUMBERS[name.lower()] for name in _MONTH.findall(text)),
        years=frozenset(map(int, _YEAR.findall(text))),
        days=frozenset(days),
        counted=() if asked_at is None else _counted(text, asked_at),
    )


def _counted(text: str, asked_at: datetime) -> tuple[Span, ...]:
    found = dates_in(text, asked_at, leaning="past")
    return tuple((each.first, each.last) for each in found if _tells(each) and each.last <= asked_at.date())


def _tells(dated: Dated) -> bool:
    """Whether a date tells when something was said: a weekday may be any, and tonight is when the answer is needed."""
    first, *others = dated.phrase.lower().split()
    return dated.relative and (first == "yesterday" or (bool(others) and (first != "this" or others[0] == "past")))


def _near(days: float) -> float:
    return math.exp(-days / _WEEK)


def _off(said: date, span: Span) -> float:
    """Give how many days something was said after a span, or as many times more as it was said before."""
    return max((said - span[1]).days, _BEFORE * (span[0] - said).days, 0.0)


def _share(span: Span) -> float:
    """Give what it is worth to lie in a span: the longer it is, the more lies in it."""
    return 1 / math.sqrt((span[1] - span[0]).days + 1)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
