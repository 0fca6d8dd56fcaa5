"""SentenceTransformerEmbedder where the package or the model is missing.

The working path needs torch and a model of hundreds of megabytes, and is not tested here.
"""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from commonplace.errors import EmbedderUnavailable
from commonplace.models.embedders import load_embedder


def test_a_missing_package_comes_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbedderUnavailable, match=r'pip install "commonplace-memory\[sentence-transformers\]"'):
        load_embedder("sentence-transformers:all-MiniLM-L6-v2")


def test_a_model_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, **options: object) -> None:
        raise OSError(f"no folder {name}")

    package = ModuleType("sentence_transformers")
    package.SentenceTransformer = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    with pytest.raises(EmbedderUnavailable, match="the model 'nowhere' cannot be loaded: no folder nowhere"):
        load_embedder("sentence-transformers:nowhere")
