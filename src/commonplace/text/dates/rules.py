"""Rules for dates: FIXED ones name a place in the calendar, RELATIVE ones are counted from the day they are said on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from commonplace.text.dates import spans
from commonplace.text.dates.spans import Span

Tense = Literal["past", "future"]

_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_VAGUE = {"couple": (2.0, 2.0), "few": (2.0, 5.0), "several": (3.0, 7.0), "half": (0.5, 0.5)}

# In all patterns for dates, a space stands for any white space.
_MONTH = "|".join(_MONTHS)
_SHORT_MONTH = rf"{_MONTH}|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
_WEEKDAY = "|".join(_WEEKDAYS)
_SHORT_WEEKDAY = rf"{_WEEKDAY}|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun"
_SEASON = "|".join(spans.SEASONS)
_YEAR = r"(?:19|20)\d\d"
DIGIT = "0"
"""Stands for every word that begins with a digit, among the words that a phrase can begin with."""
_COUNTS = f"half|a|an|few|several|{'|'.join(_NUMBERS[1:])}|{DIGIT}"
_PARTS = "early|mid|late|the|very|end|start|beginning|middle"
_ABOUTS = "about|around|roughly|almost|nearly|over|under|just|more|less"
_NUMBER = rf"half an?|a couple(?: of)?|an?|{'|'.join(_NUMBERS[1:])}|\d{{1,3}}|(?:a )?few|several"
_UNIT = "minute|hour|day|week|fortnight|weekend|month|year|decade"
_PART = r"early|mid|late|(?:the )?(?:very )?(?:end|start|beginning|middle) of"
_ABOUT = r"(?:about|around|roughly|almost|nearly|over|under|just over|just under|more than|less than) "

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
_AGAINST_TENSE = 5
"""A day on the other side than the verbs say counts as this many times as far away."""
_MONTH_LENGTH = 20
"""Days from which a span counts as a month: a month ahead that is told in the past tense was a year ago."""
_DAYS = {"day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1, "day after tomorrow": 2}
"""Days from the one it is said on; all other names are names for that day."""
_PERFECT = re.compile(r"\b(?:have|has|been)\b|['’]ve\b", re.IGNORECASE)
_ENDS = {"eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}


@dataclass(frozen=True, slots=True)
class DatePhrase:
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


Rule = tuple[str, str, Callable[[DatePhrase], Span | None]]
"""The words that a phrase can begin with, its pattern, and its meaning: None if it turns out to be no date."""


@lru_cache(maxsize=1)
def _tense_marks() -> re.Pattern[str]:
    return re.compile(rf"\b(?:(?P<ahead>{_AHEAD})|(?:{_BEHIND}))\b", re.IGNORECASE)


def _month_of(name: str) -> int:
    """Return the number of a month by its name or the beginning of it."""
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def _weekday_of(name: str) -> int:
    """Return the number of a weekday, Monday being 0."""
    return next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))


def _part_of(text: str) -> str:
    """Return the one word that says which part of a span is meant."""
    return next((word for word in re.findall("[a-z]+", text) if word not in ("the", "very", "of")), "")


def _number_of(text: str) -> tuple[float, float]:
    """Return the least and the most that a number means."""
    words = re.findall(r"[a-z]+|\d+", text)
    for word in words:
        if word in _VAGUE:
            return _VAGUE[word]
    if words[0].isdigit():
        return float(words[0]), float(words[0])
    number = float(_NUMBERS.index(words[0])) if words[0] in _NUMBERS else 1.0
    return number, number


def _day(phrase: DatePhrase) -> Span | None:
    if phrase.found["month"] in ("may", "march", "mar") and not (phrase["th"] or phrase["year"]):
        return None
    month, first = _month_of(phrase["month"]), int(phrase["day"])
    last = max(first, int(phrase["until"] or first))
    return _of_year(phrase, lambda year: (date(year, month, first), date(year, month, last)))


def _month(phrase: DatePhrase) -> Span:
    month = _month_of(phrase["month"])
    return _of_year(phrase, lambda year: spans.month(year, month))


def _season(phrase: DatePhrase) -> Span:
    return _of_year(phrase, lambda year: spans.season(year, phrase["season"]))


def _quarter(phrase: DatePhrase) -> Span:
    return _of_year(phrase, lambda year: spans.quarter(year, int(phrase["quarter"])))


def _of_year(phrase: DatePhrase, of: Callable[[int], Span]) -> Span:
    whole = of(int(phrase["year"])) if phrase["year"] else _in_likely_year(phrase, of)
    return spans.part(whole, _part_of(phrase["part"])) if phrase["part"] else whole


def _in_likely_year(phrase: DatePhrase, of: Callable[[int], Span]) -> Span:
    """Return the span in the year that the sentence points to; if it points nowhere, the nearest.

    A near day is meant in spite of the tense: "booked for May 20" has its past tense from the booking.
    """
    here = phrase.said
    years = [of(year) for year in range(here.year - 1, here.year + 2) if _exists(of, year)]
    tense = phrase.tense()

    def distance(span: Span) -> float:
        against = (tense == "past" and span[0] > here) or (tense == "future" and span[1] < here)
        return abs((span[0] - here).days + (span[1] - here).days) * (_AGAINST_TENSE if against else 1)

    if tense and years and (years[0][1] - years[0][0]).days >= _MONTH_LENGTH:
        years = [span for span in years if (span[0] <= here if tense == "past" else span[1] >= here)]
    return min(years, key=distance)


def _exists(of: Callable[[int], Span], year: int) -> bool:
    try:
        of(year)
    except (ValueError, OverflowError):
        return False
    return True


def _step(which: str) -> int:
    """Return -1 for the one before, 0 for this one, 1 for the next."""
    word = which.split()[-1] if which else "this"
    return -1 if word in ("last", "past", "previous") else 1 if word in ("next", "coming", "upcoming") else 0


def _named_day(phrase: DatePhrase) -> Span:
    name = " ".join(word for word in phrase["day"].split() if word not in ("the", "earlier", "later"))
    if name == "other day":
        return phrase.said - timedelta(days=7), phrase.said - timedelta(days=1)
    return spans.day(phrase.said, _DAYS.get(name, 0))


def _weekday(phrase: DatePhrase) -> Span:
    """Last Friday is the nearest before; next Friday is next week's, as Friday next week is."""
    name, step = _weekday_of(phrase["weekday"]), _step(phrase["which"])
    if phrase["which"] == "next" or phrase["week"]:
        steps = _step(phrase["week"]) if phrase["week"] else 1
        return spans.day(spans.week(phrase.said, steps)[0], name)
    return spans.weekday(phrase.said, name, ahead=step > 0 if step else phrase.tense() != "past")


