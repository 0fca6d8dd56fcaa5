"""The guard without its short cuts: every pattern is tried everywhere, whatever the text holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, partial

from commonplace.guard import formats, marks, named, placed, readings, written
from commonplace.guard.injection import NAMES
from commonplace.guard.marks import Redacted, Secret
from commonplace.guard.wordings import WORDINGS


def redact(text: str) -> Redacted:
    return marks.redacted(text, _secrets)


def _secrets(text: str) -> Iterator[Secret]:
    yield from formats.blocks(text)
    for form in formats.FORMS.items:
        yield from form.matches(text)
    for place in placed.PLACES.items:
        yield from place.matches(text)
    yield from named.read(text, partial(named.NAME.search, text))


def flags(text: str) -> tuple[str, ...]:
    found = {name for name, pattern in (*written.FORMS.items, written.INVISIBLE) if pattern.search(text)}
    found |= _said(_plain(text)) | _said(_undisguised(_plain(text)))
    encoded = (readings.meaning(run[0]) for run in readings.BASE64.finditer(text))
    if any(_said(_plain(hidden)) for hidden in encoded if hidden is not None):
        found.add("encoded")
    return tuple(name for name in NAMES if name in found)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(text for _, text in wordings)) for name, wordings in WORDINGS.items()}


def _said(reading: str) -> set[str]:
    return {name for name, pattern in _patterns().items() if pattern.search(reading)}


def _plain(text: str) -> str:
    shown = unicodedata.normalize("NFKC", readings.UNSEEN.sub("", text)).replace("’", "'").lower()
    return " ".join(shown.split())


def _undisguised(reading: str) -> str:
    reading = readings.APART.sub(" ", reading).translate(readings.LOOKS_LATIN)
    reading = readings.WITH_DIGIT.sub(lambda found: found[0].translate(readings.DIGITS), reading)
    return readings.SPELLED.sub(lambda found: found[0].replace(" ", ""), reading)
