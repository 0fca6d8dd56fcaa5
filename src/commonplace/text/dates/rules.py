"""Rules for dates: FIXED ones name a place in the calendar, RELATIVE ones are counted from the day they are said on."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from commonplace.text.dates import spans
from commonplace.text.dates.phrases import (
    ABOUT,
    ABOUTS,
    COUNTS,
    DIGIT,
    MONTH,
    NUMBER,
    PART,
    PARTS,
    SEASON,
    SHORT_MONTH,
    SHORT_WEEKDAY,
    UNIT,
    WEEKDAY,
    YEAR,
    Phrase,
    Rule,
    month_of,
    number_of,
    part_of,
    weekday_of,
)
from commonplace.text.dates.spans import Span

_AGAINST_TENSE = 5
"""A day on the other side than the verbs say counts as this many times as far away."""
_MONTH_LENGTH = 20
"""Days from which a span counts as a month: a month ahead that is told in the past tense was a year ago."""
_DAYS = {"day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1, "day after tomorrow": 2}
"""Days from the one it is said on; all other names are names for that day."""
_PERFECT = re.compile(r"\b(?:have|has|been)\b|['’]ve\b", re.IGNORECASE)
_ENDS = {"eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}


def _iso_day(phrase: Phrase) -> Span:
    return spans.day(date(*map(int, re.findall(r"\d+", phrase["day"]))))


def _day(phrase: Phrase) -> Span | None:
    if phrase.found["month"] in ("may", "march", "mar") and not (phrase["th"] or phrase["year"]):
        return None
    month, first = month_of(phrase["month"]), int(phrase["day"])
    last = max(first, int(phrase["until"] or first))
    return _of_year(phrase, lambda year: (date(year, month, first), date(year, month, last)))


def _month(phrase: Phrase) -> Span:
    month = month_of(phrase["month"])
    return _of_year(phrase, lambda year: spans.month(year, month))


def _season(phrase: Phrase) -> Span:
    return _of_year(phrase, lambda year: spans.season(year, phrase["season"]))


def _quarter(phrase: Phrase) -> Span:
    number = int(phrase["quarter"])
    return _of_year(phrase, lambda year: spans.quarter(year, number))


def _year(phrase: Phrase) -> Span:
    return _of_year(phrase, spans.year)


def _of_year(phrase: Phrase, of: Callable[[int], Span]) -> Span:
    whole = of(int(phrase["year"])) if phrase["year"] else _in_likely_year(phrase, of)
    return spans.part(whole, part_of(phrase["part"])) if phrase["part"] else whole


def _in_likely_year(phrase: Phrase, of: Callable[[int], Span]) -> Span:
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


def _named_day(phrase: Phrase) -> Span:
    name = " ".join(word for word in phrase["day"].split() if word not in ("the", "earlier", "later"))
    if name == "other day":
        return phrase.said - timedelta(days=7), phrase.said - timedelta(days=1)
    return spans.day(phrase.said, _DAYS.get(name, 0))


def _weekday(phrase: Phrase) -> Span:
    """Last Friday is the nearest before; next Friday is next week's, as Friday next week is."""
    name, step = weekday_of(phrase["weekday"]), _step(phrase["which"])
    if phrase["which"] == "next" or phrase["week"]:
        steps = _step(phrase["week"]) if phrase["week"] else 1
        return spans.day(spans.week(phrase.said, steps)[0], name)
    return spans.weekday(phrase.said, name, ahead=step > 0 if step else phrase.tense() != "past")


def _day_of_month(phrase: Phrase) -> Span | None:
    """Return the 5th of this month, or of one before or after."""
    here, number = phrase.said, int(phrase["day"])
    around = [spans.month(here.year, here.month + step) for step in (-2, -1, 0, 1, 2)]
    days = [first.replace(day=number) for first, last in around if 1 <= number <= last.day]
    tense = phrase.tense()
    if not days or tense is None:
        return spans.day(min(days, key=lambda day: abs((day - here).days))) if days else None
    fitting = [day for day in days if day >= here] if tense == "future" else [day for day in days if day <= here][::-1]
    return spans.day(fitting[0])