def _day_of_month(phrase: DatePhrase) -> Span | None:
    """Return the 5th of this month, or of one before or after."""
    here, number = phrase.said, int(phrase["day"])
    around = [spans.month(here.year, here.month + step) for step in (-2, -1, 0, 1, 2)]
    days = [first.replace(day=number) for first, last in around if 1 <= number <= last.day]
    tense = phrase.tense()
    if not days or tense is None:
        return spans.day(min(days, key=lambda day: abs((day - here).days))) if days else None
    fitting = [day for day in days if day >= here] if tense == "future" else [day for day in days if day <= here][::-1]
    return spans.day(fitting[0])


def _which_month(phrase: DatePhrase) -> Span:
    """Last May is the last that is over, next May the first that has not begun, this May this year's."""
    number, here, step = _month_of(phrase["month"]), phrase.said, _step(phrase["which"])
    if not step:
        return spans.month(here.year, number)
    return _beyond([spans.month(here.year + years, number) for years in (-1, 0, 1)], here, step)


def _which_season(phrase: DatePhrase) -> Span:
    here, step, name = phrase.said, _step(phrase["which"]), phrase["unit"]
    seasons = [spans.season(here.year + years, name) for years in (-2, -1, 0, 1)]
    if step:
        return _beyond(seasons, here, step)
    within = [span for span in seasons if span[0] <= here <= span[1]]
    return within[0] if within else spans.season(here.year, name)


def _beyond(ordered: list[Span], here: date, step: int) -> Span:
    if step < 0:
        return [span for span in ordered if span[1] < here][-1]
    return next(span for span in ordered if span[0] > here)


