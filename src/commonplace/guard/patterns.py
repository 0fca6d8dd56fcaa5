"""Patterns that are compiled when first used, and the quick look that tells which of them a text can match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Found = re.Match[str] | None

# Characters that a pattern that ignores case takes for i, s or о, though lower() does not.
_FOLDED_OTHERWISE = re.compile("[\u0130\u0131\u017f\u1c80-\u1c8f]")


@dataclass(frozen=True)
class Pattern:
    """A regular expression. Most are never used, and compiling them all takes a quarter of a second."""

    text: str
    flags: int = 0

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)

    # Once looked up, each of these is the compiled pattern's own method and costs no further call.
    @cached_property
    def match(self) -> Callable[..., _Found]:
        return self._compiled.match

    @cached_property
    def fullmatch(self) -> Callable[..., _Found]:
        return self._compiled.fullmatch

    @cached_property
    def search(self) -> Callable[..., _Found]:
        return self._compiled.search

    @cached_property
    def finditer(self) -> Callable[[str], Iterator[re.Match[str]]]:
        return self._compiled.finditer

    @cached_property
    def findall(self) -> Callable[[str], list[str]]:
        return self._compiled.findall

    @cached_property
    def sub(self) -> Callable[[str | Callable[[re.Match[str]], str], str], str]:
        return self._compiled.sub


class Sieve(Generic[_Item]):
    """Items with what a text must contain for them. Looking for a word is many times faster than a pattern.

    An item has one or more needs, and each need several ways: ("login | account", "/") needs a slash and one of two
    words. `hints` are the ways of all first needs. Callers look for them without a call, since most texts have none:

        if hints := [hint for hint in sieve.hints if hint in text]:
            items = sieve.select(hints, text)
    """

    def __init__(self, items: Iterable[tuple[_Item, tuple[str, ...]]]) -> None:
        pairs = [(item, tuple(tuple(need.split(" | ")) for need in needs)) for item, needs in items]
        self.items = tuple(item for item, _ in pairs)
        self.needs = tuple(needs for _, needs in pairs)
        self.hints: dict[str, list[int]] = {}
        for number, needs in enumerate(self.needs):
            for way in needs[0]:
                self.hints.setdefault(way, []).append(number)

    def select(self, hints: Iterable[str], text: str) -> list[_Item]:
        """Return the items with one of these hints whose other needs the text contains, in their order."""
        numbers = sorted(set().union(*map(self.hints.__getitem__, hints)))
        return [self.items[number] for number in numbers if _holds(text, self.needs[number][1:])]


def _holds(text: str, needs: tuple[tuple[str, ...], ...]) -> bool:
    return all(any(way in text for way in ways) for ways in needs)


def lower(text: str) -> str | None:
    """Return the text in lower case, of the same length; None if patterns that ignore case would read it otherwise."""
    return None if _FOLDED_OTHERWISE.search(text) else text.lower()
