"""Embeddings of a BERT-like sentence encoder run by onnxruntime.

A model is a folder with `model.json` (what the model is), `model.onnx` and `vocab.txt`.
onnxruntime is imported when a model is opened, not with this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from commonplace.embed.base import Vectors
from commonplace.embed.checked import unit_rows
from commonplace.embed.folder import ModelFolder, damaged
from commonplace.embed.wordpiece import WordPiece
from commonplace.errors import EmbedderFailed, EmbedderUnavailable

Ints = npt.NDArray[np.int64]

_BATCH_TOKENS: Final = 1_024  # a batch that stays in the processor's cache is faster than a large one
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_SPECIAL: Final = ("[UNK]", "[CLS]", "[SEP]", "[PAD]")


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
            raise damaged(folder.path / "model.json", f"'pooling' is {self._pooling!r}, not 'cls' or 'mean'")
        vocabulary = folder.vocabulary()
        if missing := [token for token in _SPECIAL if token not in vocabulary]:
            raise damaged(folder.path / "vocab.txt", f"it has no token {missing[0]}")
        self._tokenizer = WordPiece(vocabulary)
        self._first, self._last = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._padding = vocabulary["[PAD]"]
        self._session = _open(folder.file("model.onnx"), threads)
        self._inputs = _inputs(self._session, folder.path / "model.onnx")
        self._output: str = self._session.get_outputs()[0].name

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
        encoded = [self._tokenizer.encode(text, self._max_tokens - 2) for text in texts]
        for places in _batches([len(ids) for ids in encoded]):
            out[places] = self._run([encoded[place] for place in places])
        return out

    def embed_query(self, text: str) -> Vectors:
        """The row of one question, put behind the model's prefix for questions."""
        if not self._tokenizer.encode(text, 1):
            return np.zeros(self._dimension, dtype=np.float32)
        row: Vectors = self._run([self._tokenizer.encode(self._query_prefix + text, self._max_tokens - 2)])[0]
        return row

    def _run(self, batch: list[list[int]]) -> Vectors:
        width = max(map(len, batch)) + 2
        ids = np.full((len(batch), width), self._padding, dtype=np.int64)
        mask = np.zeros((len(batch), width), dtype=np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens) + 2] = [self._first, *tokens, self._last]
            mask[row, : len(tokens) + 2] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        rows = self._pooled(self._session.run([self._output], {name: feeds[name] for name in self._inputs})[0], mask)
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


def _batches(counts: list[int]) -> Iterator[list[int]]:
    """Places of texts with tokens, of similar length together, since a batch is as wide as its longest."""
    batch: list[int] = []
    for place in sorted((place for place, count in enumerate(counts) if count), key=counts.__getitem__):
        if batch and (len(batch) + 1) * (counts[place] + 2) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _open(path: Path, threads: int) -> Any:  # onnxruntime has no types
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError as error:
        message = f'this embedder needs the package onnxruntime ({error}); pip install "commonplace[onnx]"'
        raise EmbedderUnavailable(message) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no other common base
        raise damaged(path, str(error)) from error


def _inputs(session: Any, path: Path) -> list[str]:
    names = [given.name for given in session.get_inputs()]
    if unknown := sorted(set(names) - _INPUTS):
        raise damaged(path, f"it wants inputs that are not known here: {unknown}")
    return names