def _which_month(phrase: Phrase) -> Span:
    """Last May is the last that is over, next May the first that has not begun, this May this year's."""
    number, here, step = month_of(phrase["month"]), phrase.said, _step(phrase["which"])
    if not step:
        return spans.month(here.year, number)
    return _beyond([spans.month(here.year + years, number) for years in (-1, 0, 1)], here, step)


def _which_season(phrase: Phrase) -> Span:
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


def _which_unit(phrase: Phrase) -> Span:
    unit, here = phrase["unit"], phrase.said
    if unit in spans.SEASONS:
        whole = _which_season(phrase)
    elif unit == "weekend" and phrase["which"] == "this":
        whole = _weekend(phrase)
    else:
        whole = spans.unit(here, unit, _step(phrase["which"]))
    part = part_of(phrase["part"])
    if part == "earlier":
        return whole[0], max(min(whole[1], here), whole[0])
    if part == "later":
        return min(max(whole[0], here), whole[1]), whole[1]
    if part == "end" and unit == "week":
        return whole[0] + timedelta(days=4), whole[1]
    return spans.part(whole, part) if part else whole


def _weekend(phrase: Phrase) -> Span:
    """Told of on a Monday, the weekend is the last one; on a Saturday, this one."""
    behind = phrase.tense() == "past" and phrase.said.weekday() < 5
    return spans.weekend(phrase.said, -1 if behind else 0)


def _end_of_unit(phrase: Phrase) -> Span:
    """Return the last day; of a week, the last that is worked on."""
    unit = _ENDS[phrase["end"]]
    first, last = spans.unit(phrase.said, unit, 0)
    return spans.day(first, 4) if unit == "week" else spans.day(last)


def _unit_before_last(phrase: Phrase) -> Span:
    return spans.unit(phrase.said, phrase["unit"], -2 if phrase["way"].startswith("before") else 2)


def _unit_before(phrase: Phrase) -> Span:
    return spans.unit(phrase.said, phrase["unit"], -1)


def _numbers(phrase: Phrase) -> tuple[float, float]:
    least, most = number_of(phrase["number"])
    half = 0.5 if phrase["half"] else 0.0
    return least + half, (number_of(phrase["or"])[1] if phrase["or"] else most) + half


def _units_ago(phrase: Phrase) -> Span:
    least, most = _numbers(phrase)
    return spans.span_away(phrase.said, phrase["unit"], -most, -least)


def _units_ahead(phrase: Phrase) -> Span | None:
    """Return the time in two weeks; None for "I read it in two weeks" and "seven in a day"."""
    tense = phrase.tense()
    if tense == "past" or (tense is None and phrase["number"] in ("a", "an", "one")):
        return None
    return spans.span_away(phrase.said, phrase["unit"], *_numbers(phrase))


def _units_from_day(phrase: Phrase) -> Span:
    """Two weeks from Friday: whoever names the day to count from counts in days."""
    least, most = _numbers(phrase)
    here, since = phrase.said, phrase["from"]
    if since == "tomorrow":
        here += timedelta(days=1)
    elif since not in ("now", "today"):
        here = spans.weekday(here, weekday_of(since), ahead=True)[0]
    return spans.day_away(here, phrase["unit"], least), spans.day_away(here, phrase["unit"], most)


def _rolling_span(phrase: Phrase) -> Span:
    """In the past two weeks: from then until now; for the past two years: what began then."""
    least, most = number_of(phrase["number"]) if phrase["number"] else (1.0, 1.0)
    unit = phrase["unit"]
    if phrase["which"] in ("next", "coming"):
        return phrase.said, spans.day_away(phrase.said, unit, most)
    if phrase["way"] == "for":
        return spans.span_away(phrase.said, unit, -most, -least)
    return spans.day_away(phrase.said, unit, -most), phrase.said


def _within_units(phrase: Phrase) -> Span | None:
    if phrase.tense() == "past":
        return None
    return phrase.said, spans.day_away(phrase.said, phrase["unit"], number_of(phrase["number"])[1])


def _start_of_duration(phrase: Phrase) -> Span | None:
    """For five years tells when something began if it still goes on: "I have had it for five years"."""
    first, start = phrase.sentence()[0], phrase.found.start()
    if phrase["now"] or _PERFECT.search(phrase.found.string, first, start):
        return _units_ago(phrase)
    return None


