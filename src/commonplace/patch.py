r"""Unified diffs: made, read, and applied whole or not at all. Pure text, no I/O.

A line ends at "\n" and nowhere else; a "\r" before it belongs to the line, so CRLF files stay CRLF.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias, cast

from commonplace.errors import InvalidPatch, StalePatch

NOWHERE = "/dev/null"
"""The name that stands for the missing side of a created or deleted file."""

Op = Literal[" ", "-", "+"]
Revisions: TypeAlias = "Mapping[str, int] | Callable[[str], int]"

_NO_NEWLINE = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_NOISE = re.compile(r"diff -(?!-git )|Index: |={10,}$")
_GIT_DETAIL = re.compile(
    r"(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to"
    r"|similarity index|dissimilarity index|index|Binary files|GIT binary patch)(?: (.*))?$"
)
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\]')
_CONTEXT = 3
_SHOWN = 160
_COMMON = 50
_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a hunk, its newline included; only a file's last line may be without."""

    op: Op
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One place to change: `old` has to stand there, `new` takes its place."""

    number: int
    start: int
    header: str
    lines: tuple[Line, ...]

    @property
    def old(self) -> list[str]:
        return [line.text for line in self.lines if line.op != "+"]

    @property
    def new(self) -> list[str]:
        return [line.text for line in self.lines if line.op != "-"]

    @property
    def ends_file(self) -> bool:
        """Whether the hunk says that no line follows it: a side of it has no newline at its end."""
        return any(not line.text.endswith("\n") for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """All hunks for one file. `old` is None for a new file, `new` for a deleted one."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the patch touches: two for a rename, otherwise one."""
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path is not None))

    @property
    def path(self) -> str:
        return self.paths[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a path holds after the patch; None means that it is gone."""

    path: str
    content: str | None


def apply(patch: str, read: Callable[[str], str | None], *, current: Revisions) -> tuple[Change, ...]:
    """Return the new content of every touched path, or raise; there is no partial result.

    `read` gives a path's content, None if there is no such file. `current` gives its revision (a path
    that a mapping lacks has 0), for the `current` of StalePatch. A rename gives two changes: gone, there.
    """
    revision = current if callable(current) else lambda path: current.get(path, 0)
    return tuple(change for file in parse(patch) for change in _changes(file, read, revision))


def apply_file(file: FilePatch, content: str, *, current: int = 0) -> str:
    """Return `content` with every hunk applied, or raise StalePatch; every context line was compared."""
    lines = _split(content)
    result: list[str] = []
    end = 0
    for hunk, place in zip(file.hunks, _places(file, content, lines, current), strict=True):
        result += lines[end:place]
        result += hunk.new
        end = place + len(hunk.old)
    return "".join(result + lines[end:])


def parse(patch: str) -> tuple[FilePatch, ...]:
    """Read a unified diff over one or several files, each named once; anything else is InvalidPatch."""
    cursor = _Cursor(patch)
    files: list[FilePatch] = []
    while cursor.skip_blank():
        files.append(_file(cursor))
    if not files:
        raise InvalidPatch("the patch is empty; send a unified diff with ---, +++ and @@ lines")
    for path, times in Counter(path for file in files for path in file.paths).items():
        if times > 1:
            raise InvalidPatch(
                f"the patch names {_quoted(path)} in {times} places; put all hunks of a file under one header"
            )
    return tuple(files)


def diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Make the unified diff that `apply` turns `old` into `new` with; "" if there is nothing to change.

    The names are plain paths and get their `a/` and `b/` here; NOWHERE as a name creates or deletes the
    file, and two different names rename it.
    """
    before, after = _split(old), _split(new)
    # Lines that fill a long file (blank ones, braces) are not used as anchors, which is SequenceMatcher's
    # default: without it the time grows with the square of their number, and the diff is right either way.
    groups = SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT)
    hunks = "".join(_rendered(group, before, after) for group in groups)
    if hunks:
        hunks = f"--- {_side('a/', old_name)}\n+++ {_side('b/', new_name)}\n{hunks}"
    return _git_header(old_name, new_name) + hunks


