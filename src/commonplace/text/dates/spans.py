"""Days, weeks, months and years as spans of days, and the steps between them. A negative step leads back."""

from __future__ import annotations

import math
from calendar import monthrange
from datetime import date, timedelta

Span = tuple[date, date]
"""The first and the last day."""

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The months they begin with, in the northern hemisphere."""
_DAYS = {
    "minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14, "weekend": 7, "month": 30,
}  # fmt: skip


def day(here: date, steps: int = 0) -> Span:
    there = here + timedelta(days=steps)
    return there, there


def week(here: date, steps: int = 0) -> Span:
    """A week from Monday to Sunday."""
    monday = here - timedelta(days=here.weekday()) + timedelta(weeks=steps)
    return monday, monday + timedelta(days=6)


def weekend(here: date, steps: int = 0) -> Span:
    """The Saturday and Sunday of a week."""
    monday, sunday = week(here, steps)
    return monday + timedelta(days=5), sunday


def month(year: int, number: int) -> Span:
    """A month; the thirteenth is the next year's first."""
    year, number = year + (number - 1) // 12, (number - 1) % 12 + 1
    return date(year, number, 1), date(year, number, monthrange(year, number)[1])


def year(number: int) -> Span:
    return date(number, 1, 1), date(number, 12, 31)


def season(year: int, name: str) -> Span:
    """A season of three months; a winter belongs to the year it begins in."""
    return _months(year, SEASONS[name])


def quarter(year: int, number: int) -> Span:
    return _months(year, 3 * number - 2)


def _months(year: int, first: int) -> Span:
    return month(year, first)[0], month(year, first + 2)[1]


def weekday(here: date, name: int, *, ahead: bool) -> Span:
    """The nearest day of this name before or after here, never here."""
    away = (name - here.weekday() - 1) % 7 + 1 if ahead else -((here.weekday() - name - 1) % 7 + 1)
    return day(here, away)


def part(whole: Span, name: str) -> Span:
    """The beginning, middle or end of a span: a third of it; of a year, its first or last month, and so on."""
    first, last = whole
    length = (last - first).days + 1
    third = max(length // 3, 1)
    if name in ("end", "start", "beginning"):
        third = min(third, 31 if length > 100 else 7)
    if name in ("end", "late"):
        return last - timedelta(days=third - 1), last
    if name in ("mid", "middle"):
        return first + timedelta(days=third), last - timedelta(days=third)
    return first, first + timedelta(days=third - 1)


def unit(here: date, name: str, steps: int) -> Span:
    """The week, month, quarter, year or the like before, around or after a day."""
    if name == "weekend":
        return weekend(here, steps)
    if name == "week":
        return week(here, steps)
    if name == "month":
        return month(here.year, here.month + steps)
    if name == "quarter":
        return quarter(here.year, (here.month - 1) // 3 + 1 + steps)
    if name in ("night", "day"):
        return day(here, steps)
    return year(here.year + steps)


def span_away(here: date, unit: str, least: float, most: float) -> Span:
    """Everything between `least` and `most` units from here, as exactly as people mean it: by months if in months."""
    low, high = _away(here, unit, least), _away(here, unit, most)
    return min(low[0], high[0]), max(low[1], high[1])


def _away(here: date, unit: str, steps: float) -> Span:
    if unit in ("minute", "hour", "day"):
        return day(here, round(steps * _DAYS[unit]))
    if unit == "weekend":
        return weekend(here, round(steps))
    if steps != int(steps) or unit == "fortnight":
        unit, steps = _finer(unit, steps)
    if unit == "week":
        centre = here + timedelta(weeks=int(steps))
        return centre - timedelta(days=3), centre + timedelta(days=3)
    if unit == "month":
        return month(here.year, here.month + int(steps))
    return year(here.year + int(steps) * (10 if unit == "decade" else 1))


def _finer(unit: str, steps: float) -> tuple[str, int]:
    """Half a year is six months, half a month two weeks."""
    if unit in ("year", "decade"):
        return "month", math.floor(steps * (12 if unit == "year" else 120))
    return "week", math.floor(steps * _DAYS[unit] / 7 + 0.5)


def day_away(here: date, unit: str, steps: float) -> date:
    """The day so many units from here."""
    if unit in ("month", "year", "decade"):
        number = round(steps * {"month": 1, "year": 12, "decade": 120}[unit])
        first, last = month(here.year, here.month + number)
        return min(first + timedelta(days=here.day - 1), last)
    return here + timedelta(days=round(steps * _DAYS[unit]))


def write(span: Span) -> str:
    """Return a span in ISO 8601, as short as possible: a day, a month, a year, or its first and last day."""
    first, last = span
    if first == last:
        return first.isoformat()
    if span == year(first.year):
        return f"{first.year:04}"
    if span == month(first.year, first.month):
        return f"{first.year:04}-{first.month:02}"
    return f"{first.isoformat()} to {last.isoformat()}"
