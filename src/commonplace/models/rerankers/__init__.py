"""Rerankers: what reads a question and a memory together, and how to name one. None is used unless asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from commonplace.errors import InvalidInput
from commonplace.models.rerankers.base import Reranker

if TYPE_CHECKING:
    from commonplace.models.rerankers.onnx import OnnxReranker

__all__ = ["OnnxReranker", "Reranker", "load"]

_KNOWN = "'none', 'ms-marco-minilm' or 'onnx:DIR'"


def load(spec: Reranker | str | None = None) -> Reranker | None:
    """The reranker that `spec` names, ready to use.

    None or "none"     no reranker
    "ms-marco-minilm"  a model that `commonplace models get` has fetched
    "onnx:DIR"         an ONNX cross-encoder in a folder
    a reranker         itself
    """
    if spec is None or spec == "none":
        return None
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, type):
        raise InvalidInput(f"{spec.__name__} is a class; pass a reranker made from it")
    if not isinstance(spec, Reranker):
        raise InvalidInput(f"a reranker has name and score; {spec!r} does not")
    return spec


def _named(spec: str) -> Reranker:
    from commonplace import models

    maker, _, folder = spec.partition(":")
    if maker == "onnx" and folder:
        return _onnx(folder)
    if spec in models.names("reranker"):
        return _onnx(str(models.folder(spec)))
    raise InvalidInput(f"unknown reranker {spec!r}: expected {_KNOWN}")


def _onnx(folder: str) -> Reranker:
    from commonplace.models.rerankers.onnx import OnnxReranker

    return OnnxReranker(folder)


def __getattr__(name: str) -> object:
    if name != "OnnxReranker":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("commonplace.models.rerankers.onnx").OnnxReranker
