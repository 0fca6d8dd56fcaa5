"""What people and models say, made fit for a book."""

from __future__ import annotations

_LONGEST = 4_000
"""Characters of a question: of a long message its beginning and its end, where people ask."""


def readable(text: str) -> str:
    """The text with NULs and lone surrogates replaced: a user's slip must not end the turn."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def shortened(text: str) -> str:
    """The text as a question: of a long one only what stands at its beginning and its end."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
