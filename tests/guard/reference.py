"""The guard without its short cuts: every pattern is tried everywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, partial

from commonplace.guard import injection, secret_forms, secrets, unseen
from commonplace.guard.secrets import Redacted, Secret
from commonplace.guard.wordings import WORDINGS


def redact(text: str) -> Redacted:
    return secrets.replace_found(text, partial(secrets.find_covered, find=_secrets))


def _secrets(text: str) -> Iterator[Secret]:
    yield from secrets.find_key_blocks(text)
    for form in (*secret_forms.FORMS.items, *secret_forms.PLACES.items):
        yield from secrets.match_form(form, text)
    yield from secrets.read_names(text, partial(secret_forms.NAME.search, text))


def flags(text: str) -> tuple[str, ...]:
    found = {name for name, pattern in injection.MARKUP.items if pattern.search(text)}
    found |= {"invisible text"} if injection.INVISIBLE.search(text) else set()
    found |= _said(_plain(text)) | _said(_undisguised(_plain(text)))
    encoded = (injection.decode(run[0]) for run in injection.BASE64.finditer(text))
    if any(_said(_plain(hidden)) for hidden in encoded if hidden is not None):
        found.add("encoded")
    return tuple(name for name in injection.NAMES if name in found)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(text for _, text in wordings)) for name, wordings in WORDINGS.items()}


def _said(reading: str) -> set[str]:
    return {name for name, pattern in _patterns().items() if pattern.search(reading)}


def _plain(text: str) -> str:
    shown = unicodedata.normalize("NFKC", unseen.reveal(text)).replace("’", "'").lower()
    return " ".join(shown.split())


def _undisguised(reading: str) -> str:
    reading = injection.APART.sub(" ", reading).translate(injection.LOOKS_LATIN)
    reading = injection.WITH_DIGIT.sub(lambda found: found[0].translate(injection.DIGITS), reading)
    return injection.SPELLED.sub(lambda found: found[0].replace(" ", ""), reading)
