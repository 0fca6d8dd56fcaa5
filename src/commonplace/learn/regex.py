"""Patterns that can be read: broken over lines where they like, with `_` for a space."""

from __future__ import annotations

import re


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern in which white space stands for nothing and `_` for one space."""
    return re.compile("".join(pattern.split()).replace("_", " "), flags)