def _which_unit(phrase: DatePhrase) -> Span:
    unit, here = phrase["unit"], phrase.said
    if unit in spans.SEASONS:
        whole = _which_season(phrase)
    elif unit == "weekend" and phrase["which"] == "this":
        whole = _weekend(phrase)
    else:
        whole = spans.unit(here, unit, _step(phrase["which"]))
    part = _part_of(phrase["part"])
    if part == "earlier":
        return whole[0], max(min(whole[1], here), whole[0])
    if part == "later":
        return min(max(whole[0], here), whole[1]), whole[1]
    if part == "end" and unit == "week":
        return whole[0] + timedelta(days=4), whole[1]
    return spans.part(whole, part) if part else whole


def _weekend(phrase: DatePhrase) -> Span:
    """Told of on a Monday, the weekend is the last one; on a Saturday, this one."""
    behind = phrase.tense() == "past" and phrase.said.weekday() < 5
    return spans.weekend(phrase.said, -1 if behind else 0)


def _end_of_unit(phrase: DatePhrase) -> Span:
    """Return the last day; of a week, the last that is worked on."""
    unit = _ENDS[phrase["end"]]
    first, last = spans.unit(phrase.said, unit, 0)
    return spans.day(first, 4) if unit == "week" else spans.day(last)


def _unit_before_last(phrase: DatePhrase) -> Span:
    return spans.unit(phrase.said, phrase["unit"], -2 if phrase["way"].startswith("before") else 2)


def _numbers(phrase: DatePhrase) -> tuple[float, float]:
    least, most = _number_of(phrase["number"])
    half = 0.5 if phrase["half"] else 0.0
    return least + half, (_number_of(phrase["or"])[1] if phrase["or"] else most) + half


def _units_ago(phrase: DatePhrase) -> Span:
    least, most = _numbers(phrase)
    return spans.span_away(phrase.said, phrase["unit"], -most, -least)


def _units_ahead(phrase: DatePhrase) -> Span | None:
    """Return the time in two weeks; None for "I read it in two weeks" and "seven in a day"."""
    tense = phrase.tense()
    if tense == "past" or (tense is None and phrase["number"] in ("a", "an", "one")):
        return None
    return spans.span_away(phrase.said, phrase["unit"], *_numbers(phrase))


def _units_from_day(phrase: DatePhrase) -> Span:
    """Two weeks from Friday: whoever names the day to count from counts in days."""
    least, most = _numbers(phrase)
    here, since = phrase.said, phrase["from"]
    if since == "tomorrow":
        here += timedelta(days=1)
    elif since not in ("now", "today"):
        here = spans.weekday(here, _weekday_of(since), ahead=True)[0]
    return spans.day_away(here, phrase["unit"], least), spans.day_away(here, phrase["unit"], most)


def _rolling_span(phrase: DatePhrase) -> Span:
    """In the past two weeks: from then until now; for the past two years: what began then."""
    least, most = _number_of(phrase["number"]) if phrase["number"] else (1.0, 1.0)
    unit = phrase["unit"]
    if phrase["which"] in ("next", "coming"):
        return phrase.said, spans.day_away(phrase.said, unit, most)
    if phrase["way"] == "for":
        return spans.span_away(phrase.said, unit, -most, -least)
    return spans.day_away(phrase.said, unit, -most), phrase.said


def _within_units(phrase: DatePhrase) -> Span | None:
    if phrase.tense() == "past":
        return None
    return phrase.said, spans.day_away(phrase.said, phrase["unit"], _number_of(phrase["number"])[1])


def _start_of_duration(phrase: DatePhrase) -> Span | None:
    """For five years tells when something began if it still goes on: "I have had it for five years"."""
    first, start = phrase.sentence()[0], phrase.found.start()
    if phrase["now"] or _PERFECT.search(phrase.found.string, first, start):
        return _units_ago(phrase)
    return None


