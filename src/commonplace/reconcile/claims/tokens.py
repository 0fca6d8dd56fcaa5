"""A sentence in words: contractions opened, numbers, times and dates in one form each."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import Stemmer  # type: ignore[import-not-found]  # a C extension without type stubs

from commonplace.text.lexicon import SAME

TokenKind = Literal["word", "name", "number", "date", "time", "sign", "owner"]

LONGEST = 400
"""Characters that are read of a text: a claim is a sentence, and what stands further on is no part of it."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word as a claim sees it."""

    low: str
    stem: str
    kind: TokenKind


_stemmer = Stemmer.Stemmer("english", 0)
_stemming = threading.Lock()

_CONTRACTED = (
    (re.compile(r"\bcan't\b", re.I), "can not"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"\bshan't\b", re.I), "shall not"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"'re\b", re.I), " are"),
    (re.compile(r"\b(i)'m\b", re.I), r"\1 am"),
    (re.compile(r"'ve\b", re.I), " have"),
    (re.compile(r"'ll\b", re.I), " will"),
    (re.compile(r"'d\b", re.I), " would"),
    (re.compile(r"\b(he|she|it|that|there|here|what|who|where|how|everything|everyone)'s\b", re.I), r"\1 is"),
    (re.compile(r"'s(?= (?:a|an|the|not|now|in|at|on|been|going|no|currently|still|\w{2,20}ing)\b)", re.I), " is"),
)
_ONE_WORD = (
    (re.compile(r"\bcannot\b", re.I), "can not"),
    (re.compile(r"\bno longer\b", re.I), "not"),
    (re.compile(r"\bnot (any ?more|any longer)\b", re.I), "not"),
    (re.compile(r"\bused to\b(?= [a-z])", re.I), "not"),
    (re.compile(r"\b(?:so far|at the moment|right now|as of now|to date)\b", re.I), "now"),
    (re.compile(r"\bafter all\b", re.I), "now"),
    (re.compile(r"\bgot rid of\b|\bget rid of\b|\bgetting rid of\b", re.I), "drop"),
    (re.compile(r"\bgave up\b|\bgiven up\b|\bgiving up\b", re.I), "quit"),
    (re.compile(r"\brather than\b|\binstead of\b|\bas opposed to\b", re.I), "over"),
)
_LEXEME = re.compile(
    r"""
    (?P<time>\d{1,2}:\d\d(?::\d\d)?(?:\ ?[ap]\.?m\b\.?)?|\d{1,2}\ ?[ap]\.?m\b\.?)
  | (?P<day>\d{4}-\d\d-\d\d)
  | (?P<number>[$€£]?\d[\d,]*(?:\.\d+)*\.?%?(?:st|nd|rd|th\b)?(?:[a-z]{1,3}\b)?)
  | (?P<word>[^\W\d_]\w*(?:[-'./_+&]\w+)*(?:\+\+|\#)?)
  | (?P<sign>[,;:!?()—–]|\ -+\ |\.(?=\ ))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ABBREVIATED = frozenset("inc dr mr mrs ms st jr sr no co vs ltd corp dept prof".split())
_MONTHS = "january february march april may june july august september october november december".split()
MONTHS = {name: place for place, name in enumerate(_MONTHS, 1)}
# Short names count only beside a day: Jan and Mar are people's names too.
_ANY_MONTH = MONTHS | {name[:3]: place for name, place in MONTHS.items()} | {"sept": 9}
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_DAYS = {day[:3]: day for day in WEEKDAYS} | {"tues": "tuesday", "thurs": "thursday"}
_UNITS = {
    "s": "second", "sec": "second", "secs": "second", "min": "minute", "mins": "minute", "h": "hour", "hr": "hour",
    "hrs": "hour", "ms": "millisecond", "gb": "gigabyte", "mb": "megabyte", "tb": "terabyte", "kg": "kilogram",
    "km": "kilometre", "mm": "millimetre", "cm": "centimetre", "lbs": "pound", "lb": "pound", "mi": "mile",
    "usd": "dollar", "eur": "euro", "percent": "percent",
}  # fmt: skip
_MONEY = {"$": "dollar", "€": "euro", "£": "pound"}
_COUNTS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
NUMBERS = {word: str(place) for place, word in enumerate(_COUNTS.split())} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000",
}  # fmt: skip
_TIMES = {"once": "1", "twice": "2", "thrice": "3"}
_BRITISH = re.compile(r"(?<=[a-z]{3})our(?=s?$|ite|able|ing|ed)")
_KEPT_OUR = frozenset("four hour hours your pour tour tours our ours flour sour".split())


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Give the form that a word shares with its inflections and its other spelling."""
    word = SAME.get(word, word)
    if word not in _KEPT_OUR:
        word = _BRITISH.sub("or", word)
    with _stemming:  # a stemmer keeps state while it works
        return str(_stemmer.stemWord(word))


def tokens(text: str) -> list[Token]:
    """Give the words and signs of a text's beginning, in order."""
    text = " ".join(text[:LONGEST].replace("’", "'").replace("`", "").split())
    for pattern, instead in (*_CONTRACTED, *_ONE_WORD) if "'" in text else _ONE_WORD:
        text = pattern.sub(instead, text)
    found: list[Token] = []
    for match in _LEXEME.finditer(text):
        if match.group() != "." or _ends(found, text[match.end() : match.end() + 2]):
            found += _read(match)
    return _dated(found)


def _ends(found: list[Token], after: str) -> bool:
    """Tell whether a full stop ends a sentence rather than an initial or an abbreviation."""
    before = found[-1].low if found else ""
    return len(before) > 1 and before not in _ABBREVIATED and not after[1:].islower()


def _read(match: re.Match[str]) -> list[Token]:
    written = match.group()
    match match.lastgroup:
        case "time":
            return [Token(written, _time(written.lower()), "time")]
        case "day":
            year, month, day = written.split("-")
            return [Token(written, f"{int(month)}-{int(day)}", "date"), Token(year, year, "date")]
        case "number":
            return _number(written.lower())
        case "sign":
            return [Token(written.strip() or "-", "", "sign")]
        case _:
            return _word(written)


def _time(written: str) -> str:
    """Write a time of day as on a clock of 12 hours, with the half of the day where it is given."""
    digits = written.rstrip("apm. ")
    hour, _, minute = digits.partition(":")
    return f"{int(hour)}:{minute or '00'}"


def _number(written: str) -> list[Token]:
    money = _MONEY.get(written[0])
    match = re.match(r"([\d,.]*\d)\.?(%?)(st|nd|rd|th)?([a-z]*)", written.lstrip("$€£"))
    if match is None:
        return []
    digits, percent, _, unit = match.groups()
    number = Token(written, digits.replace(",", ""), "number")
    unit = "percent" if percent else money or unit
    if unit in _UNITS or money:
        return [number, Token(unit, stem(_UNITS.get(unit, unit)), "word")]
    if unit:
        return [Token(written, written, "name")]
    return [number]


def _word(written: str) -> list[Token]:
    low = written.lower()
    if low.endswith("'s"):
        return [*_word(written[:-2]), Token("'s", "", "sign")]
    if low.endswith("'"):
        low = low[:-1]
    if low in _TIMES:
        return [Token(low, _TIMES[low], "number"), Token("times", "time", "word")]
    if low in NUMBERS:
        return [Token(low, NUMBERS[low], "number")]
    if low in WEEKDAYS or (low[:-1] in WEEKDAYS and low.endswith("s")) or (written[0].isupper() and low in _DAYS):
        day = low if low in WEEKDAYS else _DAYS.get(low, low[:-1])
        return [Token(low, day, "date")]
    if written[0].isupper() and low in MONTHS:
        return [Token(low, low, "date")]
    named = written[0].isupper() or not written.isalpha()
    return [Token(low, stem(_UNITS.get(low, low) if len(low) > 1 else low), "name" if named else "word")]


def _dated(found: list[Token]) -> list[Token]:
    """Join a day and its month, whichever stands first; a year beside a preposition or a date is one too."""
    joined: list[Token] = []
    for token in found:
        last = joined[-1] if joined else None
        if last and _is_day(token) and last.low in _ANY_MONTH:
            joined[-1] = Token(last.low, f"{_ANY_MONTH[last.low]}-{token.stem}", "date")
        elif last and token.low in _ANY_MONTH and _is_day(last):
            joined[-1] = Token(token.low, f"{_ANY_MONTH[token.low]}-{last.stem}", "date")
        elif _is_year(token) and last and (last.kind == "date" or last.low in ("in", "since", "of", "by", ",")):
            joined.append(Token(token.low, token.stem, "date"))
        else:
            joined.append(token)
    return joined


def _is_day(token: Token) -> bool:
    return token.kind == "number" and token.stem.isdecimal() and 1 <= len(token.stem) <= 2 and 0 < int(token.stem) < 32


def _is_year(token: Token) -> bool:
    return token.kind == "number" and len(token.stem) == 4 and token.stem[:2] in ("18", "19", "20", "21")
