"""Dates that an English text names, as days of the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from commonplace.text.dates.rules import DIGIT, FIXED, RELATIVE, DatePhrase, Tense
from commonplace.text.dates.spans import Span

_WORD = re.compile(r"\w+")
_SPACE = r"[\s\xa0]{1,4}"
# Not inside a word, an amount, a tag, a time of day or a longer number.
_ALONE = r"(?<![\w$€£#])(?<!\d[.,:/-])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A phrase that names a time, and the days that it means."""

    start: int
    end: int
    phrase: str
    """The text from `start` to `end`."""
    first: date
    last: date
    relative: bool
    """Whether it is counted from the day it was said on, as "last Friday" is and "in May" is not."""


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    meaning: Callable[[DatePhrase], Span | None]
    relative: bool


def dates_in(text: str, said_at: date, *, leaning: Tense | None = None) -> tuple[Dated, ...]:
    """Find every phrase that names a time, in the order of the text, with the days that it meant when it was said.

    `said_at` is a date, or a moment, whose day in its own time zone counts.

    The verbs around a phrase decide whether "on Friday" or "in May" lies in the past or in the future, otherwise
    `leaning` does ("past" or "future"). Without either, a weekday is the next one and everything else the nearest.
    Phrases that may not be dates are left out: "it may", "march on", "a second", "every Friday".
    """
    said = said_at.date() if isinstance(said_at, datetime) else said_at
    return tuple(_find(text, said, leaning))


def _find(text: str, said: date, leaning: Tense | None) -> Iterator[Dated]:
    rules, end = _rules(), 0
    for word in _WORD.finditer(text):
        if word.start() < end:
            continue
        beginning = DIGIT if word[0][0].isdigit() else word[0].lower()
        for rule in rules.get(beginning, ()):
            if (found := rule.pattern.match(text, word.start())) and (span := _meaning(rule, found, said, leaning)):
                end = found.end()
                yield Dated(
                    start=found.start(), end=end, phrase=found[0], first=span[0], last=span[1], relative=rule.relative
                )
                break


def _meaning(rule: _Rule, found: re.Match[str], said: date, leaning: Tense | None) -> Span | None:
    try:
        return rule.meaning(DatePhrase(found, said, leaning))
    except (ValueError, OverflowError):  # no calendar has this day
        return None


@lru_cache(maxsize=1)
def _rules() -> dict[str, list[_Rule]]:
    """Compile all rules, by the words that their phrases begin with."""
    rules: dict[str, list[_Rule]] = {}
    for relative, some in ((False, FIXED), (True, RELATIVE)):
        for beginnings, text, meaning in some:
            pattern = re.compile(f"{_ALONE}(?:{text.replace(' ', _SPACE)})", re.IGNORECASE | re.ASCII)
            for word in re.findall(r"\w+", beginnings):
                rules.setdefault(word, []).append(_Rule(pattern, meaning, relative))
    return rules
