"""Embeddings of a BERT-like sentence encoder run by onnxruntime.

A model is a folder with `model.json` (what the model is), `model.onnx` and `vocab.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from commonplace.errors import EmbedderFailed
from commonplace.models.bert import Bert, Ints, batches
from commonplace.models.embedders.base import Vectors
from commonplace.models.embedders.checked import unit_rows
from commonplace.models.embedders.folder import ModelFolder


class OnnxEmbedder:
    """Embeds texts with a sentence encoder. Sessions of onnxruntime may be shared between threads.

    `model.json` names the model: `name`, `version`, `dimension`, `max_tokens`, `pooling`
    ("cls" or "mean") and `query_prefix`, which may be empty.
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 1) -> None:
        folder = ModelFolder(Path(path))
        self._name = folder.word("name")
        self._version = folder.word("version")
        self._dimension = folder.number("dimension")
        self._max_tokens = folder.number("max_tokens")
        self._query_prefix = folder.word("query_prefix")
        self._pooling = folder.word("pooling")
        if self._pooling not in ("cls", "mean"):
            raise folder.damaged("model.json", f"'pooling' is {self._pooling!r}, not 'cls' or 'mean'")
        self._model = Bert(folder, threads=threads)

    def __repr__(self) -> str:
        return f"OnnxEmbedder(name={self.name!r}, version={self.version!r}, dimension={self.dimension})"

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
        """One row for each text: of length 1, or zeros for a text without a word."""
        out = np.zeros((len(texts), self._dimension), dtype=np.float32)
        encoded = [self._model.tokens(text, self._max_tokens - 2) for text in texts]
        for places in batches([len(ids) for ids in encoded]):
            out[places] = self._run([encoded[place] for place in places])
        return out

    def embed_query(self, text: str) -> Vectors:
        """The row of one question, put behind the model's prefix for questions."""
        if not self._model.tokens(text, 1):
            return np.zeros(self._dimension, dtype=np.float32)
        row: Vectors = self._run([self._model.tokens(self._query_prefix + text, self._max_tokens - 2)])[0]
        return row

    def _run(self, batch: list[list[int]]) -> Vectors:
        rows = self._pooled(*self._model.run([[tokens] for tokens in batch]))
        if rows.shape[1:] != (self._dimension,):
            raise EmbedderFailed(f"{self._name} gave an array of shape {rows.shape}, not rows of {self._dimension}")
        return unit_rows(rows, len(batch), self._name)

    def _pooled(self, found: Vectors, mask: Ints) -> Vectors:
        """One row a text: a model that gives one row a token is pooled the way it was trained."""
        if found.ndim != 3:
            return found
        if self._pooling == "cls":
            return found[:, 0]
        weights = mask.astype(np.float32)
        pooled: Vectors = np.einsum("ijk,ij->ik", found, weights) / weights.sum(axis=1, keepdims=True)
        return pooled
