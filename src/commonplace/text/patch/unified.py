r"""The format of unified diffs: their parts, how to make one, and how to parse one.

A line ends at "\n" and nowhere else; a "\r" before it belongs to the line, so CRLF files stay CRLF.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, cast

from commonplace.errors import InvalidPatch

NOWHERE = "/dev/null"
"""The name for the missing side of a created or deleted file."""
NO_NEWLINE = "\\ No newline at end of file"
"""The line of a diff below a line that has none."""
SHOWN = 160
"""Characters of a line that a message shows at most."""

_CONTEXT = 3
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\]')
_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_NOISE = re.compile(r"diff -(?!-git )|Index: |={10,}$")
_GIT_DETAIL = re.compile(
    r"(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to"
    r"|similarity index|dissimilarity index|index|Binary files|GIT binary patch)(?: (.*))?$"
)

Op = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchLine:
    """One line of a hunk with its newline; only a file's last line may have none."""

    op: Op
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One place to change: the lines `old` are replaced by the lines `new`."""

    number: int
    start: int
    header: str
    lines: tuple[PatchLine, ...]

    @property
    def old(self) -> list[str]:
        return [line.text for line in self.lines if line.op != "+"]

    @property
    def new(self) -> list[str]:
        return [line.text for line in self.lines if line.op != "-"]

    @property
    def ends_file(self) -> bool:
        """Whether the hunk says that no line follows it: one side has no newline at its end."""
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


def diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Make the unified diff with which `apply` turns `old` into `new`; "" if they are equal.

    The names are plain paths without `a/` and `b/`. NOWHERE as a name creates or deletes the file, and two
    different names rename it.
    """
    before, after = split_lines(old), split_lines(new)
    # SequenceMatcher does not anchor on lines that fill a long file (blank ones, braces). Otherwise the time would
    # grow with the square of their number, and the diff is right either way.
    groups = SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT)
    hunks = "".join(_render_hunk(group, before, after) for group in groups)
    if hunks:
        hunks = f"--- {_side('a/', old_name)}\n+++ {_side('b/', new_name)}\n{hunks}"
    return _git_header(old_name, new_name) + hunks