_TH = r"(?:st|nd|rd|th)"
_BEFORE_MONTH = "in|since|until|till|by|during|before|after|through|from|around"
_BEFORE_SEASON = "in|over|during|since|until|by"
_NO_TIME = r"(?!\d|:\d|[.,]\d|\s?[ap]\.?m\b|%)"
_OF_YEAR = rf"(?:(?:,|,? of)? (?P<year>{_YEAR})\b)?"
_IN_PART = rf"(?:(?P<part>{_PART})(?: |-))"
# April, June and August are also names of people and "may" is mostly no month: only a word before it tells.
_LONE_MONTH = rf"(?P<month>(?-i:May|March)|(?!may\b|march\b)(?:{_MONTH}))\b"
_NOT_COUNTED = (
    r"(?![\w%:/$€£]|[.,-]\d|\s+(?:people|km|kg|m\b|feet|percent|[a-z]+(?<!wa)(?<!\bi)(?<!\bha)(?<!\bthi)(?<!\ba)s\b))"
)
_ON = rf"(?:{_SHORT_WEEKDAY})\.?,?"
_NUMBERED = rf"(?P<day>\d{{1,2}})(?P<th>{_TH})?"
_UNTIL = rf"(?:(?:\s?[-–]\s?| to )(?P<until>\d{{1,2}}){_TH}?\b{_NO_TIME})?"

# In both lists the first rule that fits is taken, so the more specific ones come first.
FIXED: list[Rule] = [
    (
        DIGIT,
        r"(?P<day>\d{4}(?:-\d\d-\d\d|/\d\d/\d\d))(?!\d)",
        lambda phrase: spans.day(date(*map(int, re.findall(r"\d+", phrase["day"])))),
    ),
    (
        f"{DIGIT}|{_SHORT_WEEKDAY}",
        rf"(?:{_ON}(?: the)? )?{_NUMBERED}{_UNTIL}(?: of)? (?P<month>{_SHORT_MONTH})\b\.?{_OF_YEAR}",
        _day,
    ),
    (
        f"{_SHORT_MONTH}|{_SHORT_WEEKDAY}",
        rf"(?:{_ON} )?(?P<month>{_SHORT_MONTH})\.? (?:the )?{_NUMBERED}\b{_NO_TIME}{_UNTIL}{_OF_YEAR}",
        _day,
    ),
    (
        f"{_SHORT_MONTH}|{_PARTS}",
        rf"{_IN_PART}?(?P<month>{_SHORT_MONTH})\b\.?(?:,|,? of|['’]s)? (?P<year>{_YEAR})\b",
        _month,
    ),
    (f"{_SEASON}|{_PARTS}", rf"{_IN_PART}?(?P<season>{_SEASON})(?:,|,? of)? (?P<year>{_YEAR})\b", _season),
    (_PARTS, rf"{_IN_PART}{_LONE_MONTH}", _month),
    (_BEFORE_MONTH, rf"(?:{_BEFORE_MONTH}) {_LONE_MONTH}(?!(?:,|,? of)? \d)", _month),
    ("in|since", r"(?:in|since) (?P<month>may|march)\b(?=\s*(?:[.,;:!?)]|$))", _month),
    (_BEFORE_SEASON, rf"(?:{_BEFORE_SEASON}) {_IN_PART}?(?:the )?(?P<season>{_SEASON})\b", _season),
    ("q1|q2|q3|q4", rf"Q(?P<quarter>[1-4])\b{_OF_YEAR}", _quarter),
    (
        f"{_PARTS}|{DIGIT}",
        rf"{_IN_PART}?(?P<year>{_YEAR})\b{_NOT_COUNTED}",
        lambda phrase: _of_year(phrase, spans.year),
    ),
]

