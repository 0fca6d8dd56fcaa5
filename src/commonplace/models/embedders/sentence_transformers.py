"""Models of the package sentence-transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from commonplace.errors import EmbedderUnavailable, missing_package
from commonplace.models.embedders.base import CheckedEmbedder, Vectors


class SentenceTransformerEmbedder(CheckedEmbedder):
    """Embeds with a SentenceTransformer, given by its name or the path of its folder.

    If the model has prompts for "query" and "document", they are used. `revision` pins the model's version on the
    hub and is stored beside every vector. One call runs at a time: tokenizers of models are not thread-safe.
    """

    def __init__(
        self, name_or_path: str, *, device: str | None = None, revision: str | None = None, batch: int = 32
    ) -> None:
        path = Path(name_or_path)
        name = path.resolve().name if path.is_dir() else name_or_path
        super().__init__(name=name, version=revision or "1", dimension=None)
        self._model = _open_model(name_or_path, device, revision)
        self._batch = batch
        self._one_at_a_time = threading.Lock()

    def embed_query(self, text: str) -> Vectors:
        """Return the row of one question, with the model's own prompt for questions."""
        if not text or text.isspace():
            return super().embed_query(text)
        row: Vectors = self._accept(self._encode([text], "query"), 1)[0]
        return row

    def _compute(self, texts: Sequence[str]) -> object:
        return self._encode(list(texts), "document")

    def _encode(self, texts: list[str], prompt: str) -> object:
        prompts: dict[str, str] = getattr(self._model, "prompts", None) or {}
        with self._one_at_a_time:
            return self._model.encode(
                texts,
                prompt_name=prompt if prompts.get(prompt) else None,
                batch_size=self._batch,
                show_progress_bar=False,
                convert_to_numpy=True,
            )


def _open_model(name_or_path: str, device: str | None, revision: str | None) -> Any:  # the package has its own types
    try:
        package = import_module("sentence_transformers")  # optional, and it imports torch
    except ImportError as error:
        message = missing_package("this embedder", "sentence-transformers", "sentence-transformers")
        raise EmbedderUnavailable(message) from error
    try:
        return package.SentenceTransformer(name_or_path, device=device, revision=revision)
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(f"the model {name_or_path!r} cannot be loaded: {error}") from error
