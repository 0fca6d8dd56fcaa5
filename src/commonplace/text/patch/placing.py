"""Where each hunk of a patch belongs in the file, in exactly one way."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.errors import StalePatch
from commonplace.text.patch import misfit
from commonplace.text.patch.text import quoted
from commonplace.text.patch.values import FilePatch, Hunk


def places(file: FilePatch, content: str, lines: Sequence[str], current: int) -> list[int]:
    """Where each hunk belongs, as line indexes in rising order without overlap."""
    stated = [hunk.start - 1 if hunk.old else 0 for hunk in file.hunks]
    fit = all(_fits(hunk, place, lines) for hunk, place in zip(file.hunks, stated, strict=True))
    if fit and _misplaced(file.hunks, stated) is None:
        return stated
    # One wrong line number shows that the file has moved (or that they were guessed), so none of this
    # file's numbers is evidence any more. The lines themselves are: a hunk whose whole old side stands in
    # exactly one place can mean no other. With two places, either choice could be the wrong edit.
    candidates = [(hunk, _search(hunk, content)) for hunk in file.hunks]
    for hunk, found in candidates:
        if not found:
            raise _stale(file, hunk, misfit.absent(hunk, lines), current)
    for hunk, found in candidates:
        if len(found) > 1:
            raise _stale(file, hunk, misfit.ambiguous(found), current)
    only = [found[0] for _, found in candidates]
    if (bad := _misplaced(file.hunks, only)) is not None:
        raise _stale(file, file.hunks[bad], misfit.disordered(only[bad]), current)
    return only


def _misplaced(hunks: Sequence[Hunk], places: Sequence[int]) -> int | None:
    """The index of the first hunk that starts above the end of the one before it."""
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
    """The places where the whole old side stands, as many as a message needs; none for a hunk without one."""
    if not hunk.old:
        return []
    # A newline in front makes every match start at the start of a line. Searching text, not a list of
    # lines, keeps this linear in files that repeat themselves.
    text, block = "\n" + content, "\n" + "".join(hunk.old)
    if hunk.ends_file:
        return [text.count("\n", 0, len(text) - len(block))] if text.endswith(block) else []
    found: list[int] = []
    at = text.find(block)
    while at >= 0 and len(found) <= misfit.NAMED:
        found.append(text.count("\n", 0, at))
        at = text.find(block, at + 1)
    return found


def _stale(file: FilePatch, hunk: Hunk, why: str, current: int) -> StalePatch:
    return StalePatch(
        f"{quoted(file.path)}, hunk {hunk.number} ({hunk.header}) does not fit the file at revision "
        f"{current}: {why}. Read the file again and make the patch from what stands there. "
        "Nothing was applied.",
        current=current,
    )