_LAST = "this past|this last|last|past|previous"
_NEXT = "this coming|this next|this upcoming|next|coming|upcoming"
_COUNT = rf"(?:{_ABOUT})?(?P<number>{_NUMBER})(?: or (?P<or>{_NUMBER}))? (?P<unit>{_UNIT})s?(?P<half> and a half)?"
_DAY = (
    r"(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|(?:earlier |later )?today|tonight|tomorrow"
    r"|last night|this (?:morning|afternoon|evening)|the other day|(?-i:EOD|COB)"
)
_DURING = "in|over|during|for|within|throughout|across"
_ROLLS = "(?P<which>last|past|next|coming)"
_LONG = "day|week|month|year|decade"
_PERIOD = f"weekend|week|month|quarter|year|{_SEASON}"
_WHICH = "this|last|past|previous|next|coming|upcoming"
_BEFORE_DAY = "on|by|until|till|before|since|from|after|around"
_EDGE = r"(?:the )?(?:very )?(?:end|start|beginning|middle) of"
_GOES_ON = (
    r"(?=\s*(?:[.,;:!?)–—]|-\s|$)|\s+(?:and|or|at|after|before|of|for|with|in|to|so|i|we|he|she|they|it|you|my|our"
    r"|by|because|when|was|is|that|but|from|until|if|there|this|next|last)\b)"
)
# Habits, holidays, and the headings of a plan.
_NO_DATE = "".join(rf"(?<!{word}\s)" for word in "every each most a black good easter cyber to through and -".split())
_NO_LIST = rf"(?!s?\s?(?:to|through|thru|and|or|&|/|-|–)\s?(?:{_SHORT_WEEKDAY}))"

RELATIVE: list[Rule] = [
    ("the|day|yesterday|earlier|later|today|tonight|tomorrow|last|this|eod|cob", rf"(?P<day>{_DAY})\b", _named_day),
    (_WEEKDAY, rf"(?P<weekday>{_WEEKDAY})(?: of)? (?P<week>last|next|this) week\b", _weekday),
    (_WHICH, rf"(?P<which>{_LAST}|{_NEXT}|this) (?P<weekday>{_SHORT_WEEKDAY})\b", _weekday),
    (_WHICH, rf"(?P<which>{_LAST}|{_NEXT}|this) {_LONE_MONTH}(?! \d)", _which_month),
    (
        _DURING,
        rf"(?P<way>{_DURING}) (?:the|this|these) {_ROLLS}(?: (?P<number>{_NUMBER}))? (?P<unit>{_LONG})s?\b",
        _rolling_span,
    ),
    (
        f"the|these|{_WHICH}",
        rf"(?:the |these )?{_ROLLS} (?P<number>{_NUMBER}) (?P<unit>{_LONG})s\b",
        _rolling_span,
    ),
    (
        "the|week|weekend|month|year",
        r"(?:the )?(?P<unit>week|weekend|month|year) (?P<way>before last|after next)\b",
        _unit_before_last,
    ),
    (
        f"{_PARTS}|earlier|later|{_WHICH}",
        rf"(?:(?P<part>{_PART}|earlier|later) )?(?:the )?(?P<which>{_LAST}|{_NEXT}|this) (?P<unit>{_PERIOD})\b",
        _which_unit,
    ),
    (_PARTS, rf"(?P<part>{_EDGE}) the (?P<unit>week|month|quarter|year)\b", _which_unit),
    ("over|on|during|at|for|by", r"(?:over|on|during|at|for|by) the weekend\b", _weekend),
    (
        "the",
        r"the (?P<unit>day|night|week|weekend|month|year) before(?=\s*(?:[.,;:!?)]|$))",
        lambda phrase: spans.unit(phrase.said, phrase["unit"], -1),
    ),
    ("eow|eom|eoq|eoy", r"(?P<end>(?-i:EOW|EOM|EOQ|EOY))\b", _end_of_unit),
    (f"{_ABOUTS}|{_COUNTS}", rf"{_COUNT} ago\b", _units_ago),
    (f"{_ABOUTS}|{_COUNTS}", rf"{_COUNT} from (?P<from>now|today|tomorrow|{_WEEKDAY})\b", _units_from_day),
    ("in", rf"in (?:just )?{_COUNT}(?:['’]? time)?\b(?! ago\b)", _units_ahead),
    ("within", rf"within (?P<number>{_NUMBER}) (?P<unit>{_UNIT})s?\b", _within_units),
    ("for", rf"for {_COUNT}\b(?P<now> now\b)?(?! ago\b)", _start_of_duration),
    (_BEFORE_DAY, rf"(?:{_BEFORE_DAY}) the (?P<day>\d{{1,2}})(?:st|nd|rd|th)\b{_GOES_ON}", _day_of_month),
    (_WEEKDAY, rf"{_NO_DATE}(?<![*|#(/–-])(?P<weekday>{_WEEKDAY})\b(?!\*){_NO_LIST}", _weekday),
]
