"""Patterns that are compiled when first used, and the quick look that tells which of them a text can match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

_Item = TypeVar("_Item")
_Found = re.Match[str] | None

# Characters that a pattern that ignores case takes for i, s or о, though lower() does not.
_FOLDED_OTHERWISE = re.compile("[\u0130\u0131\u017f\u1c80-\u1c8f]")


class Pattern:
    """A regular expression. Most are never used, and compiling them all takes a quarter of a second."""

    match: Callable[..., _Found]
    fullmatch: Callable[..., _Found]
    search: Callable[..., _Found]
    finditer: Callable[[str], Iterator[re.Match[str]]]
    findall: Callable[[str], list[str]]
    sub: Callable[[str | Callable[[re.Match[str]], str], str], str]

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern when one of its methods is first used; later uses find the method without a call."""
        if name not in Pattern.__annotations__:
            raise AttributeError(name)
        compiled = re.compile(self.text, self.flags)
        for method in Pattern.__annotations__:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


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
