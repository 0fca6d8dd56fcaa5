"""Pages by offset, as two of the dialects ask for them; a book pages by cursor."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.book import Book
from commonplace.values import Memory, Within

_MOST = 10_000
"""The longest page that a book gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The memories from an offset on."""

    memories: list[Memory]
    total: int | None
    """How many there are; None if nobody wanted to know."""
    more: bool


def window(book: Book, *, within: Within | None, offset: int, limit: int, counted: bool = False) -> Window:
    """Memories from an offset on, the newest first, read once; what lies before them is read, too.

    A book knows how many memories its whole space has. How many a part of it has is known at its end, so that a window
    that is `counted` there is read to the end.
    """
    taken: list[Memory] = []
    seen, cursor = 0, None
    wanted, to_the_end = offset + limit, counted and within is not None
    while True:
        page = book.list(within=within, limit=_MOST if to_the_end else min(_MOST, wanted - seen), cursor=cursor)
        taken += page.memories[max(offset - seen, 0) : max(wanted - seen, 0)]
        seen, cursor = seen + len(page), page.cursor
        if cursor is None or (seen >= wanted and not to_the_end):
            break
    return Window(memories=taken, total=_total(book, within, seen) if counted else None, more=cursor is not None)


def _total(book: Book, within: Within | None, seen: int) -> int:
    return seen if within is not None else book.stats().memories
