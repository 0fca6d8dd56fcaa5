"""Reading what stands above the hunks of a file: which file, and whether it is made, deleted or renamed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from commonplace.errors import InvalidPatch
from commonplace.text.patch.cursor import Cursor
from commonplace.text.patch.names import unquoted
from commonplace.text.patch.text import quoted
from commonplace.text.patch.values import NOWHERE

_NOISE = re.compile(r"diff -(?!-git )|Index: |={10,}$")
_GIT_DETAIL = re.compile(
    r"(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to"
    r"|similarity index|dissimilarity index|index|Binary files|GIT binary patch)(?: (.*))?$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The names above the hunks; `whole` if they are a change even without hunks."""

    old: str | None
    new: str | None
    whole: bool = False


def read(cursor: Cursor) -> Header:
    while _NOISE.match(cursor.peek() or ""):
        cursor.take()
    if cursor.starts("diff --git "):
        return _git(cursor)
    if cursor.at_names():
        return _names(cursor)
    if cursor.starts("@@"):
        raise InvalidPatch(
            f"line {cursor.number} of the patch is a hunk without a file; write `--- a/PATH` and `+++ b/PATH` above it"
        )
    if cursor.peek() is None:
        raise InvalidPatch("the patch ends where `--- a/PATH` and `+++ b/PATH` should stand")
    raise InvalidPatch(
        f"line {cursor.number} of the patch is not part of a unified diff: {quoted(cursor.take())}; send "
        "the diff alone, without prose or code fences, and check the counts of the hunk above this line"
    )


def _git(cursor: Cursor) -> Header:
    number = cursor.number
    names = cursor.take().rstrip("\r").removeprefix("diff --git ")
    details: dict[str, str] = {}
    while match := _GIT_DETAIL.match((cursor.peek() or "").rstrip("\r")):
        details[match[1]] = match[2] or ""
        cursor.take()
    said = _said(names, details, number)
    if cursor.at_names():
        if said is None:
            return _names(cursor)
        if _pair(cursor) != (said.old, said.new):
            raise _invalid(number, "the git header and its --- and +++ lines disagree")
    elif said is None:
        raise _invalid(
            number,
            "`diff --git` is followed by no change that can be applied; "
            "--- and +++ lines with hunks, a new or deleted file or a rename can",
        )
    return said


def _said(names: str, details: Mapping[str, str], number: int) -> Header | None:
    """The names as git's extended header gives them, None if it leaves them to --- and +++."""
    if refused := details.keys() & {"copy from", "copy to", "Binary files", "GIT binary patch"}:
        raise _invalid(number, f"{min(refused)!r} cannot be applied; only text changes can")
    if "rename from" in details and "rename to" in details:
        old, new = unquoted(details["rename from"]), unquoted(details["rename to"])
        if old == new or not old or not new:
            raise _invalid(number, "a rename needs two different paths")
        return Header(old=old, new=new, whole=True)
    if "new file mode" in details:
        return Header(old=None, new=_git_name(names, number), whole=True)
    if "deleted file mode" in details:
        return Header(old=_git_name(names, number), new=None, whole=True)
    return None


def _git_name(names: str, number: int) -> str:
    """The one path in `a/PATH b/PATH`."""
    # Spaces are not quoted, so only the middle tells the two names apart; they are equally long.
    middle = len(names) // 2
    old, new = _unprefixed(unquoted(names[:middle]), unquoted(names[middle + 1 :]))
    if not old or old != new or names[middle] != " ":
        raise _invalid(number, f"`diff --git` should name one path twice: {quoted(names)}")
    return old


def _names(cursor: Cursor) -> Header:
    number = cursor.number
    old, new = _pair(cursor)
    if old is None and new is None:
        raise _invalid(number, f"{NOWHERE} cannot stand on both sides")
    if old is not None and new is not None and old != new:
        raise _invalid(
            number,
            f"--- names {quoted(old)} but +++ names {quoted(new)}; name one "
            "file, or rename it with `diff --git`, `rename from` and `rename to` lines",
        )
    return Header(old=old, new=new)


def _pair(cursor: Cursor) -> tuple[str | None, str | None]:
    number = cursor.number
    old, new = _unprefixed(_name(cursor.take()), _name(cursor.take()))
    if old == "" or new == "":
        raise _invalid(number, "a path is missing after --- or +++")
    return old, new


def _name(line: str) -> str | None:
    """The name in a --- or +++ line, without the time stamp after its tab."""
    name = unquoted(line[4:].rstrip("\r").split("\t", 1)[0])
    return None if name == NOWHERE else name


def _unprefixed(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    # Only the pair is git's: with `--- a/x` and `+++ a/x`, a/ is a directory of that name.
    if (old or "a/").startswith("a/") and (new or "b/").startswith("b/"):
        return old and old[2:], new and new[2:]
    return old, new


def _invalid(number: int, why: str) -> InvalidPatch:
    return InvalidPatch(f"line {number} of the patch: {why}")
