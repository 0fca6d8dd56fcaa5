"""The interface of a candidate. Nothing heavy is imported here, because imports are timed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from corpus import Question, Row

K = 10
OPERATIONS = ("vector", "both", "space_vector", "space_both")


class Peer:
    """One candidate, open on one store. Each method does all of what its name says, durably."""

    missing: ClassVar[dict[str, str]] = {}
    """Operations that the candidate does not offer, each with the reason."""
    notes: ClassVar[tuple[str, ...]] = ()
    piece: ClassVar[int] = 1_000
    """How many rows it is filled with at once."""
    together: ClassVar[int] = 8
    """How many asynchronous calls it bears at a time."""

    def __init__(self, folder: Path, dimension: int) -> None:
        raise NotImplementedError

    def add(self, row: Row) -> object:
        """Add one row; when this returns, it is on disk."""
        raise NotImplementedError

    def add_many(self, rows: Sequence[Row]) -> object:
        """Add many rows by the candidate's own way of adding many."""
        raise NotImplementedError

    def fill(self, rows: Sequence[Row]) -> None:
        """Fill the store in any way; this is not compared."""
        self.add_many(rows)

    def vector(self, question: Question) -> Any:
        """The ten nearest of all rows."""
        raise NotImplementedError

    def both(self, question: Question) -> Any:
        """The ten best of all rows by vector and words together."""
        raise NotImplementedError

    def space_vector(self, question: Question) -> Any:
        """The ten nearest within the question's space."""
        raise NotImplementedError

    def space_both(self, question: Question) -> Any:
        """The ten best by vector and words together within the question's space."""
        raise NotImplementedError

    def embed(self, question: Question) -> Any:
        """The question's vector by the candidate's own embedder."""
        raise NotImplementedError

    def numbers(self, answer: Any) -> list[int]:
        """The row numbers in an answer, to check it; not timed."""
        raise NotImplementedError

    def prepare(self, rows: Sequence[Row], questions: Sequence[Question]) -> None:
        """Learn the vectors of what comes next (for candidates that insist on embedding); not timed."""

    async def open_async(self) -> None:
        """Make ready for the two calls below."""

    async def add_async(self, row: Row) -> object:
        """As `add`, without blocking the event loop, as far as the candidate knows how."""
        return await asyncio.to_thread(self.add, row)

    async def recall_async(self, question: Question) -> object:
        """As the best recall that the candidate offers, without blocking the event loop."""
        recall = self.vector if "both" in self.missing else self.both
        return await asyncio.to_thread(recall, question)

    async def close_async(self) -> None:
        """Undo `open_async`."""

    def close(self) -> None:
        """Close the store."""
