"""BERT-like models run by onnxruntime, and the embedder that uses one as a sentence encoder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from commonplace.errors import EmbedderFailed, missing_package
from commonplace.models.embedders.base import Vectors, unit_rows
from commonplace.models.folder import ModelFolder
from commonplace.models.wordpiece import WordPiece
from commonplace.values.arrays import Ints

_BATCH_TOKENS: Final = 1_024  # a batch that stays in the processor's cache is faster than a large one
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_SPECIAL: Final = ("[UNK]", "[CLS]", "[SEP]", "[PAD]")


class BertTokens:
    """Splits texts into the WordPiece tokens of `vocab.txt`, and lays rows of them out for a model."""

    def __init__(self, folder: ModelFolder) -> None:
        vocabulary = folder.vocabulary()
        if missing := [token for token in _SPECIAL if token not in vocabulary]:
            raise folder.damaged("vocab.txt", f"it has no token {missing[0]}")
        self._tokenizer = WordPiece(vocabulary)
        self._first, self._last = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._padding = vocabulary["[PAD]"]

    def tokens(self, text: str, limit: int) -> list[int]:
        """Return the ids of a text, without special tokens, at most `limit` of them."""
        return self._tokenizer.encode(text, limit)

    def pad(self, batch: Sequence[Sequence[list[int]]]) -> dict[str, Ints]:
        """Return a model's inputs for rows of one or more segments: ids, types, and the mask that tells padding."""
        width = max(sum(map(len, segments)) + len(segments) for segments in batch) + 1
        ids = np.full((len(batch), width), self._padding, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, segments in enumerate(batch):
            ids[row, 0], end = self._first, 1
            for kind, tokens in enumerate(segments):
                start, end = end, end + len(tokens) + 1
                ids[row, start:end] = [*tokens, self._last]
                types[row, start:end] = min(kind, 1)
            mask[row, :end] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


class Bert(BertTokens):
    """Runs `model.onnx` on tokens and returns its first output. Threads may share it."""

    def __init__(self, folder: ModelFolder, *, threads: int) -> None:
        super().__init__(folder)
        self._session = open_session(folder, "model.onnx", threads)
        self._inputs = [given.name for given in self._session.get_inputs()]
        if unknown := sorted(set(self._inputs) - _INPUTS):
            raise folder.damaged("model.onnx", f"it has unsupported inputs: {unknown}")
        self._output: str = self._session.get_outputs()[0].name

    def run(self, batch: Sequence[Sequence[list[int]]]) -> tuple[Vectors, Ints]:
        """Return the output for each row of one or more segments, and the mask that tells tokens from padding."""
        feeds = self.pad(batch)
        found: Vectors = self._session.run([self._output], {name: feeds[name] for name in self._inputs})[0]
        return found, feeds["attention_mask"]


def batches(counts: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of rows with tokens, similar lengths together, since a batch is as wide as its longest row."""
    batch: list[int] = []
    for place in sorted((place for place, count in enumerate(counts) if count), key=counts.__getitem__):
        if batch and (len(batch) + 1) * (counts[place] + 2) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def open_session(folder: ModelFolder, name: str, threads: int, *, narrow: bool = False) -> Any:  # it has no types
    """Return a session that runs a model of the folder; `narrow` promises that its int8 weights have seven bits."""
    path = folder.file(name)
    try:
        onnxruntime: Any = import_module("onnxruntime")  # optional, and slow to import
    except ImportError as error:
        raise folder.unavailable(missing_package("this model", "onnxruntime", "onnx")) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    # Processors that lack VNNI add up int8 products in 16 bits, which overflow unless the weights have seven bits.
    if not narrow:
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        # The fused layer takes longer than its parts.
        return onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
        )
    except Exception as error:  # onnxruntime's errors have no other common base
        raise folder.damaged(name, str(error)) from error


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
