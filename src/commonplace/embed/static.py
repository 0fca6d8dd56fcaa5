"""Static embeddings: one row of a matrix for each token; a text is the mean of its tokens' rows.

Needs numpy alone. A model is a folder with `model.json` (what the model is), `rows.npy`
(int8, one row a token), `scales.npy` (float32, what each row is multiplied by) and `vocab.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from commonplace.embed.base import Vectors
from commonplace.embed.folder import ModelFolder, damaged
from commonplace.embed.wordpiece import WordPiece

DEFAULT: Final = Path(__file__).parent / "weights" / "potion-base-8M"
"""The model that commonplace brings along."""

_BATCH_TOKENS: Final = 16_384  # 16 MB of float32 at 256 dimensions
_SMALLEST_LENGTH: Final = np.float32(1e-12)


class StaticEmbedder:
    """Embeds texts with a static model. Read-only once built, so threads may share it."""

    def __init__(self, path: str | os.PathLike[str] = DEFAULT) -> None:
        folder = ModelFolder(Path(path))
        self._name = folder.word("name")
        self._version = folder.word("version")
        self._dimension = folder.number("dimension")
        self._max_tokens = folder.number("max_tokens")
        vocabulary = folder.vocabulary()
        if "[UNK]" not in vocabulary:
            raise damaged(folder.path / "vocab.txt", "it has no token [UNK]")
        size = len(vocabulary)
        self._rows = folder.array("rows.npy", np.int8, (size, self._dimension))
        self._scales = np.array(folder.array("scales.npy", np.float32, (size,)), dtype=np.float32)
        if not np.isfinite(self._scales).all():
            raise damaged(folder.path / "scales.npy", "it holds a number that is not finite")
        self._tokenizer = WordPiece(vocabulary)

    def __repr__(self) -> str:
        return f"StaticEmbedder(name={self.name!r}, version={self.version!r}, dimension={self.dimension})"

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def version(self) -> str:
        """The model's version."""
        return self._version

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text: of length 1, or zeros for a text without a known token."""
        out = np.zeros((len(texts), self._dimension), dtype=np.float32)
        start, held = 0, 0
        batch: list[list[int]] = []
        for text in texts:
            ids = self._tokenizer.encode(text, self._max_tokens)
            if batch and held + len(ids) > _BATCH_TOKENS:
                self._pool(batch, out[start:])
                start, held, batch = start + len(batch), 0, []
            batch.append(ids)
            held += len(ids)
        self._pool(batch, out[start:])
        return out

    def embed_query(self, text: str) -> Vectors:
        """The row of one question; the same as a passage's, by a shorter way."""
        ids = self._tokenizer.encode(text, self._max_tokens)
        vector: Vectors = self._scales[ids] @ self._rows[ids].astype(np.float32)
        vector /= max(np.sqrt(vector @ vector), _SMALLEST_LENGTH)
        return vector

    def _pool(self, batch: list[list[int]], out: Vectors) -> None:
        """Write each text's sum of rows, brought to length 1, into `out`: a mean has the same direction."""
        counts = np.fromiter(map(len, batch), dtype=np.intp, count=len(batch))
        ids = np.fromiter(chain.from_iterable(batch), dtype=np.intp, count=int(counts.sum()))
        if not len(ids):
            return
        filled = np.flatnonzero(counts)
        tokens = self._rows[ids].astype(np.float32)
        tokens *= self._scales[ids, np.newaxis]
        starts = (np.cumsum(counts) - counts)[filled]
        sums: Vectors = np.add.reduceat(tokens, starts, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        out[filled] = sums / np.maximum(lengths, _SMALLEST_LENGTH)[:, np.newaxis]
