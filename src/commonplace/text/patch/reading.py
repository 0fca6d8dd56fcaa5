"""Reading a unified diff; what is none is refused with the reason."""

from __future__ import annotations

import re
from collections import Counter
from typing import cast

from commonplace.errors import InvalidPatch
from commonplace.text.patch import headers
from commonplace.text.patch.cursor import Cursor
from commonplace.text.patch.text import NO_NEWLINE, quoted
from commonplace.text.patch.values import NOWHERE, FilePatch, Hunk, Line, Op

_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")


def parse(patch: str) -> tuple[FilePatch, ...]:
    """Read a unified diff over one or several files, each named once; anything else is InvalidPatch."""
    cursor = Cursor(patch)
    files: list[FilePatch] = []
    while cursor.skip_blank():
        files.append(_file(cursor))
    if not files:
        raise InvalidPatch("the patch is empty; send a unified diff with ---, +++ and @@ lines")
    for path, times in Counter(path for file in files for path in file.paths).items():
        if times > 1:
            raise InvalidPatch(
                f"the patch names {quoted(path)} in {times} places; put all hunks of a file under one header"
            )
    return tuple(files)


def _file(cursor: Cursor) -> FilePatch:
    number = cursor.number
    header = headers.read(cursor)
    path = header.old or header.new or ""
    hunks: list[Hunk] = []
    while cursor.skip_blank() and cursor.starts("@@"):
        hunks.append(_hunk(cursor, path, len(hunks) + 1))
    file = FilePatch(old=header.old, new=header.new, hunks=tuple(hunks))
    if problem := _problem(file, header.whole):
        raise InvalidPatch(f"{quoted(path)} (line {number} of the patch): {problem}")
    return file


def _problem(file: FilePatch, whole: bool) -> str | None:
    """What makes the hunks of a file contradict its header or each other, in words."""
    hunks = file.hunks
    if not hunks and not whole:
        return "no hunk follows its header; a hunk starts with @@ -start,count +start,count @@"
    if file.old is None and any(hunk.old for hunk in hunks):
        return f"a new file ({NOWHERE} after ---) has no old lines, so its hunk may only add lines"
    if file.new is None and any(hunk.new for hunk in hunks):
        return f"a deleted file ({NOWHERE} after +++) has no new lines, so its hunks may only remove lines"
    if len(hunks) > 1 and not all(hunk.old for hunk in hunks):
        return "a hunk without context and removed lines fits an empty file only, and there are several hunks"
    if any(hunk.ends_file for hunk in hunks[:-1]):
        return f"`{NO_NEWLINE}` stands before the last hunk"
    return None


def _hunk(cursor: Cursor, path: str, number: int) -> Hunk:
    where = f"{quoted(path)}, hunk {number} (line {cursor.number} of the patch)"
    header = cursor.take().rstrip("\r")
    match = _HUNK.match(header)
    if match is None:
        raise InvalidPatch(f"{where}: {quoted(header)} should read @@ -start,count +start,count @@")
    start, old, _, new = (1 if group is None else int(group) for group in match.groups())
    hunk = Hunk(number=number, start=start, header=match[0], lines=_body(cursor, old, new))
    if (len(hunk.old), len(hunk.new)) != (old, new):
        raise InvalidPatch(
            f"{where}: the counts in {match[0]} do not add up: it promises {old} old and {new} "
            f"new lines, but {len(hunk.old)} old and {len(hunk.new)} new lines follow; correct the counts or the lines"
        )
    if problem := _hunk_problem(hunk):
        raise InvalidPatch(f"{where}: {problem}")
    return hunk


def _hunk_problem(hunk: Hunk) -> str | None:
    if hunk.old == hunk.new:
        return "it changes nothing; start removed lines with - and added lines with +"
    if any(not text.endswith("\n") for side in (hunk.old, hunk.new) for text in side[:-1]):
        return f"`{NO_NEWLINE}` stands before the last line"
    if any(not line.text for line in hunk.lines):
        return f"`{NO_NEWLINE}` follows an empty line, which would be no line at all"
    return None


def _body(cursor: Cursor, old: int, new: int) -> tuple[Line, ...]:
    """The lines of a hunk: as many as promised, and any surplus, for the caller to count."""
    lines: list[Line] = []
    while old > 0 or new > 0 or cursor.at_surplus():
        line = _line(cursor)
        if line is None:
            break
        old -= line.op != "+"
        new -= line.op != "-"
        lines.append(line)
    return tuple(lines)


def _line(cursor: Cursor) -> Line | None:
    raw = cursor.peek()
    # Language models and mail programs strip the lone space of an empty context line.
    if raw in ("", "\r"):
        raw = f" {raw}"
    if raw is None or raw[0] not in " +-":
        return None
    cursor.take()
    newline = "\n"
    if cursor.starts("\\"):
        cursor.take()
        newline = ""
    return Line(op=cast(Op, raw[0]), text=raw[1:] + newline)