_TH = r"(?:st|nd|rd|th)"
_BEFORE_MONTH = "in|since|until|till|by|during|before|after|through|from|around"
_BEFORE_SEASON = "in|over|during|since|until|by"
_NO_TIME = r"(?!\d|:\d|[.,]\d|\s?[ap]\.?m\b|%)"
_OF_YEAR = rf"(?:(?:,|,? of)? (?P<year>{YEAR})\b)?"
_IN_PART = rf"(?:(?P<part>{PART})(?: |-))"
# April, June and August are also names of people and "may" is mostly no month: only a word before it tells.
_MONTH = rf"(?P<month>(?-i:May|March)|(?!may\b|march\b)(?:{MONTH}))\b"
_NOT_COUNTED = (
    r"(?![\w%:/$€£]|[.,-]\d|\s+(?:people|km|kg|m\b|feet|percent|[a-z]+(?<!wa)(?<!\bi)(?<!\bha)(?<!\bthi)(?<!\ba)s\b))"
)
_ON = rf"(?:{SHORT_WEEKDAY})\.?,?"
_NUMBERED = rf"(?P<day>\d{{1,2}})(?P<th>{_TH})?"
_UNTIL = rf"(?:(?:\s?[-–]\s?| to )(?P<until>\d{{1,2}}){_TH}?\b{_NO_TIME})?"

# In both lists the first rule that fits is taken, so the more specific ones come first.
FIXED: list[Rule] = [
    (DIGIT, r"(?P<day>\d{4}(?:-\d\d-\d\d|/\d\d/\d\d))(?!\d)", _iso_day),
    (
        f"{DIGIT}|{SHORT_WEEKDAY}",
        rf"(?:{_ON}(?: the)? )?{_NUMBERED}{_UNTIL}(?: of)? (?P<month>{SHORT_MONTH})\b\.?{_OF_YEAR}",
        _day,
    ),
    (
        f"{SHORT_MONTH}|{SHORT_WEEKDAY}",
        rf"(?:{_ON} )?(?P<month>{SHORT_MONTH})\.? (?:the )?{_NUMBERED}\b{_NO_TIME}{_UNTIL}{_OF_YEAR}",
        _day,
    ),
    (
        f"{SHORT_MONTH}|{PARTS}",
        rf"{_IN_PART}?(?P<month>{SHORT_MONTH})\b\.?(?:,|,? of|['’]s)? (?P<year>{YEAR})\b",
        _month,
    ),
    (f"{SEASON}|{PARTS}", rf"{_IN_PART}?(?P<season>{SEASON})(?:,|,? of)? (?P<year>{YEAR})\b", _season),
    (PARTS, rf"{_IN_PART}{_MONTH}", _month),
    (_BEFORE_MONTH, rf"(?:{_BEFORE_MONTH}) {_MONTH}(?!(?:,|,? of)? \d)", _month),
    ("in|since", r"(?:in|since) (?P<month>may|march)\b(?=\s*(?:[.,;:!?)]|$))", _month),
    (_BEFORE_SEASON, rf"(?:{_BEFORE_SEASON}) {_IN_PART}?(?:the )?(?P<season>{SEASON})\b", _season),
    ("q1|q2|q3|q4", rf"Q(?P<quarter>[1-4])\b{_OF_YEAR}", _quarter),
    (f"{PARTS}|{DIGIT}", rf"{_IN_PART}?(?P<year>{YEAR})\b{_NOT_COUNTED}", _year),
]

