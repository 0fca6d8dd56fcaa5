"""A BERT-like model in a folder, run by onnxruntime: `model.onnx`, with `vocab.txt` for its WordPiece tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from commonplace.errors import missing_package
from commonplace.models.folder import ModelFolder
from commonplace.models.wordpiece import WordPiece
from commonplace.values.arrays import Floats, Ints

_BATCH_TOKENS: Final = 1_024  # a batch that stays in the processor's cache is faster than a large one
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_SPECIAL: Final = ("[UNK]", "[CLS]", "[SEP]", "[PAD]")


class Bert:
    """Runs a model on tokens and returns its first output. Threads may share it, as onnxruntime allows."""

    def __init__(self, folder: ModelFolder, *, threads: int) -> None:
        vocabulary = folder.vocabulary()
        if missing := [token for token in _SPECIAL if token not in vocabulary]:
            raise folder.damaged("vocab.txt", f"it has no token {missing[0]}")
        self._tokenizer = WordPiece(vocabulary)
        self._first, self._last = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._padding = vocabulary["[PAD]"]
        self._session = _open_session(folder, threads)
        self._inputs = [given.name for given in self._session.get_inputs()]
        if unknown := sorted(set(self._inputs) - _INPUTS):
            raise folder.damaged("model.onnx", f"it wants inputs that are not known here: {unknown}")
        self._output: str = self._session.get_outputs()[0].name

    def tokens(self, text: str, limit: int) -> list[int]:
        """Return the ids of a text, without special tokens, at most `limit` of them."""
        return self._tokenizer.encode(text, limit)

    def run(self, batch: Sequence[Sequence[list[int]]]) -> tuple[Floats, Ints]:
        """Return the output for each row of one or more segments, and the mask that tells tokens from padding."""
        width = max(sum(map(len, segments)) + len(segments) for segments in batch) + 1
        ids = np.full((len(batch), width), self._padding, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, segments in enumerate(batch):
            ids[row, 0], end = self._first, 1
            for kind, tokens in enumerate(segments):
                start, end = end, end + len(tokens) + 1
                ids[row, start:end] = [*tokens, self._last]
                types[row, start:end] = kind
            mask[row, :end] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        found: Floats = self._session.run([self._output], {name: feeds[name] for name in self._inputs})[0]
        return found, mask


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


def _open_session(folder: ModelFolder, threads: int) -> Any:  # onnxruntime has no types
    path = folder.file("model.onnx")
    try:
        onnxruntime: Any = import_module("onnxruntime")  # optional, and slow to import
    except ImportError as error:
        raise folder.unavailable(missing_package("this model", "onnxruntime", "onnx")) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no other common base
        raise folder.damaged("model.onnx", str(error)) from error
