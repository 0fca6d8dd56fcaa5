"""Unified diffs: made, parsed, and applied whole or not at all. Pure text, no I/O."""

from __future__ import annotations

from commonplace.text.patch.application import FileChange, Revisions, apply, apply_file
from commonplace.text.patch.unified import NOWHERE, FilePatch, Hunk, PatchLine, diff, parse

__all__ = [
    "NOWHERE",
    "FileChange",
    "FilePatch",
    "Hunk",
    "PatchLine",
    "Revisions",
    "apply",
    "apply_file",
    "diff",
    "parse",
]
