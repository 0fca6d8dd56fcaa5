"""commonplace with its defaults: recall by text, the query embedded by its own model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpus import Question, Row

import commonplace
from commonplace import Draft
from commonplace.models.embedders import load_embedder
from peers.base import K, Peer


class Adapter(Peer):
    """Filled with the common vectors, cut to the model's dimension: only the query is embedded."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.embedder = load_embedder()
        self.book = commonplace.open(folder / "book.db")

    def add_many(self, rows: Sequence[Row]) -> object:
        return self.book.remember(
            [Draft(content=row.text, vector=_fit(row.vector, self.embedder.dimension)) for row in rows]
        )

    def both(self, question: Question) -> Any:
        return self.book.recall(question.text, k=K, threshold=0, max_tokens=None)

    def embed(self, question: Question) -> Any:
        return self.embedder.embed_query(question.text)

    def numbers(self, answer: Any) -> list[int]:
        return []

    def close(self) -> None:
        self.book.close()


def _fit(vector: np.ndarray, dimension: int) -> np.ndarray:
    fitted = np.resize(vector, dimension)
    return fitted / np.linalg.norm(fitted)  # type: ignore[no-any-return]