# --- applying ---------------------------------------------------------------------------------------


def _changes(file: FilePatch, read: Callable[[str], str | None], revision: Callable[[str], int]) -> Iterator[Change]:
    if file.new is not None and file.new != file.old and read(file.new) is not None:
        raise StalePatch(
            f"{_quoted(file.new)} already exists, but the patch makes it as a new file; read it and change "
            "it with --- and +++ lines that both name it. Nothing was applied.",
            current=revision(file.new),
        )
    if file.old is None:
        yield Change(path=file.path, content=apply_file(file, ""))
        return
    after = _after(file, file.old, read, revision)
    if file.new != file.old:
        yield Change(path=file.old, content=None)
    if file.new is not None:
        yield Change(path=file.new, content=after)


def _after(file: FilePatch, path: str, read: Callable[[str], str | None], revision: Callable[[str], int]) -> str:
    content = read(path)
    if content is None:
        raise StalePatch(
            f"there is no file {_quoted(path)}; to make a new file, write `--- {NOWHERE}` above its +++ "
            "line. Nothing was applied.",
            current=revision(path),
        )
    after = apply_file(file, content, current=revision(path))
    if file.new is None and after:
        raise StalePatch(
            f"the patch deletes {_quoted(path)} but does not remove all of its lines; what would be left "
            f"starts with {_quoted(_split(after)[0])}. Read the file again and remove every line. "
            "Nothing was applied.",
            current=revision(path),
        )
    return after


def _places(file: FilePatch, content: str, lines: Sequence[str], current: int) -> list[int]:
    """Where each hunk belongs, as line indexes in rising order without overlap."""
    stated = [hunk.start - 1 if hunk.old else 0 for hunk in file.hunks]
    fit = all(_fits(hunk, place, lines) for hunk, place in zip(file.hunks, stated, strict=True))
    if fit and _rising(file.hunks, stated) is None:
        return stated
    # One wrong line number shows that the file has moved (or that they were guessed), so none of this
    # file's numbers is evidence any more. The lines themselves are: a hunk whose whole old side stands in
    # exactly one place can mean no other. With two places, either choice could be the wrong edit.
    candidates = [_candidates(file, hunk, content, lines, current) for hunk in file.hunks]
    found = [_only(file, hunk, places, current) for hunk, places in zip(file.hunks, candidates, strict=True)]
    if (bad := _rising(file.hunks, found)) is not None:
        raise _stale(
            file,
            file.hunks[bad],
            f"its lines stand at line {found[bad] + 1}, which is not below the hunk before it; "
            "order the hunks as the file is ordered, and let them not overlap",
            current,
        )
    return found


def _rising(hunks: Sequence[Hunk], places: Sequence[int]) -> int | None:
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


def _candidates(file: FilePatch, hunk: Hunk, content: str, lines: Sequence[str], current: int) -> list[int]:
    if not hunk.old:
        raise _stale(
            file,
            hunk,
            f"it has no context and no removed lines, so it fits an empty file only, and this one is "
            f"{len(lines)} lines long; put an unchanged line beside the added ones",
            current,
        )
    places = _search(hunk, content)
    if not places:
        raise _stale(file, hunk, _mismatch(hunk, lines), current)
    return places


def _only(file: FilePatch, hunk: Hunk, places: Sequence[int], current: int) -> int:
    if len(places) > 1:
        numbers = ", ".join(str(place + 1) for place in places[: _NAMED - 1])
        more = " and more" if len(places) == _NAMED else ""
        raise _stale(
            file,
            hunk,
            f"the line numbers of the patch are not those of the file, and this hunk's lines stand in more "
            f"than one place (lines {numbers}{more}); correct the numbers in the @@ lines, or add context",
            current,
        )
    return places[0]


def _search(hunk: Hunk, content: str) -> list[int]:
    """The places where the whole old side stands, the first few of them."""
    # A newline in front makes every match start at the start of a line. Searching text, not a list of
    # lines, keeps this linear in files that repeat themselves.
    text, block = "\n" + content, "\n" + "".join(hunk.old)
    if hunk.ends_file:
        return [text.count("\n", 0, len(text) - len(block))] if text.endswith(block) else []
    places: list[int] = []
    at = text.find(block)
    while at >= 0 and len(places) < _NAMED:
        places.append(text.count("\n", 0, at))
        at = text.find(block, at + 1)
    return places


