"""Rerankers score a question and a memory read together. None is used unless one is named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from commonplace.errors import InvalidInput, ModelUnavailable, RerankerFailed
from commonplace.models import catalog
from commonplace.models.embedders.onnx import Bert, batches
from commonplace.models.folder import ModelFolder
from commonplace.values.arrays import Floats

__all__ = ["OnnxReranker", "Reranker", "load"]

_KNOWN = "'none', 'ms-marco-minilm' or 'onnx:DIR'"
_SPECIAL_TOKENS: Final = 3
"""Tokens before, between and behind a question and a text."""


@runtime_checkable
class Reranker(Protocol):
    """Scores texts for a question. Must be safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name, for messages."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float] | npt.NDArray[np.floating]:
        """Return one number for each text, in order: the log-odds that it answers the query."""


class OnnxReranker:
    """Scores texts with a BERT-like cross-encoder run by onnxruntime. Threads may share it.

    A model is a folder with `model.onnx`, `vocab.txt` and `model.json`, which holds `name` and `max_tokens`. The
    question takes at most half of the tokens, the beginning of the text the rest.
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 1) -> None:
        folder = ModelFolder(Path(path), ModelUnavailable)
        self.name: Final = folder.word("name")
        self._max_tokens = folder.number("max_tokens")
        self._model = Bert(folder, threads=threads)

    def __repr__(self) -> str:
        return f"OnnxReranker(name={self.name!r})"

    def score(self, query: str, texts: Sequence[str]) -> Floats:
        """Return the model's logit for each text, in order."""
        question = self._model.tokens(query, self._max_tokens // 2)
        room = self._max_tokens - _SPECIAL_TOKENS - len(question)
        encoded = [self._model.tokens(text, room) for text in texts]
        out = np.zeros(len(texts), dtype=np.float32)
        for places in batches([len(question) + len(tokens) + 1 for tokens in encoded]):
            logits, _ = self._model.run([(question, encoded[place]) for place in places])
            if logits.size != len(places):
                raise RerankerFailed(f"{self.name} gave an array of shape {logits.shape}, not one number a text")
            out[places] = logits.reshape(len(places))
        return out


def load(spec: Reranker | str | None = None) -> Reranker | None:
    """Return the reranker that `spec` names, ready to use.

    None or "none"     no reranker
    "ms-marco-minilm"  a model that `commonplace models get` has fetched
    "onnx:DIR"         an ONNX cross-encoder in a folder
    a reranker         itself
    """
    if spec is None or spec == "none":
        return None
    if isinstance(spec, str):
        maker, _, folder = spec.partition(":")
        if maker == "onnx" and folder:
            return OnnxReranker(folder)
        if spec in catalog.names("reranker"):
            return OnnxReranker(catalog.fetched_folder(spec))
        raise InvalidInput(f"unknown reranker {spec!r}: expected {_KNOWN}")
    if isinstance(spec, type):
        raise InvalidInput(f"{spec.__name__} is a class; pass a reranker made from it")
    if not isinstance(spec, Reranker):
        raise InvalidInput(f"a reranker has name and score; {spec!r} does not")
    return spec
