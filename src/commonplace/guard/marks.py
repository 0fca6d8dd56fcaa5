"""What stands in a text where something was taken out, and how it gets there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

_MARK = re.compile(r"\[redacted: [a-z][a-z0-9 -]{0,40}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where something secret stood in the original, and what it was; never the thing itself."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text with a mark in place of each thing found."""

    text: str
    found: tuple[Secret, ...]


def redacted(text: str, find: Callable[[str], Iterable[Secret]]) -> Redacted:
    """Replace all that `find` finds; done again on the result, this changes nothing.

    What lies between two marks is searched as a text of its own, until nothing more is found there.
    That is also what a second run would do, which makes it find nothing.
    """
    found: list[Secret] = []
    pieces = list(_unmarked(text)) if "[redacted: " in text else [(0, len(text))]
    while pieces:
        start, end = pieces.pop()
        inside = [
            Secret(kind=each.kind, start=start + each.start, end=start + each.end)
            for each in merged(find(text[start:end]))
        ]
        if inside:
            found += inside
            pieces += _around(inside, start, end)
    if not found:
        return Redacted(text=text, found=())
    found.sort(key=lambda each: each.start)
    return Redacted(text=_replaced(text, found), found=tuple(found))


def merged(found: Iterable[Secret]) -> list[Secret]:
    """Join what overlaps. Of those that begin first, the first found names the kind."""
    joined: list[Secret] = []
    for each in sorted(found, key=lambda each: each.start):
        if joined and each.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Secret(kind=last.kind, start=last.start, end=max(last.end, each.end))
        elif each.start < each.end:
            joined.append(each)
    return joined


def _unmarked(text: str) -> Iterator[tuple[int, int]]:
    """Give the parts between marks that an earlier run left."""
    start = 0
    for mark in _MARK.finditer(text):
        yield start, mark.start()
        start = mark.end()
    yield start, len(text)


def _around(found: Sequence[Secret], start: int, end: int) -> Iterator[tuple[int, int]]:
    for each in found:
        yield start, each.start
        start = each.end
    yield start, end


def _replaced(text: str, found: Sequence[Secret]) -> str:
    parts: list[str] = []
    start = 0
    for each in found:
        parts += (text[start : each.start], f"[redacted: {each.kind}]")
        start = each.end
    return "".join((*parts, text[start:]))
