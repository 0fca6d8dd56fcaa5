"""Texts that read like an instruction to the model that recalls them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.guard.patterns import Pattern
from commonplace.guard.readings import decoded, plain, undisguised
from commonplace.guard.wordings import WORDINGS
from commonplace.guard.written import WRITTEN, written

NAMES = (*WORDINGS, *WRITTEN)
"""All flags, in the order in which they are named."""

_WORD = Pattern(r"\w+")
_APART = {each: " " for each in range(128) if not (chr(each).isalnum() or chr(each) == "_")}


@dataclass(frozen=True, slots=True)
class _Start:
    """What a wording begins with, and what it is."""

    text: str
    name: str
    pattern: Pattern


def _starts() -> Iterator[tuple[str, _Start]]:
    """Give the ways to begin of all wordings, each with its first word, or with none if it begins with part of one."""
    for name, wordings in WORDINGS.items():
        for beginnings, text in wordings:
            pattern = Pattern(text)
            for each in beginnings.split():
                start = _Start(each.rstrip("*").replace("_", " "), name, pattern)
                yield "" if each.endswith("*") else _WORD.findall(start.text)[0], start


def _by_word() -> dict[str, tuple[_Start, ...]]:
    found: defaultdict[str, list[_Start]] = defaultdict(list)
    for word, start in _starts():
        found[word].append(start)
    return {word: tuple(starts) for word, starts in found.items()}


_STARTS = _by_word()
_FIRST_WORDS = frozenset(_STARTS)


def flags(text: str) -> tuple[str, ...]:
    """Name the ways in which a text reads like an instruction to a model; none for most texts.

    A flag is a reason to look twice or to trust less, no proof: "from now on always answer in French" may be
    what the user wants.
    """
    found = written(text)
    reading = plain(text)
    found |= _said(reading)
    if (other := undisguised(reading)) != reading:
        found |= _said(other)
    if any(_said(plain(hidden)) for hidden in decoded(text)):
        found.add("encoded")
    return tuple(name for name in NAMES if name in found) if found else ()


def _said(reading: str) -> set[str]:
    """Name what is said, looking only where a wording can begin."""
    found: set[str] = set()
    for word in ("", *_FIRST_WORDS.intersection(_words(reading))):
        for start in _STARTS[word]:
            if start.text in reading and start.name not in found and _matches(start, reading):
                found.add(start.name)
    return found


def _words(reading: str) -> list[str]:
    return reading.translate(_APART).split() if reading.isascii() else _WORD.findall(reading)


def _matches(start: _Start, reading: str) -> bool:
    place = reading.find(start.text)
    while place >= 0 and not start.pattern.match(reading, place):
        place = reading.find(start.text, place + 1)
    return place >= 0