def _mismatch(hunk: Hunk, lines: Sequence[str]) -> str:
    """Say which line differs, at the place that the hunk most likely means."""
    old = hunk.old
    place = _likeliest(hunk, lines)
    for number, expected in enumerate(old, place + 1):
        if number > len(lines):
            return f"line {number} should read {_quoted(expected)}, but the file ends after line {len(lines)}"
        if lines[number - 1] != expected:
            return f"line {number} should read {_comparison(expected, lines[number - 1])}"
    last = place + len(old)
    return (
        f"it says that the file ends after line {last} (`{_NO_NEWLINE}`), "
        f"but line {last + 1} reads {_quoted(lines[last])}"
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
        if len(where.get(line, ())) <= _COMMON:
            votes.update(index - offset for index in where.get(line, ()) if index >= offset)
    return max(votes, key=lambda place: (votes[place], -abs(place - stated)))


def _comparison(expected: str, found: str) -> str:
    # Long lines are shown from just before the point where they part, or both would look the same.
    shorter = min(len(expected), len(found))
    part = next((at for at in range(shorter) if expected[at] != found[at]), shorter)
    start = max(0, part - _SHOWN // 2) if max(len(expected), len(found)) > _SHOWN else 0
    text = f"{_quoted(expected, start)} but reads {_quoted(found, start)}"
    if expected == f"{found}\n":
        return f"{text} without a newline (put the line `{_NO_NEWLINE}` below it)"
    if found == f"{expected}\n":
        return f"{text} with a newline (leave out the line `{_NO_NEWLINE}`)"
    if expected.rstrip("\r\n") == found.rstrip("\r\n"):
        return f"{text} (they differ only in how the line ends)"
    if expected.split() == found.split():
        return f"{text} (they differ only in white space)"
    return text


def _stale(file: FilePatch, hunk: Hunk, why: str, current: int) -> StalePatch:
    return StalePatch(
        f"{_quoted(file.path)}, hunk {hunk.number} ({hunk.header}) does not fit the file at revision "
        f"{current}: {why}. Read the file again and make the patch from what stands there. "
        "Nothing was applied.",
        current=current,
    )


# --- reading ----------------------------------------------------------------------------------------


class _Cursor:
    """The lines of a patch, taken one by one."""

    def __init__(self, patch: str) -> None:
        self._lines = patch.removesuffix("\n").split("\n") if patch else []
        self._at = 0

    @property
    def number(self) -> int:
        """The number of the next line, from 1, for messages."""
        return self._at + 1

    def peek(self, ahead: int = 0) -> str | None:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else None

    def take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def starts(self, prefix: str | tuple[str, ...], ahead: int = 0) -> bool:
        return (self.peek(ahead) or "").startswith(prefix)

    def skip_blank(self) -> bool:
        """Pass over blank lines and say whether anything follows."""
        while (line := self.peek()) is not None and not line.strip():
            self._at += 1
        return line is not None

    def at_names(self) -> bool:
        return self.starts("--- ") and self.starts("+++ ", 1)

    def at_surplus(self) -> bool:
        """Whether a line of a hunk follows where the counts of its header allow none."""
        return self.starts((" ", "+", "-")) and not self.at_names()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """The names above the hunks; `whole` if they are a change even without hunks."""

    old: str | None
    new: str | None
    whole: bool = False


def _file(cursor: _Cursor) -> FilePatch:
    number = cursor.number
    header = _header(cursor)
    path = header.old if header.old is not None else header.new
    hunks: list[Hunk] = []
    while cursor.skip_blank() and cursor.starts("@@"):
        hunks.append(_hunk(cursor, path or "", len(hunks) + 1))
    file = FilePatch(old=header.old, new=header.new, hunks=tuple(hunks))
    if problem := _problem(file, header.whole):
        raise InvalidPatch(f"{_quoted(path or '')} (line {number} of the patch): {problem}")
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
        return f"`{_NO_NEWLINE}` stands before the last hunk"
    return None


def _header(cursor: _Cursor) -> _Header:
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
        f"line {cursor.number} of the patch is not part of a unified diff: {_quoted(cursor.take())}; send "
        "the diff alone, without prose or code fences, and check the counts of the hunk above this line"
    )


def _git(cursor: _Cursor) -> _Header:
    number = cursor.number
    names = cursor.take().rstrip("\r").removeprefix("diff --git ")
    details: dict[str, str] = {}
    while match := _GIT_DETAIL.match((cursor.peek() or "").rstrip("\r")):
        details[match[1]] = match[2] or ""
        cursor.take()
    said = _said(names, details, number)
    if not cursor.at_names():
        if said is None:
            raise InvalidPatch(
                f"line {number} of the patch: `diff --git` is followed by no change that can be applied; "
                "--- and +++ lines with hunks, a new or deleted file or a rename can"
            )
        return said
    if said is None:
        return _names(cursor)
    if _pair(cursor) != (said.old, said.new):
        raise InvalidPatch(f"line {number} of the patch: the git header and its --- and +++ lines disagree")
    return said


def _said(names: str, details: Mapping[str, str], number: int) -> _Header | None:
    """The names as git's extended header gives them, None if it leaves them to --- and +++."""
    if refused := details.keys() & {"copy from", "copy to", "Binary files", "GIT binary patch"}:
        raise InvalidPatch(f"line {number} of the patch: {min(refused)!r} cannot be applied; only text changes can")
    if "rename from" in details and "rename to" in details:
        old, new = _unquoted(details["rename from"]), _unquoted(details["rename to"])
        if old == new or not old or not new:
            raise InvalidPatch(f"line {number} of the patch: a rename needs two different paths")
        return _Header(old=old, new=new, whole=True)
    if "new file mode" in details:
        return _Header(old=None, new=_git_name(names, number), whole=True)
    if "deleted file mode" in details:
        return _Header(old=_git_name(names, number), new=None, whole=True)
    return None


def _git_name(names: str, number: int) -> str:
    """The one path in `a/PATH b/PATH`."""
    # Spaces are not quoted, so only the middle tells the two names apart; they are equally long.
    middle = len(names) // 2
    old, new = _unprefixed(_unquoted(names[:middle]), _unquoted(names[middle + 1 :]))
    if not old or old != new or names[middle] != " ":
        raise InvalidPatch(f"line {number} of the patch: `diff --git` should name one path twice: {_quoted(names)}")
    return old


def _names(cursor: _Cursor) -> _Header:
    number = cursor.number
    old, new = _pair(cursor)
    if old is None and new is None:
        raise InvalidPatch(f"line {number} of the patch: {NOWHERE} cannot stand on both sides")
    if old is not None and new is not None and old != new:
        raise InvalidPatch(
            f"line {number} of the patch: --- names {_quoted(old)} but +++ names {_quoted(new)}; name one "
            "file, or rename it with `diff --git`, `rename from` and `rename to` lines"
        )
    return _Header(old=old, new=new)


def _pair(cursor: _Cursor) -> tuple[str | None, str | None]:
    number = cursor.number
    old, new = _unprefixed(_name(cursor.take()), _name(cursor.take()))
    if old == "" or new == "":
        raise InvalidPatch(f"line {number} of the patch: a path is missing after --- or +++")
    return old, new


def _name(line: str) -> str | None:
    """The name in a --- or +++ line, without the time stamp after its tab."""
    name = _unquoted(line[4:].rstrip("\r").split("\t", 1)[0])
    return None if name == NOWHERE else name


def _unprefixed(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    # Only the pair is git's: with `--- a/x` and `+++ a/x`, a/ is a directory of that name.
    if (old or "a/").startswith("a/") and (new or "b/").startswith("b/"):
        return old and old[2:], new and new[2:]
    return old, new


def _hunk(cursor: _Cursor, path: str, number: int) -> Hunk:
    where = f"{_quoted(path)}, hunk {number} (line {cursor.number} of the patch)"
    header = cursor.take().rstrip("\r")
    match = _HUNK.match(header)
    if match is None:
        raise InvalidPatch(f"{where}: {_quoted(header)} should read @@ -start,count +start,count @@")
    start, *counts = (1 if group is None else int(group) for group in match.groups())
    hunk = Hunk(number=number, start=start, header=match[0], lines=_body(cursor, counts[0], counts[2]))
    if (found := [len(hunk.old), len(hunk.new)]) != [counts[0], counts[2]]:
        raise InvalidPatch(
            f"{where}: the counts in {match[0]} do not add up: it promises {counts[0]} old and {counts[2]} "
            f"new lines, but {found[0]} old and {found[1]} new lines follow; correct the counts or the lines"
        )
    if problem := _hunk_problem(hunk):
        raise InvalidPatch(f"{where}: {problem}")
    return hunk


def _hunk_problem(hunk: Hunk) -> str | None:
    if hunk.old == hunk.new:
        return "it changes nothing; start removed lines with - and added lines with +"
    if any(not text.endswith("\n") for side in (hunk.old, hunk.new) for text in side[:-1]):
        return f"`{_NO_NEWLINE}` stands before the last line"
    if any(not line.text for line in hunk.lines):
        return f"`{_NO_NEWLINE}` follows an empty line, which would be no line at all"
    return None


def _body(cursor: _Cursor, old: int, new: int) -> tuple[Line, ...]:
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


def _line(cursor: _Cursor) -> Line | None:
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


# --- making -----------------------------------------------------------------------------------------


def _rendered(group: Sequence[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str]) -> str:
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
    parts = [f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"]
    for tag, i, j, k, m in group:
        if tag == "equal":
            parts += [_marked(" ", text) for text in old[i:j]]
        else:
            parts += [_marked("-", text) for text in old[i:j]]
            parts += [_marked("+", text) for text in new[k:m]]
    return "".join(parts)


def _range(start: int, end: int) -> str:
    count = end - start
    # By convention an empty range names the line before it.
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"


def _marked(op: Op, text: str) -> str:
    return f"{op}{text}" if text.endswith("\n") else f"{op}{text}\n{_NO_NEWLINE}\n"


def _git_header(old: str, new: str) -> str:
    """The lines that say more than --- and +++ can; an empty file, for one, has no hunk to be created by."""
    if old == new:
        return ""
    names = [_escaped(f"a/{new if old == NOWHERE else old}"), _escaped(f"b/{old if new == NOWHERE else new}")]
    first = f"diff --git {' '.join(names)}\n"
    if old == NOWHERE:
        return f"{first}new file mode 100644\n"
    if new == NOWHERE:
        return f"{first}deleted file mode 100644\n"
    return f"{first}rename from {_escaped(old)}\nrename to {_escaped(new)}\n"


def _side(prefix: str, name: str) -> str:
    if name == NOWHERE:
        return name
    # The tab keeps other tools from ending the name at its first space.
    return _escaped(prefix + name) + ("\t" if " " in name else "")


def _escaped(name: str) -> str:
    """Quote a name as git does if a header line could not carry it otherwise."""
    if not _UNSAFE.search(name):
        return name
    return '"' + _UNSAFE.sub(lambda match: f"\\{ord(match[0]):03o}", name) + '"'


def _unquoted(name: str) -> str:
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    try:
        return _ESCAPE.sub(_unescaped, name[1:-1].encode()).decode()
    except UnicodeError as error:
        raise InvalidPatch(f"the quoted path {name} is not UTF-8") from error


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _LETTERS.get(code, code)


def _split(text: str) -> list[str]:
    r"""The lines with their newlines; unlike str.splitlines, "\r" or U+2028 end none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _quoted(text: str, start: int = 0) -> str:
    """Show a line or path so that white space and missing newlines can be seen."""
    shown = text.removesuffix("\n")[start:]
    cut = shown[:_SHOWN] + ("…" if len(shown) > _SHOWN else "")
    return json.dumps(("…" if start else "") + cut, ensure_ascii=False)
