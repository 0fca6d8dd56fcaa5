"""The words that dates are made of, as patterns, and the tense of the sentence around a phrase."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from commonplace.text.dates.spans import SEASONS, Span

Tense = Literal["past", "future"]

_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_VAGUE = {"couple": (2.0, 2.0), "few": (2.0, 5.0), "several": (3.0, 7.0), "half": (0.5, 0.5)}

# In all patterns for dates, a space stands for any white space.
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
_SENTENCE_END = re.compile(r"[.!?\n]+(?=\s|$)")
_REACH = 300
"""Characters around a phrase in which the ends of its sentence are looked for."""
_AFTER = 4
"""A verb after the phrase counts as this many times as far away."""
_AHEAD = (
    r"will|won['’]?t|shall|(?<=['’])ll|going to|gonna|plan(?:s|ning)?(?: to)?|due|until|till|deadline|upcoming"
    r"|let['’]?s|hop(?:e|es|ing) to|wants? to|wanna|would like|looking forward|can['’]?t wait"
    r"|needs? to|ha(?:ve|s) to|gotta|must|should|remind|schedul(?:e|ed)|expect(?:s|ing)?|see you"
    r"|(?:['’](?:m|re|s)|am|is|are) (?:\w{2,} )?\w{2,}ing"
)
_BEHIND = (
    r"was|were|wasn['’]?t|weren['’]?t|did|didn['’]?t|had|went|got|saw|met|took|made|came|gave|told|said|found|left|bought"
    r"|brought|ran|ate|been|won|lost|broke|began|became|built|caught|chose|cut|drew|drank|drove|fell|felt|flew|forgot"
    r"|grew|heard|held|hit|kept|knew|led|lent|let|paid|put|read|rode|sang|sent|set|sold|spent|spoke|stood|swam|taught"
    r"|thought|threw|wore|woke|wrote|done|gone|taken|seen|ago|[a-z]{2,}(?<!ne)(?<!sche)(?<!exci)(?<!hundr)(?<!inde)ed"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that a rule found, and the text around it."""

    found: re.Match[str]
    said: date
    leaning: Tense | None

    def __getitem__(self, name: str) -> str:
        """Return a group of the pattern in lower case; empty if it did not take part."""
        return (self.found.groupdict().get(name) or "").lower()

    def sentence(self) -> tuple[int, int]:
        """Return where the sentence around the phrase begins and ends."""
        text, (start, end) = self.found.string, self.found.span()
        first, limit = max(start - _REACH, 0), min(end + _REACH, len(text))
        for found in _SENTENCE_END.finditer(text, first, start):
            first = found.end()
        last = _SENTENCE_END.search(text, end, limit)
        return first, last.start() if last else limit

    def tense(self) -> Tense | None:
        """Return where the nearest verb points that shows a tense; without one, `leaning`."""
        text, (start, end) = self.found.string, self.found.span()
        if _DUE.search(text[max(start - _NEAR, 0) : start] + self.found[0].split()[0] + " "):
            return "future"
        marks = [
            (start - mark.end() if mark.start() < start else _AFTER * (mark.start() - end), mark["ahead"])
            for mark in _tense_marks().finditer(text, *self.sentence())
        ]
        near = [mark for mark in marks if mark[0] >= 0]  # those below 0 are part of the phrase
        if not near:
            return self.leaning
        return "future" if min(near, key=lambda mark: mark[0])[1] else "past"


Rule = tuple[str, str, Callable[[Phrase], Span | None]]
"""The words that a phrase can begin with, its pattern, and its meaning: None if it turns out to be no date."""


@lru_cache(maxsize=1)
def _tense_marks() -> re.Pattern[str]:
    return re.compile(rf"\b(?:(?P<ahead>{_AHEAD})|(?:{_BEHIND}))\b", re.IGNORECASE)


def month_of(name: str) -> int:
    """Return the number of a month by its name or the beginning of it."""
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def weekday_of(name: str) -> int:
    """Return the number of a weekday, Monday being 0."""
    return next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))


def part_of(text: str) -> str:
    """Return the one word that says which part of a span is meant."""
    return next((word for word in re.findall("[a-z]+", text) if word not in ("the", "very", "of")), "")


def number_of(text: str) -> tuple[float, float]:
    """Return the least and the most that a number means."""
    words = re.findall(r"[a-z]+|\d+", text)
    for word in words:
        if word in _VAGUE:
            return _VAGUE[word]
    if words[0].isdigit():
        return float(words[0]), float(words[0])
    number = float(_NUMBERS.index(words[0])) if words[0] in _NUMBERS else 1.0
    return number, number
