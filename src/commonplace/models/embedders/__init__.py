"""Embedders: what turns text into vectors, and how to name one."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from commonplace import models
from commonplace.errors import EmbedderUnavailable, InvalidInput
from commonplace.models.embedders.base import Embedder, Vectors

if TYPE_CHECKING:
    from commonplace.models.embedders.function import FunctionEmbedder
    from commonplace.models.embedders.http import OpenAIEmbedder
    from commonplace.models.embedders.onnx import OnnxEmbedder
    from commonplace.models.embedders.sentence_transformers import SentenceTransformerEmbedder
    from commonplace.models.embedders.static import StaticEmbedder
    from commonplace.models.embedders.words_only import WordsOnly

__all__ = [
    "Embedder",
    "FunctionEmbedder",
    "OnnxEmbedder",
    "OpenAIEmbedder",
    "SentenceTransformerEmbedder",
    "StaticEmbedder",
    "Vectors",
    "WordsOnly",
    "load",
]

# Imported when first asked for: most programs use one of them.
_HOMES = {
    "FunctionEmbedder": ".function",
    "OnnxEmbedder": ".onnx",
    "OpenAIEmbedder": ".http",
    "SentenceTransformerEmbedder": ".sentence_transformers",
    "StaticEmbedder": ".static",
    "WordsOnly": ".words_only",
}
_KNOWN = "'default', 'none', 'bge-small', 'onnx:DIR', 'openai:MODEL' or 'sentence-transformers:NAME'"

_default: Embedder | None = None
_default_lock = threading.Lock()


def load(spec: Embedder | Callable[[list[str]], object] | str | None = None) -> Embedder:
    """The embedder that `spec` names, ready to use.

    None or "default"            the model that commonplace brings along; one for the whole process
    "none"                       no vectors: recall by words alone
    "bge-small"                  a model that `commonplace models get` has fetched
    "onnx:DIR"                   an ONNX model in a folder
    "openai:MODEL"               an OpenAI-compatible service at OPENAI_BASE_URL, with OPENAI_API_KEY
    "sentence-transformers:NAME" a model of that package
    a function                   list of texts to vectors; stored under the function's full name
    an embedder                  itself
    """
    if spec is None or spec == "default":
        return _shipped()
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, type):
        raise InvalidInput(f"{spec.__name__} is a class; pass an embedder made from it")
    if _has_every_part(spec):
        return cast(Embedder, spec)
    if callable(spec):
        from commonplace.models.embedders.function import named_after

        return named_after(spec)
    raise InvalidInput(f"an embedder has name, version, dimension, embed and embed_query; {spec!r} does not")


def _shipped() -> Embedder:
    global _default
    with _default_lock:
        if _default is None:
            from commonplace.models.embedders.static import StaticEmbedder

            _default = StaticEmbedder()
        return _default


def _named(spec: str) -> Embedder:
    maker, _, model = spec.partition(":")
    if spec == "none":
        from commonplace.models.embedders.words_only import WordsOnly

        return WordsOnly()
    if spec in models.names("embedder"):
        return _onnx(str(models.folder(spec, EmbedderUnavailable)))
    if not model or maker not in _MAKERS:
        raise InvalidInput(f"unknown embedder {spec!r}: expected {_KNOWN}")
    return _MAKERS[maker](model)


def _onnx(folder: str) -> Embedder:
    from commonplace.models.embedders.onnx import OnnxEmbedder

    return OnnxEmbedder(folder)


def _openai(model: str) -> Embedder:
    from commonplace.models.embedders.http import OpenAIEmbedder
    from commonplace.models.embedders.openai_service import home

    return OpenAIEmbedder(model, base_url=home())


def _sentence_transformers(name: str) -> Embedder:
    from commonplace.models.embedders.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(name)


_MAKERS: dict[str, Callable[[str], Embedder]] = {
    "onnx": _onnx,
    "openai": _openai,
    "sentence-transformers": _sentence_transformers,
}


def _has_every_part(spec: object) -> bool:
    # Not isinstance: before Python 3.12 it reads `dimension`, which may cost a request over the network.
    parts = ("name", "version", "embed", "embed_query")
    has_dimension = hasattr(type(spec), "dimension") or hasattr(spec, "dimension")
    return has_dimension and all(hasattr(spec, part) for part in parts)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
