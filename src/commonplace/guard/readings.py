"""A text as a model reads it: without what hides or disguises its words."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Iterator

from commonplace.guard.patterns import Pattern

UNSEEN = Pattern("[\u00ad\u0334-\u0338\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
APART = Pattern(r"[\s_]+|(?<=[a-z])-(?=[a-z]+-)|(?<=[a-z])-(?=[a-z]+$)")
LOOKS_LATIN = str.maketrans("авекмнорстухіјѕԁӏοαερυικ", "abekmhopctyxijsdloaepuik")
DIGITS = str.maketrans("013457@$", "oieastas")
WITH_DIGIT = Pattern(r"\b[a-z]+[013457@$][a-z013457@$]*")
_DIGIT_AFTER_LETTER = Pattern(r"[013457@$](?<=[a-z].)")
SPELLED = Pattern(r"(?<!\S)(?:\w ){3,}\w(?!\S)")
_TWO_LETTERS_APART = Pattern(r" \w \w ")
BASE64 = Pattern(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}")
_FEWEST_ENCODED = 24


def plain(text: str) -> str:
    """Write a text in lower case with single spaces, without what no one sees."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", UNSEEN.sub("", text)).replace("’", "'")
    return " ".join(text.lower().split())


def undisguised(reading: str) -> str:
    """Put letters back that were put in disguise in a plain text: digits, other scripts, words spelled or joined."""
    # The one space between two words is already what the pattern would make of it.
    if "_" in reading or "-" in reading:
        reading = APART.sub(" ", reading)
    if not reading.isascii():
        reading = reading.translate(LOOKS_LATIN)
    if _DIGIT_AFTER_LETTER.search(reading):
        reading = WITH_DIGIT.sub(lambda found: found[0].translate(DIGITS), reading)
    if _TWO_LETTERS_APART.search(reading):
        reading = SPELLED.sub(lambda found: found[0].replace(" ", ""), reading)
    return reading


def decoded(text: str) -> Iterator[str]:
    """Give what was encoded as base64, where it is text."""
    for word in [word for word in text.split() if len(word) >= _FEWEST_ENCODED]:
        for run in BASE64.finditer(word):
            if (hidden := meaning(run[0])) is not None:
                yield hidden


def meaning(run: str) -> str | None:
    """Decode base64, whose last signs may be missing; None if it is not text."""
    whole = run.rstrip("=")
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
