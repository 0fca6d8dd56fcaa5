"""The protocol of an embedder, and the embedders that need no model of their own."""

from __future__ import annotations

import inspect
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from commonplace.errors import CommonplaceError, EmbedderFailed, InvalidInput

_PROBE = "How long is a vector?"

Vectors = npt.NDArray[np.float32]
Function = Callable[[list[str]], object]
"""Takes a list of texts and returns one vector for each, as a matrix or a sequence of sequences of numbers."""


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors. Must be safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name; with `version` and `dimension` it is stored beside every vector."""

    @property
    def version(self) -> str:
        """Changes whenever the same text would get another vector."""

    @property
    def dimension(self) -> int:
        """Length of each vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: one unit row for each text, in order."""

    def embed_query(self, text: str) -> Vectors:
        """Embed one question."""


@runtime_checkable
class WordMatcher(Protocol):
    """An embedder that also compares single words; ranking uses it if it is there."""

    def affinity(self, words: Sequence[str], texts: Sequence[str]) -> Vectors:
        """Return for each text how close its words come to each of these words, averaged: about 0 to 1."""


class CheckedEmbedder(ABC):
    """An embedder whose answers are checked and brought to unit length.

    A subclass computes vectors in `_compute`. If no dimension is given, the first answer settles it, and
    reading `dimension` earlier asks for one answer.
    """

    def __init__(self, *, name: str, version: str, dimension: int | None) -> None:
        if not name or not version:
            raise InvalidInput("an embedder needs a name and a version that are not empty")
        if dimension is not None and dimension < 1:
            raise InvalidInput(f"an embedder's dimension is at least 1, not {dimension}")
        self.name: Final = name
        self.version: Final = version
        self._dimension = dimension
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, version={self.version!r})"

    @property
    def dimension(self) -> int:
        """Length of each vector; asks the model once if it is not known yet."""
        with self._lock:
            if self._dimension is None:
                return int(self._accept(self._compute([_PROBE]), 1).shape[1])
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row for each text, in order; a blank text gets zeros and is not sent."""
        filled = [place for place, text in enumerate(texts) if text and not text.isspace()]
        if not filled:
            return np.zeros((len(texts), self.dimension), dtype=np.float32)
        rows = self._accept(self._compute([texts[place] for place in filled]), len(filled))
        out = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        out[filled] = rows
        return out

    def embed_query(self, text: str) -> Vectors:
        """Return the row of one question."""
        row: Vectors = self.embed([text])[0]
        return row

    @abstractmethod
    def _compute(self, texts: Sequence[str]) -> object:
        """Return anything that numpy reads as a matrix with one row for each text; there is at least one."""

    def _accept(self, answer: object, count: int) -> Vectors:
        rows = unit_rows(answer, count, self.name)
        with self._lock:
            if self._dimension is None:
                self._dimension = rows.shape[1]
        if rows.shape[1] != self._dimension:
            raise EmbedderFailed(f"{self.name} returned vectors of {rows.shape[1]} numbers, not {self._dimension}")
        return rows


def unit_rows(answer: object, count: int, name: str) -> Vectors:
    """Return the answer as `count` float32 rows of length 1 (zeros stay zeros); raise EmbedderFailed if it is none."""
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbedderFailed(f"{name} did not return a matrix of numbers: {error}") from error
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EmbedderFailed(f"{name} returned an array of shape {rows.shape}, not one row for each text")
    if len(rows) != count:
        raise EmbedderFailed(f"{name} returned {len(rows)} vectors for {count} texts")
    if not np.isfinite(rows).all():
        raise EmbedderFailed(f"{name} returned a number that is not finite")
    # The largest part first, so that the squares of very large or small numbers stay in range.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


class FunctionEmbedder(CheckedEmbedder):
    """Embeds with a function of yours; its answers are checked and brought to unit length.

    The name and version are stored beside every vector: change the version whenever
    the same text would get another vector. Calls may come from several threads.
    """

    def __init__(self, function: Function, *, name: str, version: str = "1", dimension: int | None = None) -> None:
        super().__init__(name=name, version=version, dimension=dimension)
        self._function = function

    def _compute(self, texts: Sequence[str]) -> object:
        try:
            return self._function(list(texts))
        except CommonplaceError:
            raise
        except Exception as error:
            raise EmbedderFailed(f"{self.name} failed: {error!r}") from error


def wrap_function(function: Function) -> FunctionEmbedder:
    """Wrap a function under its full name; raise InvalidInput if that name does not identify it."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    # A method's name says nothing of the object behind it: two models would have one name.
    if not module or not name or "<" in name or inspect.ismethod(function):
        raise InvalidInput(
            f"{function!r} has no permanent name to store with its vectors; "
            'give it one: FunctionEmbedder(function, name="my-model")'
        )
    return FunctionEmbedder(function, name=f"{module}.{name}")


class WordsOnly:
    """Gives every text the zero vector, so that recall finds memories by words alone.

    It needs no model and no time. A question that shares no word with a memory does not find it; `load` returns
    this embedder only for the name "none".
    """

    name: Final = "words-only"
    version: Final = "1"
    dimension: Final = 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 1), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.zeros(1, dtype=np.float32)

    def __repr__(self) -> str:
        return "WordsOnly()"
