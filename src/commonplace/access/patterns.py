"""Patterns of names, such as "agents-*": a star matches any characters, also none."""

from __future__ import annotations

from functools import lru_cache

from commonplace.store.tables.spaces import RESERVED

STAR = "*"


def matches(pattern: str, space: str) -> bool:
    """Tell whether a pattern matches a space; none matches a reserved one."""
    return not space.startswith(RESERVED) and _fits(pattern, space)


def covers(pattern: str, other: str) -> bool:
    """Tell whether `pattern` matches every space that `other` matches."""
    # Only a star matches a star: whatever the other's star matches, ours can match as well.
    return _fits(pattern, other)


def _fits(pattern: str, text: str) -> bool:
    first, *rest = _parts(pattern)
    if not rest:
        return text == first
    *middle, last = rest
    if not text.startswith(first):
        return False
    at = len(first)
    for part in middle:  # the leftmost match leaves the most text for what follows
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(last) and text.endswith(last)


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.split(STAR))
