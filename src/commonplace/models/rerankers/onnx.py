"""A BERT-like cross-encoder run by onnxruntime: one number for a question and a text read together.

A model is a folder with `model.json` (what the model is), `model.onnx` and `vocab.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from commonplace.errors import ModelUnavailable, RerankerFailed
from commonplace.models.bert import Bert, batches
from commonplace.models.embedders.base import Vectors
from commonplace.models.embedders.folder import ModelFolder

_ENDS: Final = 3
"""Tokens that stand before, between and behind a question and a text."""


class OnnxReranker:
    """Scores texts with a cross-encoder. Sessions of onnxruntime may be shared between threads.

    `model.json` names the model: `name` and `max_tokens`, which hold the question (at most half of them) and
    the beginning of the text.
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 1) -> None:
        folder = ModelFolder(Path(path), ModelUnavailable)
        self._name = folder.word("name")
        self._max_tokens = folder.number("max_tokens")
        self._model = Bert(folder, threads=threads)

    def __repr__(self) -> str:
        return f"OnnxReranker(name={self.name!r})"

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    def score(self, query: str, texts: Sequence[str]) -> Vectors:
        """The model's logit for each text, in order."""
        asked = self._model.tokens(query, self._max_tokens // 2)
        room = self._max_tokens - _ENDS - len(asked)
        read = [self._model.tokens(text, room) for text in texts]
        out = np.zeros(len(texts), dtype=np.float32)
        for places in batches([len(asked) + len(tokens) + 1 for tokens in read]):
            out[places] = self._run([(asked, read[place]) for place in places])
        return out

    def _run(self, pairs: list[tuple[list[int], list[int]]]) -> Vectors:
        logits, _ = self._model.run(pairs)
        if logits.size != len(pairs):
            raise RerankerFailed(f"{self._name} gave an array of shape {logits.shape}, not one number a text")
        return logits.reshape(len(pairs))
