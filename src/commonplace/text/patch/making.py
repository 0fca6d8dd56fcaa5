"""Making a unified diff of two texts."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from commonplace.text.patch.names import escaped
from commonplace.text.patch.text import NO_NEWLINE, split
from commonplace.text.patch.values import NOWHERE, Op

_CONTEXT = 3


def diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Make the unified diff that `apply` turns `old` into `new` with; "" if there is nothing to change.

    The names are plain paths and get their `a/` and `b/` here; NOWHERE as a name creates or deletes the
    file, and two different names rename it.
    """
    before, after = split(old), split(new)
    # Lines that fill a long file (blank ones, braces) are not used as anchors, which is SequenceMatcher's
    # default: without it the time grows with the square of their number, and the diff is right either way.
    groups = SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT)
    hunks = "".join(_rendered(group, before, after) for group in groups)
    if hunks:
        hunks = f"--- {_side('a/', old_name)}\n+++ {_side('b/', new_name)}\n{hunks}"
    return _git_header(old_name, new_name) + hunks


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
    return f"{op}{text}" if text.endswith("\n") else f"{op}{text}\n{NO_NEWLINE}\n"


def _git_header(old: str, new: str) -> str:
    """The lines that say more than --- and +++ can; an empty file, for one, has no hunk to be created by."""
    if old == new:
        return ""
    if old == NOWHERE:
        return f"{_git_line(new, new)}new file mode 100644\n"
    if new == NOWHERE:
        return f"{_git_line(old, old)}deleted file mode 100644\n"
    return f"{_git_line(old, new)}rename from {escaped(old)}\nrename to {escaped(new)}\n"


def _git_line(old: str, new: str) -> str:
    return f"diff --git {escaped(f'a/{old}')} {escaped(f'b/{new}')}\n"


def _side(prefix: str, name: str) -> str:
    if name == NOWHERE:
        return name
    # The tab keeps other tools from ending the name at its first space.
    return escaped(prefix + name) + ("\t" if " " in name else "")
