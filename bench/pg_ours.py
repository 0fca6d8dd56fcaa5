"""commonplace in PostgreSQL through its public API, with the vectors given, so that no embedding is timed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from corpus import Question, Row
from peers.base import K, Peer
from peers.ours import Given

import commonplace
from commonplace import Draft
from commonplace.settings import Settings


class Adapter(Peer):
    """One book; a row's space is a space of it."""

    notes = (
        "recall(..., k=10, threshold=0, max_tokens=None) with vector= given; pool_size is the default, 8",
        "an ordinary role: row-level security is in force",
    )

    settings: ClassVar[Settings] = Settings()

    def __init__(self, url: str, dimension: int) -> None:
        self.book = commonplace.open(url, embedder=Given(dimension), settings=self.settings)
        self.walls: dict[str, commonplace.Book] = {}

    def _in(self, space: str) -> commonplace.Book:
        if space not in self.walls:
            self.walls[space] = self.book.in_space(space)
        return self.walls[space]

    def warm(self, spaces: Sequence[str]) -> None:
        """Let the book check its embedder and find each space before anything is timed."""
        for space in spaces:
            self._in(space).recall("nothing", k=1)

    def add(self, row: Row) -> object:
        return self._in(row.space).remember(row.text, id=str(row.number), vector=row.vector)

    def add_many(self, rows: Sequence[Row]) -> object:
        by_space: dict[str, list[Draft]] = {}
        for row in rows:
            by_space.setdefault(row.space, []).append(_draft(row))
        return [self._in(space).remember(drafts) for space, drafts in by_space.items()]

    def space_vector(self, question: Question) -> Any:
        return self._in(question.space).recall("", vector=question.vector, k=K, threshold=0, max_tokens=None)

    def space_both(self, question: Question) -> Any:
        return self._in(question.space).recall(question.text, vector=question.vector, k=K, threshold=0, max_tokens=None)

    def numbers(self, answer: Any) -> list[int]:
        return [int(hit.memory.id) for hit in answer.hits]

    def close(self) -> None:
        self.book.close()


class Exact(Adapter):
    """The same without a graph, however large a space is: every recall compares all of it."""

    settings: ClassVar[Settings] = Settings(graph_rows=10**9)


def _draft(row: Row) -> Draft:
    return Draft(content=row.text, id=str(row.number), vector=row.vector)
