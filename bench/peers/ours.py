"""commonplace through its public API, with the vectors given, so that no embedding is timed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpus import Question, Row

import commonplace
from commonplace import Draft
from peers.base import K, Peer

WHOLE = "all"


class Given:
    """An embedder of the wanted dimension that is never used: every call passes its vector."""

    name = "given"
    version = "1"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector of the right shape, for the book's check at opening."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dimension, np.float32)
        vector[len(text) % self.dimension] = 1.0
        return vector


class Adapter(Peer):
    notes = (
        "recall(..., k=10, threshold=0, max_tokens=None) with vector= given",
        "a space is a wall: the whole is one space in one book, the hundred spaces are another book",
    )

    def __init__(self, folder: Path, dimension: int) -> None:
        embedder = Given(dimension)
        self.paths = folder / "whole.db", folder / "spaces.db"
        self.embedder = embedder
        self.book = commonplace.open(self.paths[0], space=WHOLE, embedder=embedder)
        self._spaces: Any = None

    @property
    def spaces(self) -> Any:
        if self._spaces is None:
            self._spaces = commonplace.open(self.paths[1], embedder=self.embedder)
        return self._spaces

    def add(self, row: Row) -> object:
        return self.book.remember(row.text, id=str(row.number), vector=row.vector)

    def add_many(self, rows: Sequence[Row]) -> object:
        return self.book.remember([_draft(row) for row in rows])

    def fill(self, rows: Sequence[Row]) -> None:
        self.add_many(rows)
        by_space: dict[str, list[Draft]] = {}
        for row in rows:
            by_space.setdefault(row.space, []).append(_draft(row))
        for space, drafts in by_space.items():
            self.spaces.in_space(space).remember(drafts)

    def vector(self, question: Question) -> Any:
        return self.book.recall("", vector=question.vector, k=K, threshold=0, max_tokens=None)

    def both(self, question: Question) -> Any:
        return self.book.recall(question.text, vector=question.vector, k=K, threshold=0, max_tokens=None)

    def space_vector(self, question: Question) -> Any:
        book = self.spaces.in_space(question.space)
        return book.recall("", vector=question.vector, k=K, threshold=0, max_tokens=None)

    def space_both(self, question: Question) -> Any:
        book = self.spaces.in_space(question.space)
        return book.recall(question.text, vector=question.vector, k=K, threshold=0, max_tokens=None)

    def numbers(self, answer: Any) -> list[int]:
        return [int(hit.memory.id) for hit in answer.hits]

    async def open_async(self) -> None:
        self.async_book = await commonplace.open_async(self.paths[0], space=WHOLE, embedder=self.embedder)

    async def add_async(self, row: Row) -> object:
        return await self.async_book.remember(row.text, id=str(row.number), vector=row.vector)

    async def recall_async(self, question: Question) -> object:
        return await self.async_book.recall(question.text, vector=question.vector, k=K, threshold=0, max_tokens=None)

    async def close_async(self) -> None:
        await self.async_book.close()

    def close(self) -> None:
        self.book.close()
        if self._spaces is not None:
            self._spaces.close()


def _draft(row: Row) -> Draft:
    return Draft(content=row.text, id=str(row.number), vector=row.vector)
