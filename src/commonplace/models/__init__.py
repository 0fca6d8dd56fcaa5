"""Embedders and rerankers, and the models that can be fetched by name."""

from __future__ import annotations

from commonplace.models.catalog import MODELS, KnownModel, find, get, home, is_fetched, path

__all__ = ["MODELS", "KnownModel", "find", "get", "home", "is_fetched", "path"]