_LAST = "this past|this last|last|past|previous"
_NEXT = "this coming|this next|this upcoming|next|coming|upcoming"
_COUNT = rf"(?:{ABOUT})?(?P<number>{NUMBER})(?: or (?P<or>{NUMBER}))? (?P<unit>{UNIT})s?(?P<half> and a half)?"
_DAY = (
    r"(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|(?:earlier |later )?today|tonight|tomorrow"
    r"|last night|this (?:morning|afternoon|evening)|the other day|(?-i:EOD|COB)"
)
_DURING = "in|over|during|for|within|throughout|across"
_ROLLS = "(?P<which>last|past|next|coming)"
_LONG = "day|week|month|year|decade"
_PERIOD = f"weekend|week|month|quarter|year|{SEASON}"
_WHICH = "this|last|past|previous|next|coming|upcoming"
_BEFORE_DAY = "on|by|until|till|before|since|from|after|around"
_EDGE = r"(?:the )?(?:very )?(?:end|start|beginning|middle) of"
_GOES_ON = (
    r"(?=\s*(?:[.,;:!?)–—]|-\s|$)|\s+(?:and|or|at|after|before|of|for|with|in|to|so|i|we|he|she|they|it|you|my|our"
    r"|by|because|when|was|is|that|but|from|until|if|there|this|next|last)\b)"
)
# Habits, holidays, and the headings of a plan.
_NO_DATE = "".join(rf"(?<!{word}\s)" for word in "every each most a black good easter cyber to through and -".split())
_NO_LIST = rf"(?!s?\s?(?:to|through|thru|and|or|&|/|-|–)\s?(?:{SHORT_WEEKDAY}))"

RELATIVE: list[Rule] = [
    ("the|day|yesterday|earlier|later|today|tonight|tomorrow|last|this|eod|cob", rf"(?P<day>{_DAY})\b", _named_day),
    (WEEKDAY, rf"(?P<weekday>{WEEKDAY})(?: of)? (?P<week>last|next|this) week\b", _weekday),
    (_WHICH, rf"(?P<which>{_LAST}|{_NEXT}|this) (?P<weekday>{SHORT_WEEKDAY})\b", _weekday),
    (_WHICH, rf"(?P<which>{_LAST}|{_NEXT}|this) {_MONTH}(?! \d)", _which_month),
    (
        _DURING,
        rf"(?P<way>{_DURING}) (?:the|this|these) {_ROLLS}(?: (?P<number>{NUMBER}))? (?P<unit>{_LONG})s?\b",
        _rolling_span,
    ),
    (
        f"the|these|{_WHICH}",
        rf"(?:the |these )?{_ROLLS} (?P<number>{NUMBER}) (?P<unit>{_LONG})s\b",
        _rolling_span,
    ),
    (
        "the|week|weekend|month|year",
        r"(?:the )?(?P<unit>week|weekend|month|year) (?P<way>before last|after next)\b",
        _unit_before_last,
    ),
    (
        f"{PARTS}|earlier|later|{_WHICH}",
        rf"(?:(?P<part>{PART}|earlier|later) )?(?:the )?(?P<which>{_LAST}|{_NEXT}|this) (?P<unit>{_PERIOD})\b",
        _which_unit,
    ),
    (PARTS, rf"(?P<part>{_EDGE}) the (?P<unit>week|month|quarter|year)\b", _which_unit),
    ("over|on|during|at|for|by", r"(?:over|on|during|at|for|by) the weekend\b", _weekend),
    ("the", r"the (?P<unit>day|night|week|weekend|month|year) before(?=\s*(?:[.,;:!?)]|$))", _unit_before),
    ("eow|eom|eoq|eoy", r"(?P<end>(?-i:EOW|EOM|EOQ|EOY))\b", _end_of_unit),
    (f"{ABOUTS}|{COUNTS}", rf"{_COUNT} ago\b", _units_ago),
    (f"{ABOUTS}|{COUNTS}", rf"{_COUNT} from (?P<from>now|today|tomorrow|{WEEKDAY})\b", _units_from_day),
    ("in", rf"in (?:just )?{_COUNT}(?:['’]? time)?\b(?! ago\b)", _units_ahead),
    ("within", rf"within (?P<number>{NUMBER}) (?P<unit>{UNIT})s?\b", _within_units),
    ("for", rf"for {_COUNT}\b(?P<now> now\b)?(?! ago\b)", _start_of_duration),
    (_BEFORE_DAY, rf"(?:{_BEFORE_DAY}) the (?P<day>\d{{1,2}})(?:st|nd|rd|th)\b{_GOES_ON}", _day_of_month),
    (WEEKDAY, rf"{_NO_DATE}(?<![*|#(/–-])(?P<weekday>{WEEKDAY})\b(?!\*){_NO_LIST}", _weekday),
]
