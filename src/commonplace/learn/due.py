"""The day that a plan names, read against the day it was said on."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from commonplace.learn.regex import compiled
from commonplace.text.dates import Dated, dates_in

_LONGEST = 300
"""Characters that are read; a sentence made of nothing but dates would take long."""
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SHORT = {
    "tmrw": "tomorrow", "tmr": "tomorrow", "tomo": "tomorrow", "2moro": "tomorrow", "tonite": "tonight",
    "eod": "today", "end of day": "today", "eow": "the end of the week", "end of week": "the end of the week",
    "eom": "the end of the month", "end of month": "the end of the month",
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "weds": "Wednesday", "thu": "Thursday",
    "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
}  # fmt: skip
_ABBREVIATED = compiled(
    r"""\b(?:tmrw|tmr|tomo|2moro|tonite|eod|eow|eom|end_of_(?:day|week|month))\b
        |(?<=\b(?:on|by|is)_)(?:mon|tues?|weds?|thu|thurs?|fri|sat|sun)\b
        |(?<=\b(?:due|for)_)(?:mon|tues?|weds?|thu|thurs?|fri|sat|sun)\b
        |(?<=\b(?:this|till|next)_)(?:mon|tues?|weds?|thu|thurs?|fri|sat|sun)\b
        |\b(?:mon|tues?|weds?|thu|thurs?|fri|sat|sun)(?=_(?:\d|at_\d|a\.?m|p\.?m|morning|night|evening))""",
    re.IGNORECASE,
)
# Done already, but for a day to come: their tense says nothing about the day.
_ARRANGED = compiled(
    r"""\b(?:agreed|arranged|asked|booked|committed|confirmed|decided|delayed|invited|moved|offered|planned|postponed
        |promised|pushed|registered|rescheduled|reserved|scheduled|set|shifted|signed_up|volunteered|wanted)\b""",
    re.IGNORECASE,
)
_WILL = compiled(
    r"(?:\b(?:will|shall|must|(?:has|have|needs?|going|plans?|want)_to|gonna|should)\b|'ll\b)", re.IGNORECASE
)
_PASSIVE = re.compile(r"\b\w+ed(?= by\b)|(?<=\bis )\w+ed\b|(?<=\bare )\w+ed\b|(?<='[smr] )\w+ed\b", re.IGNORECASE)
_PARTICIPLE = re.compile(r"(?<!')\b\w{2,}ed\b")
# Most sentences name no day: one quick look saves them a careful one.
_SOME_DAY = re.compile(
    r"\d|day\b|tomo|tmr|tonigh?t|week|month|year|fortnight|\beo[dwm]\b|\b(?:mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE
)
_EVERY = re.compile(r"\b(?:every|each) (mon|tue|wed|thu|fri|sat|sun)\w*", re.IGNORECASE)
_STARTS = re.compile(r"\bstart", re.IGNORECASE)
_AT_THE_END = re.compile(r"(?:the )?(?:end|close)\b|within\b", re.IGNORECASE)
_AT_THE_BEGINNING = re.compile(r"(?:the )?(?:next|this weekend|coming|beginning|start|early|week)\b", re.IGNORECASE)
_AHEAD = re.compile(r"in\b|.*\bfrom (?:now|today)$", re.IGNORECASE)


def due(text: str, said_at: datetime) -> datetime | None:
    """Give the day that a sentence sets for something to come, at 0:00; None when it names none."""
    if not _SOME_DAY.search(text):
        return None
    text = _ABBREVIATED.sub(lambda short: _SHORT[short[0].lower()], text[:_LONGEST])
    text = _ARRANGED.sub("will", text)
    text = _PASSIVE.sub("", text)
    if _WILL.search(text):
        # In "I'll send the signed lease on Friday" nothing has happened yet.
        text = _PARTICIPLE.sub("", text)
    said = said_at.date()
    days = [day for each in dates_in(text, said, leaning="future") if (day := _day(each, said)) and day >= said]
    found = _recurring(text, said) or (days[0] if days else None)
    return datetime.combine(found, time(), said_at.tzinfo) if found else None


def _recurring(text: str, said: date) -> date | None:
    """Something weekly that starts now is due on its first day."""
    found = _EVERY.search(text)
    if not found or not _STARTS.search(text):
        return None
    ahead = (_WEEKDAYS.index(found[1].lower()) - said.weekday() - 1) % 7 + 1
    return said + timedelta(days=ahead) if said < date.max - timedelta(days=7) else None


def _day(named: Dated, said: date) -> date | None:
    """Give the one day of a phrase; None of one as wide as "in May", which names no day."""
    if named.first == named.last:
        return named.first
    if _AT_THE_END.match(named.phrase):
        # The week ends with its work.
        return named.last - timedelta(days=2) if "week" in named.phrase.lower() else named.last
    if (named.last - named.first).days <= 7 and not named.relative:
        return named.first
    if named.relative and _AHEAD.match(named.phrase):
        return named.first + (named.last - named.first) / 2
    return max(named.first, said) if named.relative and _AT_THE_BEGINNING.match(named.phrase) else None
