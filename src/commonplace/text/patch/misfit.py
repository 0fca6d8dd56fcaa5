"""Why a hunk has no place in the file, in words that help to correct it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from commonplace.text.patch.text import NO_NEWLINE, SHOWN, quoted
from commonplace.text.patch.values import Hunk

NAMED = 3
"""Places that a message names at most."""

_COMMON = 50


def absent(hunk: Hunk, lines: Sequence[str]) -> str:
    """Say why the hunk's old lines stand nowhere in the file."""
    if not hunk.old:
        return (
            "it has no context and no removed lines, so it fits an empty file only, and this one is "
            f"{len(lines)} lines long; put an unchanged line beside the added ones"
        )
    return _mismatch(hunk, lines)


def ambiguous(places: Sequence[int]) -> str:
    numbers = ", ".join(str(place + 1) for place in places[:NAMED])
    more = " and more" if len(places) > NAMED else ""
    return (
        "the line numbers of the patch are not those of the file, and this hunk's lines stand in more "
        f"than one place (lines {numbers}{more}); correct the numbers in the @@ lines, or add context"
    )


def disordered(place: int) -> str:
    return (
        f"its lines stand at line {place + 1}, which is not below the hunk before it; "
        "order the hunks as the file is ordered, and let them not overlap"
    )


def _mismatch(hunk: Hunk, lines: Sequence[str]) -> str:
    """Say which line differs, at the place that the hunk most likely means."""
    old = hunk.old
    place = _likeliest(hunk, lines)
    for number, expected in enumerate(old, place + 1):
        if number > len(lines):
            return f"line {number} should read {quoted(expected)}, but the file ends after line {len(lines)}"
        if lines[number - 1] != expected:
            return f"line {number} should read {_comparison(expected, lines[number - 1])}"
    last = place + len(old)
    return (
        f"it says that the file ends after line {last} (`{NO_NEWLINE}`), "
        f"but line {last + 1} reads {quoted(lines[last])}"
    )


def _likeliest(hunk: Hunk, lines: Sequence[str]) -> int:
    """The place where most of the old lines stand; of equals, the one nearest to the stated line."""
    stated = max(hunk.start - 1, 0)
    where: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        where[line].append(index)
    votes = Counter({stated: 0})
    for offset, line in enumerate(hunk.old):
        # A line that stands everywhere says nothing about the place.
        if len(where[line]) <= _COMMON:
            votes.update(index - offset for index in where[line] if index >= offset)
    return max(votes, key=lambda place: (votes[place], -abs(place - stated)))


def _comparison(expected: str, found: str) -> str:
    # Long lines are shown from just before the point where they part, or both would look the same.
    shorter = min(len(expected), len(found))
    part = next((at for at in range(shorter) if expected[at] != found[at]), shorter)
    start = max(0, part - SHOWN // 2) if max(len(expected), len(found)) > SHOWN else 0
    text = f"{quoted(expected, start)} but reads {quoted(found, start)}"
    if expected == f"{found}\n":
        return f"{text} without a newline (put the line `{NO_NEWLINE}` below it)"
    if found == f"{expected}\n":
        return f"{text} with a newline (leave out the line `{NO_NEWLINE}`)"
    if expected.rstrip("\r\n") == found.rstrip("\r\n"):
        return f"{text} (they differ only in how the line ends)"
    if expected.split() == found.split():
        return f"{text} (they differ only in white space)"
    return text
