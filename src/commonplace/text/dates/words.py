"""The words that dates are made of, as patterns; a space stands for any white space."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from commonplace.text.dates.spans import SEASONS, Span
from commonplace.text.dates.tense import Tense, tense

_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_VAGUE = {"couple": (2.0, 2.0), "few": (2.0, 5.0), "several": (3.0, 7.0), "half": (0.5, 0.5)}

MONTH = "|".join(_MONTHS)
SHORT_MONTH = rf"{MONTH}|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
WEEKDAY = "|".join(_WEEKDAYS)
SHORT_WEEKDAY = rf"{WEEKDAY}|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun"
SEASON = "|".join(SEASONS)
YEAR = r"(?:19|20)\d\d"
DIGIT = "0"
"""Stands for every word that begins with a digit, among the words that a phrase can begin with."""
COUNTS = f"half|a|an|few|several|{'|'.join(_NUMBERS[1:])}|{DIGIT}"
PARTS = "early|mid|late|the|very|end|start|beginning|middle"
ABOUTS = "about|around|roughly|almost|nearly|over|under|just|more|less"
NUMBER = rf"half an?|a couple(?: of)?|an?|{'|'.join(_NUMBERS[1:])}|\d{{1,3}}|(?:a )?few|several"
UNIT = "minute|hour|day|week|fortnight|weekend|month|year|decade"
PART = r"early|mid|late|(?:the )?(?:very )?(?:end|start|beginning|middle) of"
ABOUT = r"(?:about|around|roughly|almost|nearly|over|under|just over|just under|more than|less than) "
_DUE = re.compile(r"\b(?:by|until|till|due)(?:\s+on)?(?:\s+\S+)?\s+$", re.IGNORECASE)
_NEAR = 12


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that a rule found, and what surrounds it."""

    found: re.Match[str]
    said: date
    leaning: Tense | None

    def __getitem__(self, name: str) -> str:
        """Give a part of the phrase in lower case; empty if it is not there."""
        return (self.found.groupdict().get(name) or "").lower()

    def tense(self) -> Tense | None:
        """Tell whether the sentence points back or ahead; if it does not, what the reader expects."""
        text, (start, end) = self.found.string, self.found.span()
        if _DUE.search(text[max(start - _NEAR, 0) : start] + self.found[0].split()[0] + " "):
            return "future"
        return tense(text, start, end) or self.leaning


Rule = tuple[str, str, Callable[[Phrase], Span | None]]
"""The words that a phrase can begin with, its pattern, and what it means: nothing, if it turns out to be no date."""


def month_of(name: str) -> int:
    """The number of a month by its name or the beginning of it."""
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def weekday_of(name: str) -> int:
    """The number of a weekday, Monday 0."""
    return next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))


def part_of(text: str) -> str:
    """The one word that tells which part of a span is meant."""
    return next((word for word in re.findall("[a-z]+", text) if word not in ("the", "very", "of")), "")


def number_of(text: str) -> tuple[float, float]:
    """The least and the most that a number means."""
    words = re.findall(r"[a-z]+|\d+", text)
    for word in words:
        if word in _VAGUE:
            return _VAGUE[word]
    if words[0].isdigit():
        return float(words[0]), float(words[0])
    number = float(_NUMBERS.index(words[0])) if words[0] in _NUMBERS else 1.0
    return number, number
