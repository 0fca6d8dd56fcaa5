"""An embedder for tests: no weights, no network, the same vectors on every machine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from commonplace.models.embedders.base import Vectors

_WORD = re.compile(r"\w+")
_SHORT_WORD = 3
_SHORT_WEIGHT = 0.25


class HashEmbedder:
    """Texts that share words, or parts of words, get similar vectors; nothing is understood.

    Each word is a fixed pattern of signs, plus those of its runs of three letters, so that
    "deploy" and "deployed" are related while "deploy" and "release" are not. Unrelated
    texts differ from 0 by about 1 / sqrt(dimension).
    """

    def __init__(self, dimension: int = 64, name: str = "hash", version: str = "1") -> None:
        self.dimension: Final = dimension
        self.name: Final = name
        self.version: Final = version
        self._word: Callable[[str], Vectors] = lru_cache(maxsize=16_384)(self._word_row)

    def __repr__(self) -> str:
        return f"HashEmbedder(dimension={self.dimension}, name={self.name!r}, version={self.version!r})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text: of length 1, or zeros for a text without a word."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            row[:] = self.embed_query(text)
        return out

    def embed_query(self, text: str) -> Vectors:
        """The row of one question."""
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text.casefold()):
            vector += self._word(word)
        length = np.sqrt(vector @ vector)
        return vector / length if length > 0 else vector

    def _word_row(self, word: str) -> Vectors:
        padded = f"^{word}$"
        runs = [padded[at : at + 3] for at in range(len(padded) - 2)]
        parts = np.sum([self._signs(f"part {run}") for run in runs], axis=0) / np.sqrt(len(runs))
        row: Vectors = (self._signs(f"word {word}") + parts).astype(np.float32)
        # Short words are mostly "the" and "of": shared by all texts, they say little.
        return row * np.float32(_SHORT_WEIGHT) if len(word) <= _SHORT_WORD else row

    def _signs(self, feature: str) -> Vectors:
        """A pattern of +1 and -1 that depends on the feature alone."""
        digest = hashlib.shake_128(feature.encode("utf-8", "replace")).digest(-(-self.dimension // 8))
        bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8), count=self.dimension)
        return bits.astype(np.float32) * 2 - 1
