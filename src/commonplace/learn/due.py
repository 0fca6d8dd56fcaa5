"""The day that a plan names, read against the day it was said on. Only the commonest ways to name a day."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, time, timedelta

_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAY_SHORT = {name[:3]: number for number, name in enumerate(_DAYS)}
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_SHORT = {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "couple of": 2, "a couple of": 2, "a few": 3,
}  # fmt: skip
_MONTH = (
    r"(january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
)
_WEEKDAY = r"(mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER = r"(\d{1,3}|a couple of|couple of|a few|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"

# Nobody plans at the ends of the calendar, where counting on would leave it.
_EARLIEST, _LATEST = 2, 9900

_ISO = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: ?(?:-|–|to|and) ?\d{{1,2}}(?:st|nd|rd|th)?)?(?: of)? {_MONTH}(?:,? (20\d\d))?"
)
_MONTH_DAY = re.compile(rf"\b{_MONTH} (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)(?:,? (20\d\d))?")
_ORDINAL = re.compile(r"\b(?:on|by|until|before|for) the (\d{1,2})(?:st|nd|rd|th)\b")
_NAMED = re.compile(rf"\b(next )?{_WEEKDAY}\b")
_NAMED_SHORT = re.compile(
    r"\b(?:on|by|this|until|till?|before|due|for) (next )?(mon|tues?|wed|thurs?|thu|fri|sat|sun)\b"
)
_IN = re.compile(rf"\b(?:in|within) {_NUMBER} (day|week|fortnight|month|year)s?\b(?! of)")
_FROM = re.compile(rf"\b{_NUMBER} (day|week|month)s? from (?:now|today)\b")
_NEXT = re.compile(r"\bnext (week|month|year)\b")
_END = re.compile(rf"\bend of (?:(?:the|this|next) )?(week|month|year|day|{_MONTH})", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(day after tomorrow|tomorrow|tmrw|tmr|tonight|today|this (?:morning|afternoon|evening))\b")
_BEFORE = re.compile(r"\b(?:last|past|yesterday|ago|since|every|each)\b")


def due(text: str, said_at: datetime) -> datetime | None:
    """Give the day that a sentence names, at the time of day 0:00; None when it names none."""
    low = text.lower()
    said = said_at.date()
    if not _EARLIEST < said.year < _LATEST:
        return None
    for read in (_dated, _ordinal, _relative, _ahead, _ending, _weekday):
        if found := read(low, said):
            return datetime.combine(found, time(), said_at.tzinfo)
    return None


def _dated(low: str, said: date) -> date | None:
    if found := _ISO.search(low):
        return _date(int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_MONTH.search(low):
        return _in_year(said, _MONTH_SHORT[found[2][:3]], int(found[1]), found[3])
    if found := _MONTH_DAY.search(low):
        return _in_year(said, _MONTH_SHORT[found[1][:3]], int(found[2]), found[3])
    return None


def _ordinal(low: str, said: date) -> date | None:
    """ "On the 5th" is the next one to come."""
    if not (found := _ORDINAL.search(low)):
        return None
    day = int(found[1])
    year, month = (said.year, said.month) if day >= said.day else _month_after(said)
    return _date(year, month, day)


def _relative(low: str, said: date) -> date | None:
    if not (found := _RELATIVE.search(low)):
        return None
    ahead = {"day after tomorrow": 2, "tomorrow": 1, "tmrw": 1, "tmr": 1}.get(found[1], 0)
    return said + timedelta(days=ahead)


def _ahead(low: str, said: date) -> date | None:
    if found := _IN.search(low) or _FROM.search(low):
        count = _NUMBERS.get(found[1]) or int(found[1])
        return _later(said, count, found[2])
    if found := _NEXT.search(low):
        if found[1] == "week":
            return said + timedelta(days=7 - said.weekday())
        year, month = _month_after(said) if found[1] == "month" else (said.year + 1, 1)
        return date(year, month, 1)
    return None


def _later(said: date, count: int, unit: str) -> date | None:
    if unit in ("month", "year"):
        months = said.month - 1 + count * (12 if unit == "year" else 1)
        year, month = said.year + months // 12, months % 12 + 1
        return _date(year, month, min(said.day, monthrange(year, month)[1]))
    return said + timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit])


def _ending(low: str, said: date) -> date | None:
    if not (found := _END.search(low)):
        return None
    unit = found[1]
    if unit == "day":
        return said
    if unit == "week":
        return said + timedelta(days=(4 - said.weekday()) % 7)
    if unit == "year":
        return date(said.year, 12, 31)
    month = said.month if unit == "month" else _MONTH_SHORT[unit[:3]]
    year = said.year + (month < said.month)
    if "next month" in found[0]:
        year, month = _month_after(said)
    return date(year, month, monthrange(year, month)[1])


def _weekday(low: str, said: date) -> date | None:
    """A weekday is the next one to come; "next Friday" the one in the week after this."""
    found = _NAMED.search(low) or _NAMED_SHORT.search(low)
    if not found or ("start" not in low and _BEFORE.search(low, max(0, found.start() - 8), found.start())):
        return None
    ahead = (_DAY_SHORT[found[2][:3]] - said.weekday() - 1) % 7 + 1
    if found[1] == "next " and ahead <= 6 - said.weekday():
        ahead += 7
    return said + timedelta(days=ahead)


def _month_after(said: date) -> tuple[int, int]:
    return (said.year + 1, 1) if said.month == 12 else (said.year, said.month + 1)


def _in_year(said: date, month: int, day: int, year: str | None) -> date | None:
    """A day without a year is the next to come, unless it has passed only lately."""
    if year:
        return _date(int(year), month, day)
    found = _date(said.year, month, day)
    if found and (said - found).days > 90:
        return _date(said.year + 1, month, day)
    return found


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
