"""Applying a patch, whole or not at all: each hunk must fit the file in exactly one place."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from commonplace.errors import StalePatch
from commonplace.text.patch.unified import NO_NEWLINE, NOWHERE, SHOWN, FilePatch, Hunk, parse, quote, split_lines

Revisions: TypeAlias = "Mapping[str, int] | Callable[[str], int]"
_Read: TypeAlias = Callable[[str], "str | None"]

_MOST_PLACES = 3
"""Places that a message names at most."""
_COMMON_LINE = 50
"""A line that occurs more often says nothing about the place of a hunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The content of a path after the patch; None means that it is gone."""

    path: str
    content: str | None


def apply(patch: str, read: _Read, *, current: Revisions) -> tuple[FileChange, ...]:
    """Return the new content of every touched path, or raise; there is no partial result.

    `read` returns a path's content, None if there is no such file. `current` gives its revision (a path
    that a mapping lacks has 0), for the `current` of StalePatch. A rename gives two changes: gone, there.
    """
    revision = current if callable(current) else lambda path: current.get(path, 0)
    return tuple(change for file in parse(patch) for change in _changes(file, read, revision))


def apply_file(file: FilePatch, content: str, *, current: int = 0) -> str:
    """Return `content` with every hunk applied, or raise StalePatch; every context line is compared."""
    lines = split_lines(content)
    result: list[str] = []
    end = 0
    for hunk, place in zip(file.hunks, _places(file, content, lines, current), strict=True):
        result += lines[end:place]
        result += hunk.new
        end = place + len(hunk.old)
    return "".join(result + lines[end:])


def _changes(file: FilePatch, read: _Read, revision: Callable[[str], int]) -> Iterator[FileChange]:
    if file.new is not None and file.new != file.old and read(file.new) is not None:
        raise StalePatch(
            f"{quote(file.new)} already exists, but the patch makes it as a new file; read it and change "
            "it with --- and +++ lines that both name it. Nothing was applied.",
            current=revision(file.new),
        )
    if file.old is None:
        yield FileChange(path=file.path, content=apply_file(file, ""))
        return
    after = _new_content(file, file.old, read, revision)
    if file.new != file.old:
        yield FileChange(path=file.old, content=None)
    if file.new is not None:
        yield FileChange(path=file.new, content=after)


def _new_content(file: FilePatch, path: str, read: _Read, revision: Callable[[str], int]) -> str:
    content = read(path)
    if content is None:
        raise StalePatch(
            f"there is no file {quote(path)}; to make a new file, write `--- {NOWHERE}` above its +++ "
            "line. Nothing was applied.",
            current=revision(path),
        )
    after = apply_file(file, content, current=revision(path))
    if file.new is None and after:
        raise StalePatch(
            f"the patch deletes {quote(path)} but does not remove all of its lines; what would be left "
            f"starts with {quote(split_lines(after)[0])}. Read the file again and remove every line. "
            "Nothing was applied.",
            current=revision(path),
        )
    return after


def _places(file: FilePatch, content: str, lines: Sequence[str], current: int) -> list[int]:
    """Return where each hunk belongs, as line indexes in rising order without overlap."""
    stated = [hunk.start - 1 if hunk.old else 0 for hunk in file.hunks]
    fit = all(_fits(hunk, place, lines) for hunk, place in zip(file.hunks, stated, strict=True))
    if fit and _first_overlap(file.hunks, stated) is None:
        return stated
    # One wrong line number shows that the file has changed or that the numbers were guessed, so none of this file's
    # numbers is evidence any more. The lines themselves are: a hunk whose whole old side occurs exactly once can mean
    # no other place. With two places, either choice could be the wrong edit.
    candidates = [(hunk, _search(hunk, content)) for hunk in file.hunks]
    for hunk, found in candidates:
        if not found:
            raise _stale(file, hunk, _why_absent(hunk, lines), current)
    for hunk, found in candidates:
        if len(found) > 1:
            raise _stale(file, hunk, _why_ambiguous(found), current)
    only = [found[0] for _, found in candidates]
    if (bad := _first_overlap(file.hunks, only)) is not None:
        why = (
            f"its lines are at line {only[bad] + 1}, which is not below the hunk before it; "
            "put the hunks in the order of the file, without overlap"
        )
        raise _stale(file, file.hunks[bad], why, current)
    return only


def _first_overlap(hunks: Sequence[Hunk], places: Sequence[int]) -> int | None:
    """Return the index of the first hunk that starts above the end of the one before it."""
    end = 0
    for index, (hunk, place) in enumerate(zip(hunks, places, strict=True)):
        if place < end:
            return index
        end = place + len(hunk.old)
    return None


def _fits(hunk: Hunk, place: int, lines: Sequence[str]) -> bool:
    old = hunk.old
    end = place + len(old)
    # Without old lines nothing would be checked, so such a hunk belongs in an empty file only.
    must_end = hunk.ends_file or not old
    return lines[place:end] == old and (not must_end or end == len(lines))


def _search(hunk: Hunk, content: str) -> list[int]:
    """Return the places where the whole old side stands, as many as a message needs; none for a hunk without one."""
    if not hunk.old:
        return []
    # A newline in front makes every match start at the start of a line. Searching text, not a list of
    # lines, keeps this linear in files that repeat themselves.
    text, block = "\n" + content, "\n" + "".join(hunk.old)
    if hunk.ends_file:
        return [text.count("\n", 0, len(text) - len(block))] if text.endswith(block) else []
    found: list[int] = []
    at = text.find(block)
    while at >= 0 and len(found) <= _MOST_PLACES:
        found.append(text.count("\n", 0, at))
        at = text.find(block, at + 1)
    return found


def _stale(file: FilePatch, hunk: Hunk, why: str, current: int) -> StalePatch:
    return StalePatch(
        f"{quote(file.path)}, hunk {hunk.number} ({hunk.header}) does not fit the file at revision "
        f"{current}: {why}. Read the file again and make a new patch. "
        "Nothing was applied.",
        current=current,
    )


def _why_ambiguous(places: Sequence[int]) -> str:
    numbers = ", ".join(str(place + 1) for place in places[:_MOST_PLACES])
    more = " and more" if len(places) > _MOST_PLACES else ""
    return (
        "the line numbers of the patch are not those of the file, and this hunk's lines occur in more "
        f"than one place (lines {numbers}{more}); correct the numbers in the @@ lines, or add context"
    )


def _why_absent(hunk: Hunk, lines: Sequence[str]) -> str:
    """Return which line differs, at the most likely place of the hunk."""
    old = hunk.old
    if not old:
        return (
            "it has no context and no removed lines, so it fits an empty file only, and this one is "
            f"{len(lines)} lines long; add an unchanged line before or after the added ones"
        )
    place = _likeliest_place(hunk, lines)
    for number, expected in enumerate(old, place + 1):
        if number > len(lines):
            return f"line {number} should read {quote(expected)}, but the file ends after line {len(lines)}"
        if lines[number - 1] != expected:
            return f"line {number} should read {_compare(expected, lines[number - 1])}"
    last = place + len(old)
    return (
        f"it says that the file ends after line {last} (`{NO_NEWLINE}`), but line {last + 1} reads {quote(lines[last])}"
    )


def _likeliest_place(hunk: Hunk, lines: Sequence[str]) -> int:
    """Return the place where most of the old lines stand; of equals, the one nearest to the stated line."""
    stated = max(hunk.start - 1, 0)
    where: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        where[line].append(index)
    votes = Counter({stated: 0})
    for offset, line in enumerate(hunk.old):
        if len(where[line]) <= _COMMON_LINE:
            votes.update(index - offset for index in where[line] if index >= offset)
    return max(votes, key=lambda place: (votes[place], -abs(place - stated)))


def _compare(expected: str, found: str) -> str:
    # Long lines are shown from just before the point where they differ, or both would look the same.
    shorter = min(len(expected), len(found))
    part = next((at for at in range(shorter) if expected[at] != found[at]), shorter)
    start = max(0, part - SHOWN // 2) if max(len(expected), len(found)) > SHOWN else 0
    text = f"{quote(expected, start)} but reads {quote(found, start)}"
    if expected == f"{found}\n":
        return f"{text} without a newline (put the line `{NO_NEWLINE}` below it)"
    if found == f"{expected}\n":
        return f"{text} with a newline (leave out the line `{NO_NEWLINE}`)"
    if expected.rstrip("\r\n") == found.rstrip("\r\n"):
        return f"{text} (they differ only in how the line ends)"
    if expected.split() == found.split():
        return f"{text} (they differ only in white space)"
    return text
