"""Sequence numbers in blocks: each connection takes a whole block from the database and hands it out by itself.

One counter for all would make every writer wait for every other. So numbers say nothing about the order of
commits here; they only tell versions apart. A block belongs to a connection, not to a process: a server that
crashes may forget that it gave one out, and breaks the connection that got it.
"""

from __future__ import annotations

from commonplace.errors import TooLarge
from commonplace.store.base import Tx

_BITS = 24
"""A block has 16 million numbers; there are 2^39 blocks."""


class Blocks:
    """The numbers that one connection may give out."""

    def __init__(self) -> None:
        self._next = 0
        self._end = 0

    def take(self, tx: Tx, count: int) -> int:
        """Reserve `count` numbers in a row and return the first."""
        if count > 1 << _BITS:
            raise TooLarge(f"{count:,} memories at once are too many: write them in several calls")
        if self._next + count > self._end:
            ((block,),) = tx.run("SELECT nextval('block')")
            self._next, self._end = block << _BITS, (block + 1) << _BITS
        first = self._next
        self._next += count
        return first
