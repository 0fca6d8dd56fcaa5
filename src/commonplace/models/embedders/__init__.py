"""Embedders turn text into vectors; `load_embedder` makes one from its name."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from commonplace.errors import EmbedderUnavailable, InvalidInput
from commonplace.models import catalog
from commonplace.models.embedders.base import Embedder, FunctionEmbedder, Vectors, WordsOnly, wrap_function

if TYPE_CHECKING:
    from commonplace.models.embedders.onnx import OnnxEmbedder
    from commonplace.models.embedders.openai import OpenAIEmbedder
    from commonplace.models.embedders.sentence_transformers import SentenceTransformerEmbedder
    from commonplace.models.embedders.static import StaticEmbedder

__all__ = [
    "Embedder",
    "FunctionEmbedder",
    "OnnxEmbedder",
    "OpenAIEmbedder",
    "SentenceTransformerEmbedder",
    "StaticEmbedder",
    "Vectors",
    "WordsOnly",
    "load_embedder",
]

# Imported when first used: most programs use one of them.
_HOMES = {
    "OnnxEmbedder": ".onnx",
    "OpenAIEmbedder": ".openai",
    "SentenceTransformerEmbedder": ".sentence_transformers",
    "StaticEmbedder": ".static",
}
_KNOWN = "'default', 'none', 'bge-small', 'onnx:DIR', 'openai:MODEL' or 'sentence-transformers:NAME'"

_default: Embedder | None = None
_default_lock = threading.Lock()


def load_embedder(spec: Embedder | Callable[[list[str]], object] | str | None = None) -> Embedder:
    """Return the embedder that `spec` names, ready to use.

    None or "default"            the model that comes with commonplace; one for the whole process
    "none"                       no vectors: recall by words alone
    "bge-small"                  a model that `commonplace models get` has fetched
    "onnx:DIR"                   an ONNX model in a folder
    "openai:MODEL"               an OpenAI-compatible service at OPENAI_BASE_URL, with OPENAI_API_KEY
    "sentence-transformers:NAME" a model of that package
    a function                   list of texts to vectors; stored under the function's full name
    an embedder                  itself
    """
    if spec is None or spec == "default":
        return _load_default()
    if isinstance(spec, str):
        return _load_named(spec)
    if isinstance(spec, type):
        raise InvalidInput(f"{spec.__name__} is a class; pass an embedder made from it")
    if _is_embedder(spec):
        return cast(Embedder, spec)
    if callable(spec):
        return wrap_function(spec)
    raise InvalidInput(f"an embedder has name, version, dimension, embed and embed_query; {spec!r} does not")


def _load_default() -> Embedder:
    global _default
    with _default_lock:
        if _default is None:
            from commonplace.models.embedders.static import StaticEmbedder

            _default = StaticEmbedder()
        return _default


def _load_named(spec: str) -> Embedder:
    maker, _, model = spec.partition(":")
    if spec == "none":
        return WordsOnly()
    if spec in catalog.names("embedder"):
        maker, model = "onnx", str(catalog.fetched_folder(spec, EmbedderUnavailable))
    if maker == "onnx" and model:
        from commonplace.models.embedders.onnx import OnnxEmbedder

        return OnnxEmbedder(model)
    if maker == "openai" and model:
        from commonplace.models.embedders.openai import OpenAIEmbedder
        from commonplace.models.openai import default_url

        return OpenAIEmbedder(model, base_url=default_url())
    if maker == "sentence-transformers" and model:
        from commonplace.models.embedders.sentence_transformers import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(model)
    raise InvalidInput(f"unknown embedder {spec!r}: expected {_KNOWN}")


def _is_embedder(spec: object) -> bool:
    # Not isinstance: before Python 3.12 it reads `dimension`, which may cost a request over the network.
    parts = ("name", "version", "embed", "embed_query")
    has_dimension = hasattr(type(spec), "dimension") or hasattr(spec, "dimension")
    return has_dimension and all(hasattr(spec, part) for part in parts)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
