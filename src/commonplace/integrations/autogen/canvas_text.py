"""What a model reads of a canvas, and the patches that it writes for one file."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.canvas import Canvas
from commonplace.errors import InvalidInput, InvalidPatch, NotFound, StalePatch
from commonplace.text import patch
from commonplace.values import File

_SHOWN = 8_000
"""Characters of a file that the message about a stale patch shows: enough to patch again, not enough to flood."""
_NO_CODE = ("```", "~~~")


def snapshot(files: Sequence[File]) -> str:
    """Every file with its revision and text, in the form that TextCanvas has."""
    shown = [f"File: {file.path} (rev {file.revision}):\n{file.content}\n" for file in files]
    return "\n".join(["=== CANVAS FILES ===", *shown, "=== END OF CANVAS ==="])


def text(given: str | bytes) -> str:
    """The text of what a caller gave as str or bytes."""
    if isinstance(given, bytes):
        return given.decode("utf-8")
    if not isinstance(given, str):
        raise InvalidInput(f"a file or a patch is str or bytes, not {type(given).__name__}")
    return given


def apply(canvas: Canvas, filename: str, patch_text: str, author: str | None) -> File:
    """Apply a patch to the file that is named, whatever name its header gives, all or nothing."""
    file = _file(canvas, filename)
    change = _only(patch_text, filename)
    try:
        after = patch.apply_file(change, file.content, current=file.revision)
    except StalePatch as error:
        raise StalePatch(f"{error}\n{_now(file)}", current=file.revision) from error
    return canvas.write(filename, after, author=author, if_version=file.revision)


def _file(canvas: Canvas, filename: str) -> File:
    try:
        return canvas.file(filename)
    except NotFound as error:
        there = ", ".join(sorted(canvas.files())) or "none"
        raise NotFound(
            f"there is no file {filename!r} on the canvas; create it with update_file first. Files: {there}"
        ) from error


def _only(patch_text: str, filename: str) -> patch.FilePatch:
    """The one file's change in a patch; names are corrected, since models write them in many ways."""
    lines = [line for line in patch_text.splitlines(keepends=True) if not line.startswith(_NO_CODE)]
    if lines and lines[0].startswith("@@"):
        lines = [f"--- {filename}\n", f"+++ {filename}\n", *lines]
    changes = patch.parse("".join(_renamed(lines, filename)))
    if len(changes) != 1:
        raise InvalidPatch(f"the patch changes {len(changes)} files: send one patch for each, here for {filename!r}")
    return changes[0]


def _renamed(lines: list[str], filename: str) -> list[str]:
    """The header lines with the file's own name on both sides, if they are the header of one file."""
    heads = [at for at in range(len(lines) - 1) if lines[at][:4] == "--- " and lines[at + 1][:4] == "+++ "]
    if len(heads) == 1:
        lines = list(lines)
        lines[heads[0] : heads[0] + 2] = [f"--- {filename}\n", f"+++ {filename}\n"]
    return lines


def _now(file: File) -> str:
    shown = file.content if len(file.content) <= _SHOWN else f"{file.content[:_SHOWN]}\n[…]"
    return f"{file.path!r} is at revision {file.revision} and reads now:\n{shown}"
