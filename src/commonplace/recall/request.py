"""A request to recall: the caller's options, the question as it is read, and the probe that the store searches with."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from commonplace.settings import Settings
from commonplace.store.base import Probe
from commonplace.store.row import hash_name, hash_tag
from commonplace.store.where import Selection, select
from commonplace.text.dates import Dated, dates_in
from commonplace.text.dates.spans import Span
from commonplace.text.lexicon import ASKING, EMPTY
from commonplace.text.terms import query_terms
from commonplace.values import KINDS, Order, Part, Scope, Within, checks, times
from commonplace.values.arrays import Floats

COMPANY = 0.08
"""Relevance that is enough for a memory beside one that passes: relevant memories come together."""
APART = 4.5
"""Log-odds by which it may be behind the best one: beside a sure answer, a merely likely one is noise."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_POSSESSIVE = re.compile(r"['’]s$")
_MOST_NAMES = 16

_TOLD = (
    "recommended suggested mentioned told said gave provided listed shared wrote explained advised described created"
    " made"
)
_TELL = "recommend suggest mention tell say give provide list share write explain advise describe"
_TO_ASSISTANT = re.compile(
    rf"\byou (?:\w+ )?(?:{'|'.join(_TOLD.split())})\b|\bdid you (?:\w+ )?(?:{'|'.join(_TELL.split())})\b"
    r"|\bremind me\b|\b(?:previous|earlier|last) (?:conversation|chat|discussion)\b|\bwe (?:talked|discussed|spoke)\b"
)
_TO_USER = re.compile(
    r"\bi (?:\w+ )?(?:mentioned|brought|said|told|asked)\b|\bdid i (?:\w+ )?(?:mention|bring|say|tell|ask)\b"
)
_TO_BOTH = re.compile(r"\bsummar|\boverview\b")

_TIME = re.compile(r"\bwhen\b|\bwhat (?:date|day|year|month|time)\b|\bhow long\b|\bhow many (?:day|week|month|year)s\b")
_NUMBER = re.compile(r"\bhow (?:many|much|old|long|often)\b")
_NAME = re.compile(r"\bwho\b|\bwhere\b|\bnames?\b")

_TALK = r"our (?:\w+ )?(?:conversation|chat|discussion|session|talk)s?"
_REQUEST = re.compile(
    rf"\bi was (?:going|looking) (?:back )?(?:through|at|over) {_TALK}\b"
    rf"|\b(?:throughout|across|during|through|over|in|from|on|to) (?:all )?(?:of )?{_TALK}\b"
    r"|\bthe order in which\b|\bi brought up\b|\bin (?:chronological )?order(?=[,.?!]|$)"
    r"|\bdifferent (?:aspects|parts) of\b|\b(?:mention|list|name) only\b[^.?!]*",
    re.IGNORECASE,
)
"""Phrases about how to answer, rather than about the subject."""

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
"""People talk about a day after it, so days before it count as this many times as far away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A caller's options, checked."""

    query: str
    k: int
    max_tokens: int | None
    threshold: float | None
    """Relevance that the best memory must have; None for the usual one."""
    company: float
    """Relevance that the others must have."""
    apart: float
    """Log-odds by which they may be behind the best."""
    order: Order
    now: int
    asked_at: int
    """The moment that "last week" counts from, in microseconds."""
    half_lives: Mapping[str, float]
    selection: Selection
    vector: Sequence[float] | Floats | None
    """Replaces the query's own vector."""


def make_request(
    settings: Settings,
    query: str,
    *,
    k: int = 10,
    max_tokens: int | None = 2000,
    within: Within | Scope | None = None,
    filter: Mapping[str, object] | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    threshold: float | None = None,
    order: Order = "relevance",
    as_of: datetime | None = None,
    asked_at: datetime | None = None,
    superseded: bool = False,
    vector: Sequence[float] | Floats | None = None,
) -> RecallRequest:
    """Check a caller's options and return them as a RecallRequest."""
    now = times.now()
    asked = asked_at if asked_at is not None else as_of
    return RecallRequest(
        query=checks.text(query, "query", limit=settings.max_text_bytes),
        k=checks.count(k, "k", least=1, most=1_000),
        max_tokens=None if max_tokens is None else checks.count(max_tokens, "max_tokens"),
        threshold=None if threshold is None else checks.share(threshold, "threshold"),
        company=COMPANY if threshold is None else threshold,
        apart=APART if threshold is None else math.inf,
        order=checks.order(order),
        now=now,
        asked_at=now if asked is None else times.to_micros(asked),
        half_lives=settings.half_lives,
        selection=select(filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded, as_of=as_of),
        vector=vector,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """The months, years and days that a question names, and the days that it counts from when it was asked."""

    months: frozenset[int]
    years: frozenset[int]
    days: frozenset[tuple[int, int]]
    """Month and day."""
    counted: tuple[Span, ...] = ()
    """The days that "last week" or "two months ago" mean to whoever asks."""

    def __bool__(self) -> bool:
        return bool(self.months or self.years or self.counted)

    def spans(self, asked: date) -> tuple[Span, ...]:
        """Return the days that the dates mean to whoever asks then, each month or year as the latest that has begun."""
        years = self.years or {asked.year, asked.year - 1}
        starts = [date(year, month, 1) for month in self.months for year in years]
        begun = sorted((start for start in starts if start <= asked), reverse=True)
        months = [(start, _month_end(start)) for start in begun[: len(self.years) * 12 or len(self.months)]]
        whole = [] if self.months else [(date(year, 1, 1), date(year, 12, 31)) for year in sorted(self.years)]
        return (*self.counted, *months, *whole)

    def are_past(self, asked: date) -> bool:
        """Tell whether the dates are days gone by: of "tonight" or "this week" people speak before it comes."""
        spans = self.spans(asked)
        return bool(spans) and all(last < asked for _, last in spans)

    def months_off(self, said: date) -> int | None:
        """Return the months between a date and the nearest named month; None in a year that was not meant."""
        if self.years and said.year not in self.years:
            return None
        return min((abs((said.month - month + 6) % 12 - 6) for month in self.months), default=0)

    def nearness(self, said: date) -> float:
        """Return 1 on a named day, falling by the week to 0; 0 when no day is named."""
        meant = (_date(year, month, day) for month, day in self.days for year in self.years or {said.year})
        return max((_near(said, (day, day)) for day in meant if day), default=0.0)

    def fit(self, said: date) -> float:
        """Return 1 on a day that is counted from now, falling by the week to 0; less in a longer span."""
        return max((_share(span) * _near(said, span) for span in self.counted), default=0.0)


def read_dates(text: str, asked_at: datetime | None = None) -> Dates:
    """Find the dates that a question names; a month counts when it is written as a name.

    With the moment of asking, also those that are counted from it.
    """
    counted: tuple[Span, ...] = ()
    if asked_at is not None:
        found = dates_in(text, asked_at, leaning="past")
        counted = tuple((each.first, each.last) for each in found if _tells(each) and each.last <= asked_at.date())
    days = {
        (_NUMBERS[(before or after).lower()], int(first or second))
        for first, before, after, second in _DAY.findall(text)
    }
    return Dates(
        months=frozenset(_NUMBERS[name.lower()] for name in _MONTH.findall(text)),
        years=frozenset(map(int, _YEAR.findall(text))),
        days=frozenset(days),
        counted=counted,
    )


def _tells(dated: Dated) -> bool:
    """Tell whether a date limits when something was said: a weekday is ambiguous, and tonight lies ahead."""
    first, *others = dated.phrase.lower().split()
    return dated.relative and (first == "yesterday" or (bool(others) and (first != "this" or others[0] == "past")))


def _near(said: date, span: Span) -> float:
    """Return 1 in a span, falling by the week after it, and faster before it."""
    days = max((said - span[1]).days, _BEFORE * (span[0] - said).days, 0.0)
    return math.exp(-days / _WEEK)


def _share(span: Span) -> float:
    """Return what it is worth to lie in a span: the longer it is, the more lies in it."""
    return 1 / math.sqrt((span[1] - span[0]).days + 1)


def _month_end(start: date) -> date:
    return (start.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """A question as it was read: whom and what it asks about, and what its answer looks like."""

    named: frozenset[str]
    """Words of speakers' names that the question holds."""
    about: str
    """The question without those names, to be compared by meaning."""
    subject: str
    """Of that, what it asks for, without how it asks: to be compared by words."""
    role: Literal["user", "assistant"] | None
    """Who said the answer, where people talk with a program and nobody is named; None for both."""
    dates: Dates
    wants_time: bool
    wants_number: bool
    wants_name: bool


def read_question(
    text: str, *, named: frozenset[str] = frozenset(), asked_at: datetime | None = None
) -> ParsedQuestion:
    """Read a question; `named` are those of its names that speakers have.

    "Last week" and the like are only read with the moment of asking.
    """
    lower = text.lower()
    about = strip_names(text, named)
    return ParsedQuestion(
        named=named,
        about=about,
        subject=strip_request(about),
        role=_role(lower),
        dates=read_dates(text, asked_at),
        wants_time=bool(_TIME.search(lower)),
        wants_number=bool(_NUMBER.search(lower)),
        wants_name=bool(_NAME.search(lower)),
    )


def find_names(text: str) -> tuple[str, ...]:
    """Return the words that are written like names, in lower case; the book knows whether they name speakers."""
    capital = (word for word in _WORD.findall(text) if word[0].isupper() and word.lower() not in EMPTY)
    return tuple(dict.fromkeys(map(_plain, capital)))[:_MOST_NAMES]


def strip_names(text: str, names: Collection[str]) -> str:
    """Remove speakers' names, which are in memories' sources, from a question, unless it consists only of names."""
    if not names:
        return text
    rest = _WORD.sub(lambda found: "" if found[0][0].isupper() and _plain(found[0]) in names else found[0], text)
    return rest if informative_words(rest) else text


def strip_request(text: str) -> str:
    """Remove phrases about how to answer from a question, unless it consists only of them."""
    rest = _REQUEST.sub(" ", text)
    return rest if informative_words(rest) else text


def informative_words(text: str) -> list[str]:
    """Return the words that say what a question is about, in lower case."""
    words = (_POSSESSIVE.sub("", word).lower() for word in re.findall(r"[\w'’-]+", text))
    return list(dict.fromkeys(word for word in words if word and word not in EMPTY and word not in ASKING))


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _role(lower: str) -> Literal["user", "assistant"] | None:
    """Return who probably said the answer: the user, the assistant if it asks for its words, or either (None)."""
    if _TO_BOTH.search(lower):
        return None
    return "assistant" if _TO_ASSISTANT.search(lower) and not _TO_USER.search(lower) else "user"


def make_probe(request: RecallRequest, subject: str, vector: Floats, *, generation: int, depth: int) -> Probe:
    """Return what both indexes of the store are asked."""
    selection = request.selection
    past = selection.as_of is not None
    return Probe(
        vector=vector,
        terms=query_terms(subject),
        depth=max(depth, 2 * request.k),
        generation=generation,
        # Only the rows know what had ended at a moment in the past.
        now=0 if past else request.now,
        superseded=past or selection.superseded,
        kinds=tuple(KINDS.index(kind) for kind in selection.kinds),
        labels=tuple(hash_tag(tag) for tag in selection.tags),
        within=() if selection.within is None else _hash_parts(selection.within),
    )


def _hash_parts(within: Within) -> tuple[tuple[Part, tuple[int, ...]], ...]:
    parts: tuple[tuple[Part, tuple[str, ...] | None], ...] = (
        ("user", within.users),
        ("agent", within.agents),
        ("session", within.sessions),
    )
    shared = (0,) if within.shared else ()
    return tuple((part, (*shared, *(hash_name(name) for name in names))) for part, names in parts if names is not None)
