r"""The parts of a unified diff, and how to make one.

A line ends at "\n" and nowhere else; a "\r" before it belongs to the line, so CRLF files stay CRLF.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

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

Op = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a hunk with its newline; only a file's last line may have none."""

    op: Op
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One place to change: the lines `old` are replaced by the lines `new`."""

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


def unquote(name: str) -> str:
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
