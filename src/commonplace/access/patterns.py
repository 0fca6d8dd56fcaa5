"""Patterns of names, such as "agents-*": a star stands for any characters, also none; all else for itself."""

from __future__ import annotations

from functools import lru_cache

from commonplace.store.tables.spaces import RESERVED

STAR = "*"


def matches(pattern: str, space: str) -> bool:
    """Whether a pattern names a space; one that commonplace keeps for itself is named by none."""
    return not space.startswith(RESERVED) and _fits(pattern, space)


def covers(pattern: str, other: str) -> bool:
    """Whether every space that `other` names is named by `pattern`, too."""
    # Only a star takes in a star: whatever the other's star stands for, ours can stand for it as well.
    return _fits(pattern, other)


def _fits(pattern: str, text: str) -> bool:
    first, *rest = _parts(pattern)
    if not rest:
        return text == first
    *middle, last = rest
    if not text.startswith(first):
        return False
    at = len(first)
    for part in middle:  # the leftmost place leaves the most room for what follows
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(last) and text.endswith(last)


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.split(STAR))
