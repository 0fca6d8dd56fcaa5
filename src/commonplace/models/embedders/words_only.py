"""No embedder at all: recall by words alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commonplace.models.embedders.base import Vectors


class WordsOnly:
    """Gives every text the zero vector, so that words alone decide what a recall finds.

    For whoever wants neither a model nor its cost. A question that shares no word with
    a memory will not find it; `load` gives this only when asked for "none" by name.
    """

    @property
    def name(self) -> str:
        """The name under which a book remembers that it has no vectors."""
        return "words-only"

    @property
    def version(self) -> str:
        """There is one way to say nothing."""
        return "1"

    @property
    def dimension(self) -> int:
        """One number, the fewest that a vector can have."""
        return 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A zero for each text."""
        return np.zeros((len(texts), 1), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        """A zero."""
        return np.zeros(1, dtype=np.float32)

    def __repr__(self) -> str:
        return "WordsOnly()"
