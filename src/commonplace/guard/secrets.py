"""Keys, tokens and passwords in a text, taken out before it is kept."""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.guard import formats, marks, named, placed
from commonplace.guard.marks import Redacted, Secret
from commonplace.guard.patterns import lowered

__all__ = ["Redacted", "Secret", "redact"]


def redact(text: str) -> Redacted:
    """Put a mark such as "[redacted: github token]" in the place of every secret, and change nothing else.

    Time grows with the length of the text and no faster. What is redacted stays as it is when redacted again.
    """
    return marks.redacted(text, _find)


def _find(text: str) -> Iterator[Secret]:
    # The form tells most about what it is, so that it comes first; a name tells least.
    yield from formats.find(text)
    small = lowered(text)
    yield from placed.find(text, small)
    yield from named.find(text, small)
