"""Embeddings of a BERT-like sentence encoder run by onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from commonplace.errors import EmbedderFailed
from commonplace.models.bert import Bert, batches
from commonplace.models.embedders.base import Vectors, unit_rows
from commonplace.models.folder import ModelFolder
from commonplace.values.arrays import Ints


class OnnxEmbedder:
    """Embeds texts with a sentence encoder. Threads may share it.

    A model is a folder with `model.onnx`, `vocab.txt` and `model.json`, which holds `name`, `version`, `dimension`,
    `max_tokens`, `pooling` ("cls" or "mean") and `query_prefix`, which may be empty.
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 1) -> None:
        folder = ModelFolder(Path(path))
        self.name: Final = folder.word("name")
        self.version: Final = folder.word("version")
        self.dimension: Final = folder.number("dimension")
        self._max_tokens = folder.number("max_tokens")
        self._query_prefix = folder.word("query_prefix")
        self._pooling = folder.word("pooling")
        if self._pooling not in ("cls", "mean"):
            raise folder.damaged("model.json", f"'pooling' is {self._pooling!r}, not 'cls' or 'mean'")
        self._model = Bert(folder, threads=threads)

    def __repr__(self) -> str:
        return f"OnnxEmbedder(name={self.name!r}, version={self.version!r}, dimension={self.dimension})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text: of length 1, or zeros for a text without a word."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        encoded = [self._model.tokens(text, self._max_tokens - 2) for text in texts]
        for places in batches([len(ids) for ids in encoded]):
            out[places] = self._run([encoded[place] for place in places])
        return out

    def embed_query(self, text: str) -> Vectors:
        """Return the row of one question, behind the model's prefix for questions."""
        if not self._model.tokens(text, 1):
            return np.zeros(self.dimension, dtype=np.float32)
        row: Vectors = self._run([self._model.tokens(self._query_prefix + text, self._max_tokens - 2)])[0]
        return row

    def _run(self, batch: list[list[int]]) -> Vectors:
        rows = self._pool(*self._model.run([[tokens] for tokens in batch]))
        if rows.shape[1:] != (self.dimension,):
            raise EmbedderFailed(f"{self.name} gave an array of shape {rows.shape}, not rows of {self.dimension}")
        return unit_rows(rows, len(batch), self.name)

    def _pool(self, found: Vectors, mask: Ints) -> Vectors:
        """Return one row a text; a model that gives one row a token is pooled the way it was trained."""
        if found.ndim != 3:
            return found
        if self._pooling == "cls":
            return found[:, 0]
        weights = mask.astype(np.float32)
        pooled: Vectors = np.einsum("ijk,ij->ik", found, weights) / weights.sum(axis=1, keepdims=True)
        return pooled
