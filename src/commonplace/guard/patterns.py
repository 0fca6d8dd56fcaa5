"""Patterns that are compiled when first needed, and the quick look that tells which of many a text can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

_Item = TypeVar("_Item")

# What a pattern that ignores case takes for i, s or о, though lower() does not make it so.
_OTHERWISE = re.compile("[\u0130\u0131\u017f\u1c80-\u1c8f]")


_Found = re.Match[str] | None


@dataclass(frozen=True)
class Pattern:
    """A regular expression. Most are never needed, and to compile them all takes a quarter of a second."""

    text: str
    flags: int = 0

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)

    # What was looked up once is the compiled pattern's own method, and costs no further call.
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
    """Lets those items through of which a text holds what they need.

    An item needs one or more things, each of them in one of several ways: ("login | account", "/") needs a slash and
    one of two words. To look for a word is many times faster than to search for a pattern.
    """

    def __init__(self, items: Iterable[tuple[_Item, tuple[str, ...]]]) -> None:
        pairs = [(item, tuple(tuple(need.split(" | ")) for need in needs)) for item, needs in items]
        self.items = tuple(item for item, _ in pairs)
        self.needs = tuple(needs for _, needs in pairs)
        ways = dict.fromkeys(way for needs in self.needs for way in needs[0])
        self._first = tuple((way, [n for n, needs in enumerate(self.needs) if way in needs[0]]) for way in ways)

    def through(self, text: str) -> list[_Item]:
        """Give the items that the text may hold, in their order."""
        possible = [numbers for way, numbers in self._first if way in text]
        if not possible:
            return []
        numbers = sorted(set().union(*possible))
        return [self.items[number] for number in numbers if _holds(text, self.needs[number][1:])]


def _holds(text: str, needs: tuple[tuple[str, ...], ...]) -> bool:
    return all(any(way in text for way in ways) for ways in needs)


def lowered(text: str) -> str | None:
    """Give the text in lower case, character for character; None if patterns that ignore case would see another."""
    return None if not text.isascii() and _OTHERWISE.search(text) else text.lower()
