"""Rules for dates that are counted from the day they are said on: yesterday, last May, two weeks ago, by Friday."""

from __future__ import annotations

import re
from datetime import date, timedelta

from commonplace.text.dates import spans
from commonplace.text.dates.spans import Span
from commonplace.text.dates.tense import sentence
from commonplace.text.dates.words import (
    ABOUT,
    ABOUTS,
    COUNTS,
    MONTH,
    NUMBER,
    PART,
    PARTS,
    SEASON,
    SHORT_WEEKDAY,
    UNIT,
    WEEKDAY,
    Phrase,
    Rule,
    month_of,
    number_of,
    part_of,
    weekday_of,
)

_LAST = "this past|this last|last|past|previous"
_NEXT = "this coming|this next|this upcoming|next|coming|upcoming"
_DAYS = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1, "day after tomorrow": 2,
}  # fmt: skip
"""Days from the one it is said on; all other names are names for that."""
_PERFECT = re.compile(r"\b(?:have|has|been)\b|['’]ve\b", re.IGNORECASE)
_GOES_ON = (
    r"(?=\s*(?:[.,;:!?)–—]|-\s|$)|\s+(?:and|or|at|after|before|of|for|with|in|to|so|i|we|he|she|they|it|you|my|our"
    r"|by|because|when|was|is|that|but|from|until|if|there|this|next|last)\b)"
)
_ENDS = {"eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}


def _step(which: str) -> int:
    """Whether the one before, this one or the next is meant."""
    word = which.split()[-1] if which else "this"
    return -1 if word in ("last", "past", "previous") else 1 if word in ("next", "coming", "upcoming") else 0


def _named_day(phrase: Phrase) -> Span:
    name = " ".join(word for word in phrase["day"].split() if word not in ("the", "earlier", "later"))
    if name == "other day":
        return phrase.said - timedelta(days=7), phrase.said - timedelta(days=1)
    return spans.day(phrase.said, _DAYS.get(name, 0))


def _weekday(phrase: Phrase) -> Span:
    """Last Friday is the nearest before; next Friday that of the next week, as Friday next week is."""
    name, step = weekday_of(phrase["weekday"]), _step(phrase["which"])
    if phrase["which"] == "next" or phrase["week"]:
        steps = _step(phrase["week"]) if phrase["week"] else 1
        return spans.day(spans.week(phrase.said, steps)[0], name)
    if step:
        return spans.weekday(phrase.said, name, ahead=step > 0)
    return spans.weekday(phrase.said, name, ahead=phrase.tense() != "past")


def _day_of_month(phrase: Phrase) -> Span | None:
    """Find the 5th of this month, or of one before or after."""
    here, number = phrase.said, int(phrase["day"])
    around = [spans.month(here.year, here.month + step) for step in (-2, -1, 0, 1, 2)]
    days = [first.replace(day=number) for first, last in around if 1 <= number <= last.day]
    told = phrase.tense()
    if not days or told is None:
        return spans.day(min(days, key=lambda day: abs((day - here).days))) if days else None
    fitting = [day for day in days if day >= here] if told == "future" else [day for day in days if day <= here][::-1]
    return spans.day(fitting[0])


def _month(phrase: Phrase) -> Span:
    """Last May is the last that is over, next May the first that has not begun, this May this year's."""
    number, here, step = month_of(phrase["month"]), phrase.said, _step(phrase["which"])
    if not step:
        return spans.month(here.year, number)
    months = [spans.month(here.year + years, number) for years in (-1, 0, 1)]
    return _beyond(months, here, step)


def _season(phrase: Phrase) -> Span:
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


def _calendar(here: date, unit: str, step: int) -> Span:
    """The week, month or year before, around or after a day."""
    if unit == "weekend":
        return spans.weekend(here, step)
    if unit == "week":
        return spans.week(here, step)
    if unit == "month":
        return spans.month(here.year, here.month + step)
    if unit == "quarter":
        return spans.quarter(here.year, (here.month - 1) // 3 + 1 + step)
    if unit in ("night", "day"):
        return spans.day(here, step)
    return spans.year(here.year + step)


def _unit(phrase: Phrase) -> Span:
    unit, here, step = phrase["unit"], phrase.said, _step(phrase["which"])
    if unit in spans.SEASONS:
        whole = _season(phrase)
    elif unit == "weekend" and phrase["which"] == "this":
        whole = _weekend(phrase)
    else:
        whole = _calendar(here, unit, step)
    part = part_of(phrase["part"])
    if part == "earlier":
        return whole[0], max(min(whole[1], here), whole[0])
    if part == "later":
        return min(max(whole[0], here), whole[1]), whole[1]
    if part == "end" and unit == "week":
        return whole[0] + timedelta(days=4), whole[1]
    return spans.part(whole, part) if part else whole


def _weekend(phrase: Phrase) -> Span:
    """The weekend is the last one when it is told of on a Monday, but this one on a Saturday."""
    behind = phrase.tense() == "past" and phrase.said.weekday() < 5
    return spans.weekend(phrase.said, -1 if behind else 0)


def _abbreviated(phrase: Phrase) -> Span:
    """Give the last day; of a week, the last that is worked on."""
    unit = _ENDS[phrase["end"]]
    first, last = _calendar(phrase.said, unit, 0)
    return spans.day(first, 4) if unit == "week" else spans.day(last)


def _before_last(phrase: Phrase) -> Span:
    return _calendar(phrase.said, phrase["unit"], -2 if phrase["way"].startswith("before") else 2)


def _before(phrase: Phrase) -> Span:
    return _calendar(phrase.said, phrase["unit"], -1)


def _ago(phrase: Phrase) -> Span:
    least, most = _numbers(phrase)
    return spans.off(phrase.said, phrase["unit"], -most, -least)


def _numbers(phrase: Phrase) -> tuple[float, float]:
    least, most = number_of(phrase["number"])
    half = 0.5 if phrase["half"] else 0.0
    return least + half, (number_of(phrase["or"])[1] if phrase["or"] else most) + half


def _ahead(phrase: Phrase) -> Span | None:
    """In two weeks is a time that lies ahead; in "I read it in two weeks" and "seven in a day" it is none."""
    told = phrase.tense()
    if told == "past" or (told is None and phrase["number"] in ("a", "an", "one")):
        return None
    least, most = _numbers(phrase)
    return spans.off(phrase.said, phrase["unit"], least, most)


def _from(phrase: Phrase) -> Span:
    """Two weeks from Friday: who names the day to count from counts in days."""
    least, most = _numbers(phrase)
    here, since = phrase.said, phrase["from"]
    if since == "tomorrow":
        here += timedelta(days=1)
    elif since not in ("now", "today"):
        here = spans.weekday(here, weekday_of(since), ahead=True)[0]
    return spans.away(here, phrase["unit"], least), spans.away(here, phrase["unit"], most)


def _rolling(phrase: Phrase) -> Span:
    """In the past two weeks: from then until now; for the past two years: what began then."""
    least, most = number_of(phrase["number"]) if phrase["number"] else (1.0, 1.0)
    unit = phrase["unit"]
    if phrase["which"] in ("next", "coming"):
        return phrase.said, spans.away(phrase.said, unit, most)
    if phrase["way"] == "for":
        return spans.off(phrase.said, unit, -most, -least)
    return spans.away(phrase.said, unit, -most), phrase.said


def _within(phrase: Phrase) -> Span | None:
    if phrase.tense() == "past":
        return None
    return phrase.said, spans.away(phrase.said, phrase["unit"], number_of(phrase["number"])[1])


def _lasting(phrase: Phrase) -> Span | None:
    """For five years tells when something began if it still goes on: "I have had it for five years"."""
    text, (start, end) = phrase.found.string, phrase.found.span()
    first, _ = sentence(text, start, end)
    if not (phrase["now"] or _PERFECT.search(text, first, start)):
        return None
    least, most = _numbers(phrase)
    return spans.off(phrase.said, phrase["unit"], -most, -least)


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
_MONTH = rf"(?P<month>(?-i:May|March)|(?!may\b|march\b)(?:{MONTH}))\b(?! \d)"
# Habits, holidays, and the headings of a plan.
_NO_DATE = "".join(rf"(?<!{word}\s)" for word in "every each most a black good easter cyber to through and -".split())
_NO_LIST = rf"(?!s?\s?(?:to|through|thru|and|or|&|/|-|–)\s?(?:{SHORT_WEEKDAY}))"

RULES: list[Rule] = [
    ("the|day|yesterday|earlier|later|today|tonight|tomorrow|last|this|eod|cob", rf"(?P<day>{_DAY})\b", _named_day),
    (WEEKDAY, rf"(?P<weekday>{WEEKDAY})(?: of)? (?P<week>last|next|this) week\b", _weekday),
    (_WHICH, rf"(?P<which>{_LAST}|{_NEXT}|this) (?P<weekday>{SHORT_WEEKDAY})\b", _weekday),
    (_WHICH, rf"(?P<which>{_LAST}|{_NEXT}|this) {_MONTH}", _month),
    (
        _DURING,
        rf"(?P<way>{_DURING}) (?:the|this|these) {_ROLLS}(?: (?P<number>{NUMBER}))? (?P<unit>{_LONG})s?\b",
        _rolling,
    ),
    (
        f"the|these|{_WHICH}",
        rf"(?:the |these )?{_ROLLS} (?P<number>{NUMBER}) (?P<unit>{_LONG})s\b",
        _rolling,
    ),
    (
        "the|week|weekend|month|year",
        r"(?:the )?(?P<unit>week|weekend|month|year) (?P<way>before last|after next)\b",
        _before_last,
    ),
    (
        f"{PARTS}|earlier|later|{_WHICH}",
        rf"(?:(?P<part>{PART}|earlier|later) )?(?:the )?(?P<which>{_LAST}|{_NEXT}|this) (?P<unit>{_PERIOD})\b",
        _unit,
    ),
    (PARTS, rf"(?P<part>{_EDGE}) the (?P<unit>week|month|quarter|year)\b", _unit),
    ("over|on|during|at|for|by", r"(?:over|on|during|at|for|by) the weekend\b", _weekend),
    ("the", r"the (?P<unit>day|night|week|weekend|month|year) before(?=\s*(?:[.,;:!?)]|$))", _before),
    ("eow|eom|eoq|eoy", r"(?P<end>(?-i:EOW|EOM|EOQ|EOY))\b", _abbreviated),
    (f"{ABOUTS}|{COUNTS}", rf"{_COUNT} ago\b", _ago),
    (f"{ABOUTS}|{COUNTS}", rf"{_COUNT} from (?P<from>now|today|tomorrow|{WEEKDAY})\b", _from),
    ("in", rf"in (?:just )?{_COUNT}(?:['’]? time)?\b(?! ago\b)", _ahead),
    ("within", rf"within (?P<number>{NUMBER}) (?P<unit>{UNIT})s?\b", _within),
    ("for", rf"for {_COUNT}\b(?P<now> now\b)?(?! ago\b)", _lasting),
    (_BEFORE_DAY, rf"(?:{_BEFORE_DAY}) the (?P<day>\d{{1,2}})(?:st|nd|rd|th)\b{_GOES_ON}", _day_of_month),
    (WEEKDAY, rf"{_NO_DATE}(?<![*|#(/–-])(?P<weekday>{WEEKDAY})\b(?!\*){_NO_LIST}", _weekday),
]
"""The first that fits is taken: what says more stands above."""
