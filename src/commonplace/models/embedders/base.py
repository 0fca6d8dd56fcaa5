"""The one thing that commonplace asks of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


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
    """An embedder that knows words apart from texts; what it tells is used in ranking, and never required."""

    def affinity(self, words: Sequence[str], texts: Sequence[str]) -> Vectors:
        """For each text, how close its words come to each of these words, averaged: about 0 to 1."""