def _render_hunk(group: Sequence[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str]) -> str:
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
    parts = [f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"]
    for tag, i, j, k, m in group:
        if tag == "equal":
            parts += [_render_line(" ", text) for text in old[i:j]]
        else:
            parts += [_render_line("-", text) for text in old[i:j]]
            parts += [_render_line("+", text) for text in new[k:m]]
    return "".join(parts)


def _range(start: int, end: int) -> str:
    count = end - start
    # By convention an empty range names the line before it.
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"


def _render_line(op: Op, text: str) -> str:
    return f"{op}{text}" if text.endswith("\n") else f"{op}{text}\n{NO_NEWLINE}\n"


def _git_header(old: str, new: str) -> str:
    """Return the lines that say more than --- and +++ can: an empty file, for one, has no hunk that creates it."""
    if old == new:
        return ""
    if old == NOWHERE:
        return f"{_git_line(new, new)}new file mode 100644\n"
    if new == NOWHERE:
        return f"{_git_line(old, old)}deleted file mode 100644\n"
    return f"{_git_line(old, new)}rename from {_escape(old)}\nrename to {_escape(new)}\n"


def _git_line(old: str, new: str) -> str:
    return f"diff --git {_escape(f'a/{old}')} {_escape(f'b/{new}')}\n"


def _side(prefix: str, name: str) -> str:
    if name == NOWHERE:
        return name
    # The tab keeps other tools from ending the name at its first space.
    return _escape(prefix + name) + ("\t" if " " in name else "")


def _escape(name: str) -> str:
    """Quote a name as git does if a header line could not carry it otherwise."""
    if not _UNSAFE.search(name):
        return name
    return '"' + _UNSAFE.sub(lambda match: f"\\{ord(match[0]):03o}", name) + '"'


def _unquote(name: str) -> str:
    """Return a path of a header line without git's quotes and escapes."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    try:
        return _ESCAPE.sub(_unescape, name[1:-1].encode()).decode()
    except UnicodeError as error:
        raise InvalidPatch(f"the quoted path {name} is not UTF-8") from error


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _LETTERS.get(code, code)


def split_lines(text: str) -> list[str]:
    r"""Return the lines with their newlines; unlike str.splitlines, "\r" or U+2028 end none."""
    return list(io.StringIO(text, newline="\n"))


def quote(text: str, start: int = 0) -> str:
    """Return a line or path for a message, with white space and missing newlines visible."""
    shown = text.removesuffix("\n")[start:]
    cut = shown[:SHOWN] + ("…" if len(shown) > SHOWN else "")
    return json.dumps(("…" if start else "") + cut, ensure_ascii=False)


def parse(patch: str) -> tuple[FilePatch, ...]:
    """Parse a unified diff over one or several files, each named once; anything else is InvalidPatch."""
    cursor = _Cursor(patch)
    files: list[FilePatch] = []
    while cursor.skip_blank():
        files.append(_parse_file(cursor))
    if not files:
        raise InvalidPatch("the patch is empty; send a unified diff with ---, +++ and @@ lines")
    for path, times in Counter(path for file in files for path in file.paths).items():
        if times > 1:
            raise InvalidPatch(
                f"the patch names {quote(path)} in {times} places; put all hunks of a file under one header"
            )
    return tuple(files)


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
        """Pass over blank lines and return whether anything follows."""
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


def _parse_file(cursor: _Cursor) -> FilePatch:
    number = cursor.number
    header = _parse_header(cursor)
    path = header.old or header.new or ""
    hunks: list[Hunk] = []
    while cursor.skip_blank() and cursor.starts("@@"):
        hunks.append(_parse_hunk(cursor, path, len(hunks) + 1))
    file = FilePatch(old=header.old, new=header.new, hunks=tuple(hunks))
    if problem := _file_problem(file, header.whole):
        raise InvalidPatch(f"{quote(path)} (line {number} of the patch): {problem}")
    return file


def _file_problem(file: FilePatch, whole: bool) -> str | None:
    """Return what makes the hunks of a file contradict its header or each other."""
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
        return f"`{NO_NEWLINE}` comes before the last hunk"
    return None


def _parse_header(cursor: _Cursor) -> _Header:
    while _NOISE.match(cursor.peek() or ""):
        cursor.take()
    if cursor.starts("diff --git "):
        return _parse_git_header(cursor)
    if cursor.at_names():
        return _parse_plain_header(cursor)
    if cursor.starts("@@"):
        raise InvalidPatch(
            f"line {cursor.number} of the patch is a hunk without a file; write `--- a/PATH` and `+++ b/PATH` above it"
        )
    if cursor.peek() is None:
        raise InvalidPatch("the patch ends where `--- a/PATH` and `+++ b/PATH` are expected")
    raise InvalidPatch(
        f"line {cursor.number} of the patch is not part of a unified diff: {quote(cursor.take())}; send "
        "the diff alone, without prose or code fences, and check the counts of the hunk above this line"
    )


def _parse_git_header(cursor: _Cursor) -> _Header:
    number = cursor.number
    names = cursor.take().rstrip("\r").removeprefix("diff --git ")
    details: dict[str, str] = {}
    while match := _GIT_DETAIL.match((cursor.peek() or "").rstrip("\r")):
        details[match[1]] = match[2] or ""
        cursor.take()
    header = _parse_extended_header(names, details, number)
    if cursor.at_names():
        if header is None:
            return _parse_plain_header(cursor)
        if _name_pair(cursor) != (header.old, header.new):
            raise _invalid(number, "the git header and its --- and +++ lines disagree")
    elif header is None:
        raise _invalid(
            number,
            "`diff --git` is followed by no change that can be applied; "
            "--- and +++ lines with hunks, a new or deleted file or a rename can",
        )
    return header


def _parse_extended_header(names: str, details: Mapping[str, str], number: int) -> _Header | None:
    """Return the names of git's extended header; None if it leaves them to --- and +++."""
    if refused := details.keys() & {"copy from", "copy to", "Binary files", "GIT binary patch"}:
        raise _invalid(number, f"{min(refused)!r} cannot be applied; only text changes can")
    if "rename from" in details and "rename to" in details:
        old, new = _unquote(details["rename from"]), _unquote(details["rename to"])
        if old == new or not old or not new:
            raise _invalid(number, "a rename needs two different paths")
        return _Header(old=old, new=new, whole=True)
    if "new file mode" in details:
        return _Header(old=None, new=_git_name(names, number), whole=True)
    if "deleted file mode" in details:
        return _Header(old=_git_name(names, number), new=None, whole=True)
    return None


def _git_name(names: str, number: int) -> str:
    """Return the one path in `a/PATH b/PATH`."""
    # Spaces are not quoted, so only the middle tells the two names apart; they are equally long.
    middle = len(names) // 2
    old, new = _strip_prefixes(_unquote(names[:middle]), _unquote(names[middle + 1 :]))
    if not old or old != new or names[middle] != " ":
        raise _invalid(number, f"`diff --git` should name one path twice: {quote(names)}")
    return old


def _parse_plain_header(cursor: _Cursor) -> _Header:
    number = cursor.number
    old, new = _name_pair(cursor)
    if old is None and new is None:
        raise _invalid(number, f"{NOWHERE} cannot be on both sides")
    if old is not None and new is not None and old != new:
        raise _invalid(
            number,
            f"--- names {quote(old)} but +++ names {quote(new)}; name one "
            "file, or rename it with `diff --git`, `rename from` and `rename to` lines",
        )
    return _Header(old=old, new=new)


def _name_pair(cursor: _Cursor) -> tuple[str | None, str | None]:
    number = cursor.number
    old, new = _strip_prefixes(_name(cursor.take()), _name(cursor.take()))
    if old == "" or new == "":
        raise _invalid(number, "a path is missing after --- or +++")
    return old, new


def _name(line: str) -> str | None:
    """Return the name in a --- or +++ line, without the time stamp after its tab."""
    name = _unquote(line[4:].rstrip("\r").split("\t", 1)[0])
    return None if name == NOWHERE else name


def _strip_prefixes(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    # Only the pair is git's: with `--- a/x` and `+++ a/x`, a/ is a directory of that name.
    if (old or "a/").startswith("a/") and (new or "b/").startswith("b/"):
        return old and old[2:], new and new[2:]
    return old, new


def _invalid(number: int, why: str) -> InvalidPatch:
    return InvalidPatch(f"line {number} of the patch: {why}")


def _parse_hunk(cursor: _Cursor, path: str, number: int) -> Hunk:
    where = f"{quote(path)}, hunk {number} (line {cursor.number} of the patch)"
    header = cursor.take().rstrip("\r")
    match = _HUNK.match(header)
    if match is None:
        raise InvalidPatch(f"{where}: {quote(header)} should read @@ -start,count +start,count @@")
    start, old, _, new = (1 if group is None else int(group) for group in match.groups())
    hunk = Hunk(number=number, start=start, header=match[0], lines=_parse_body(cursor, old, new))
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
        return f"`{NO_NEWLINE}` comes before the last line"
    if any(not line.text for line in hunk.lines):
        return f"`{NO_NEWLINE}` follows an empty line, which is not a line"
    return None


def _parse_body(cursor: _Cursor, old: int, new: int) -> tuple[PatchLine, ...]:
    """Return the lines of a hunk: as many as promised, and any surplus, for the caller to count."""
    lines: list[PatchLine] = []
    while old > 0 or new > 0 or cursor.at_surplus():
        line = _parse_line(cursor)
        if line is None:
            break
        old -= line.op != "+"
        new -= line.op != "-"
        lines.append(line)
    return tuple(lines)


def _parse_line(cursor: _Cursor) -> PatchLine | None:
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
    return PatchLine(op=cast(Op, raw[0]), text=raw[1:] + newline)
