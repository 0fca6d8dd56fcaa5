"""Values in what people say: what kind they are of, and how one takes the place of another."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from commonplace.learn import words
from commonplace.learn.regex import compiled

_IS = compiled(
    r"""(?:(?:since|as_of|from|starting)_\w+,?_|(?:these_days|nowadays|by_now|this_(?:year|month|week|time)
        |now),?_)?(?:(?:(?:it|that)\s+should\s+(?:read|say)|it|that|this|he|she|they|make\s+(?:it|that)
        |i\s+meant(?:\s+to\s+say)?|i\s+mean|should\s+be
        |that\s+should\s+be|it\s+should\s+be|should\s+have\s+been)(?:'s|'re|\s+is|\s+was
        |\s+are|\s+should\s+be
        |'ll\s+be|\s+will\s+be)?(?:\s+(?:now|actually|really|supposed\s+to\s+be))?\s+(?:at\s+|on\s+|in\s+
        |the\s+)?)(?=\S)""",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[,;:]\s+.*$|\s[–—-]\s.*$|\.\s*$|!+\s*$|\s+(?:now|instead|sorry|my bad|actually|not that)\s*$|\s*\(.*\)\s*$",
    re.IGNORECASE,
)
_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_COUNTS = f"{_HOURS}|an?|twenty|thirty|forty|fifty"
_UNITS = (
    "second|minute|hour|day|week|month|year|euro|dollar|pound|percent|metre|meter|mile|gram|litre|liter|person|people"
)
_TYPES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
        r"\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
        r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?\b",
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
        r"\b\d{1,2}(?:st|nd|rd|th)\b",
        r"(?<!\w)[~.]?/[\w./~-]+|\b[\w.-]+/[\w./-]+",
        rf"\b(?:half|quarter) (?:past|to) \w+|(?<=\bat )(?:{_HOURS})\b",
        r"\b\d{1,2}:\d\d(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b|\bnoon\b|\bmidnight\b",
        r"[€$£] ?\d[\d,.]*[km]?\b",
        rf"\b(?:\d[\d.,]*|{_COUNTS}) (?:{_UNITS})s?\b",
        r"\b\d[\d,.:]*\d? ?(?:%|[a-z]{1,7}\b)",
        r"\b\d[\d.,:x/-]*\d\b|\b\d\b",
        r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)\b",
        r"\"[^\"]+\"",
        r"\S+@\S+|https?://\S+",
    )
)
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)*")
_PLACED = re.compile(
    r"\b((?:from|in|at|to|with|on|by|until)(?: the| a| an)?) "
    r"((?!the |an? )[\w'-]+(?: (?-i:[A-ZÀ-Þ\d])[\w'-]*)?)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]{3,}")
_ALIKE = 0.6
_LONGEST = 6


def value_in(rest: str) -> str | None:
    """Give the new value of a sentence that is nothing else; None of one with a subject of its own."""
    bare = _IS.match(rest)
    value = _AFTER.sub("", rest[bare.end() :] if bare else rest)
    value = re.sub(r"\s+it\s+is$", "", _AFTER.sub("", value).strip(" \"'.!"))
    value = re.sub(r"^(?:to|at|on|in|from|by|the)\s+(?=\S)", "", value, flags=re.IGNORECASE)
    found = [each.lower() for each in re.findall(r"[\w'.:/-]+", value) if each.lower() not in ("may", "am", "pm")]
    if not found or len(found) > _LONGEST:
        return None
    if not bare and (found[0] in words.PRONOUNS or any(map(words.is_finite, found)) or found[0] in ("my", "our")):
        return None
    if bare and any(each in words.AUXILIARIES for each in found):
        return None
    return value


def substituted(text: str, value: str) -> str | None:
    """Put a value in the place of one of its kind; None where there is none."""
    for kind in _TYPES:
        if kind.search(value) and (places := list(kind.finditer(text))):
            place = places[-1]
            return text[: place.start()] + value + _without_unit(text[place.end() :], value)
    if _NAME.match(value) and (names := [each for each in _NAME.finditer(text) if each.start() > 0]):
        place = max(names, key=lambda each: (SequenceMatcher(None, each[0], value).ratio(), each.start()))
        return text[: place.start()] + value + text[place.end() :]
    similar = [
        (SequenceMatcher(None, each[0].lower(), value.lower()).ratio(), each.span()) for each in _WORD.finditer(text)
    ]
    ratio, (start, end) = max(similar, default=(0.0, (0, 0)))
    return text[:start] + value + text[end:] if ratio > _ALIKE else None


def replaced(text: str, value: str) -> str | None:
    """Put a value in the place of one of its very kind; None where there is none, or it is the same."""
    for kind in _TYPES:
        if kind.fullmatch(value) and (places := list(kind.finditer(text))):
            place = places[-1]
            if place[0].lower() == value.lower():
                return None
            return text[: place.start()] + value + text[place.end() :]
    return None


def placed(rest: str, text: str) -> str | None:
    """ "It's in the library" puts "the dinner is in the gym" right by what stands after the same word."""
    for found in _PLACED.finditer(rest):
        for place in _PLACED.finditer(text):
            if place[1].lower() == found[1].lower() and found[2].istitle() == place[2].istitle():
                return text[: place.start(2)] + found[2] + text[place.end(2) :]
    return None


def has(text: str, value: str) -> bool:
    """Tell whether a value stands in a text, as a whole."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def without(text: str) -> str | None:
    """Give a text without its last word; None of a single one."""
    return text.rstrip(".! ").rpartition(" ")[0] or None


def _without_unit(after: str, value: str) -> str:
    """Drop what the value brings along itself: three cats, four cats."""
    unit = value.rpartition(" ")[2]
    return after[len(unit) + 1 :] if after.lower().startswith(f" {unit.lower()}") else after


def subject_of(text: str) -> str | None:
    found = list(re.finditer(r"\S+", text))
    for index, each in enumerate(found[:10]):
        if index and words.is_finite(each[0].lower()):
            return text[: each.start()].strip()
    return None
