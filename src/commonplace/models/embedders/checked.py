"""What foreign code gives for vectors, checked before any of it reaches a book."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from commonplace.errors import EmbedderFailed, InvalidInput
from commonplace.models.embedders.base import Vectors

_PROBE = "How long is a vector?"


class CheckedEmbedder(ABC):
    """An embedder whose answers are checked and brought to unit length.

    A maker says in `_compute` how vectors are made; when no dimension is given,
    the first answer settles it, and asking for `dimension` earlier asks for one answer.
    """

    def __init__(self, *, name: str, version: str, dimension: int | None) -> None:
        if not name or not version:
            raise InvalidInput("an embedder needs a name and a version that are not empty")
        if dimension is not None and dimension < 1:
            raise InvalidInput(f"an embedder's dimension is at least 1, not {dimension}")
        self._name = name
        self._version = version
        self._dimension = dimension
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def version(self) -> str:
        """The version that was given with the model."""
        return self._version

    @property
    def dimension(self) -> int:
        """Length of each vector; asks the model once when it is not known yet."""
        with self._lock:
            if self._dimension is None:
                return int(self._accept(self._compute([_PROBE]), 1).shape[1])
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order; a text without a word gets zeros and is not sent."""
        filled = [place for place, text in enumerate(texts) if text and not text.isspace()]
        if not filled:
            return np.zeros((len(texts), self.dimension), dtype=np.float32)
        rows = self._accept(self._compute([texts[place] for place in filled]), len(filled))
        out = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        out[filled] = rows
        return out

    def embed_query(self, text: str) -> Vectors:
        """The row of one question."""
        row: Vectors = self.embed([text])[0]
        return row

    @abstractmethod
    def _compute(self, texts: Sequence[str]) -> object:
        """Anything that numpy reads as a matrix with one row for each text; there is at least one."""

    def _accept(self, answer: object, count: int) -> Vectors:
        rows = unit_rows(answer, count, self._name)
        with self._lock:
            if self._dimension is None:
                self._dimension = rows.shape[1]
        if rows.shape[1] != self._dimension:
            raise EmbedderFailed(
                f"{self._name} answered with vectors of {rows.shape[1]} numbers, not {self._dimension}"
            )
        return rows


def unit_rows(answer: object, count: int, name: str) -> Vectors:
    """The answer as `count` float32 rows of length 1 (zeros stay zeros); EmbedderFailed if it cannot be."""
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbedderFailed(f"{name} answered with something that is no matrix of numbers: {error}") from error
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EmbedderFailed(f"{name} answered with an array of shape {rows.shape}, not with one row a text")
    if len(rows) != count:
        raise EmbedderFailed(f"{name} answered with {len(rows)} vectors for {count} texts")
    if not np.isfinite(rows).all():
        raise EmbedderFailed(f"{name} answered with a number that is not finite")
    # The largest part first, so that the squares of very large or small numbers stay in range.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
