"""Unified diffs: made, parsed, and applied whole or not at all. Pure text, no I/O."""

from __future__ import annotations

from commonplace.text.patch.application import Change, Revisions, apply, apply_file
from commonplace.text.patch.parser import parse
from commonplace.text.patch.unified import NOWHERE, FilePatch, Hunk, Line, diff

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
