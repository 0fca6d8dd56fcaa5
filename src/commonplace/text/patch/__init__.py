"""Unified diffs: made, read, and applied whole or not at all. Pure text, no I/O."""

from __future__ import annotations

from commonplace.text.patch.applying import apply, apply_file
from commonplace.text.patch.making import diff
from commonplace.text.patch.reading import parse
from commonplace.text.patch.values import NOWHERE, Change, FilePatch, Hunk, Line, Revisions

__all__ = [
    "NOWHERE",
    "Change",
    "FilePatch",
    "Hunk",
    "Line",
    "Revisions",
    "apply",
    "apply_file",
    "diff",
    "parse",
]
