"""Dates that a question names, and how near a memory was said to them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date

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
    """The months, years and days that a question names."""

    months: frozenset[int]
    years: frozenset[int]
    days: frozenset[tuple[int, int]]
    """Month and day."""

    def __bool__(self) -> bool:
        return bool(self.months or self.years)

    def months_off(self, said: date) -> int | None:
        """Give the months between a date and the nearest named month; None in a year that was not meant."""
        if self.years and said.year not in self.years:
            return None
        return min((abs((said.month - month + 6) % 12 - 6) for month in self.months), default=0)

    def nearness(self, said: date) -> float:
        """Give 1 on a named day, falling by the week to 0; 0 when no day is named."""
        off = [self._days_off(said, month, day) for month, day in self.days]
        return math.exp(-min(off) / _WEEK) if off else 0.0

    def _days_off(self, said: date, month: int, day: int) -> float:
        away = [(said - meant).days for year in self.years or {said.year} if (meant := _date(year, month, day))]
        return min((days if days >= 0 else -_BEFORE * days for days in away), default=math.inf)


def read(text: str) -> Dates:
    """Find the dates that a question names; a month counts when it is written as a name."""
    days = {
        (_NUMBERS[(before or after).lower()], int(first or second))
        for first, before, after, second in _DAY.findall(text)
    }
    return Dates(
        months=frozenset(_NUMBERS[name.lower()] for name in _MONTH.findall(text)),
        years=frozenset(map(int, _YEAR.findall(text))),
        days=frozenset(days),
    )


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
