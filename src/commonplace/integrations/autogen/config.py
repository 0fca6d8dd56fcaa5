"""Configs: CommonplaceMemory's own, and those of AutoGen's memories, read as its arguments."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from commonplace.errors import InvalidInput
from commonplace.values import NOBODY, Order, Scope, Within

# The fields of each config with their defaults; those of a config object that is given are its own.
_REDIS: Mapping[str, Any] = {
    "redis_url": "redis://localhost:6379", "index_name": "chat_history", "prefix": "memory", "sequential": False,
    "distance_metric": "cosine", "algorithm": "flat", "top_k": 10, "datatype": "float32", "distance_threshold": 0.7,
    "model_name": "sentence-transformers/all-mpnet-base-v2",
}  # fmt: skip
_CHROMADB: Mapping[str, Any] = {
    "client_type": "persistent", "collection_name": "memory_store", "distance_metric": "cosine", "k": 3,
    "score_threshold": None, "allow_reset": False, "tenant": "default_tenant", "database": "default_database",
    "embedding_function_config": None, "persistence_path": "./chroma_db", "host": "localhost", "port": 8000,
    "ssl": False, "headers": None,
}  # fmt: skip
_MEM0: Mapping[str, Any] = {"user_id": None, "limit": 10, "is_cloud": True, "api_key": None, "config": None}
_SYNONYMS = {"top_k": "k", "limit": "k", "n_results": "k"}


class CommonplaceMemoryConfig(BaseModel):
    """The config that `dump_component` writes: the book's place, as it was given, and how to recall; no memories."""

    where: str
    space: str = "default"
    name: str | None = None
    scope: Scope = Field(default_factory=Scope)
    within: Within | None = None
    order: Order = "relevance"
    k: int | None = None
    threshold: float | None = None
    # A config is written without fields that are None, and they get their default when it is read.
    max_tokens: int | Literal["unlimited"] = 2000
    filter: dict[str, Any] | None = None
    kinds: list[str] | None = None
    tags: list[str] | None = None
    learn: bool = False
    session: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of CommonplaceMemory."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return {**given, "max_tokens": None if self.max_tokens == "unlimited" else self.max_tokens}


def read_redis(config: object, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for RedisMemory's config: `index_name` becomes the space."""
    given = _read(config, fields, _REDIS)
    _warn(given, _REDIS, {"distance_threshold": "threshold", "model_name": "an embedder for the book"})
    order = "time" if given["sequential"] else "relevance"
    return {"space": given["index_name"], "k": given["top_k"], "order": order}


def read_chromadb(config: object, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for ChromaDBVectorMemory's config: tenant, database and collection become the space."""
    given = _read(config, fields, _CHROMADB)
    embedder = "an embedder for the book"
    _warn(given, _CHROMADB, {"score_threshold": "threshold", "embedding_function_config": embedder})
    outer = [given[name] for name in ("tenant", "database") if given[name] != _CHROMADB[name]]
    made = {"space": "/".join([*outer, given["collection_name"]]), "k": given["k"]}
    if given["client_type"] == "persistent":
        made["where"] = Path(given["persistence_path"]) / "commonplace.db"
    return made


def read_mem0(config: object, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for Mem0Memory's config: what is added is the user's, and only that is found."""
    given = _read(config, fields, _MEM0)
    user = given["user_id"]
    if user is None:
        return {"scope": NOBODY, "k": given["limit"]}
    return {"scope": Scope(user=user), "within": Within(users=(user,), shared=False), "k": given["limit"]}


def translate_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the options of a query from the names that AutoGen's memories use."""
    made = {_SYNONYMS.get(name, name): value for name, value in options.items()}
    if "where" in made:
        made["filter"] = _metadata_filter(made.pop("where"))
    if "sequential" in made:
        made["order"] = "time" if made.pop("sequential") else "relevance"
    if "distance_threshold" in made:
        raise InvalidInput("distance_threshold cannot be converted: pass threshold, a probability from 0 to 1")
    return made


def _metadata_filter(where: Any) -> Any:
    """Return Chroma's filter, whose fields are all metadata, as a filter of a book."""
    if not isinstance(where, Mapping):
        raise InvalidInput(f"where is a mapping of metadata fields, not {where!r}")
    return {
        name if name.startswith("$") else f"metadata.{name}": (
            [_metadata_filter(each) for each in value] if name in ("$and", "$or") else value
        )
        for name, value in where.items()
    }


def _read(config: object, fields: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    told = (
        {name: getattr(config, name) for name in config.model_fields_set} if isinstance(config, BaseModel) else config
    )
    if told is not None and not isinstance(told, Mapping):
        raise InvalidInput(f"a config is AutoGen's config object or a mapping of its fields, not {config!r}")
    given = {**(told or {}), **fields}
    if unknown := sorted(given.keys() - known.keys()):
        raise InvalidInput(f"unknown field {unknown[0]!r}; known: {', '.join(known)}")
    defaults = {name: getattr(config, name, value) for name, value in known.items()}
    return {**defaults, **given}


def _warn(given: Mapping[str, Any], known: Mapping[str, Any], instead: Mapping[str, str]) -> None:
    """Warn of a choice that does not carry over; a default is not a choice."""
    for name, ours in instead.items():
        if given[name] != known[name] and getattr(given[name], "function_type", None) != "default":
            warnings.warn(f"{name} does not carry over: distances differ by embedder. Set {ours}.", stacklevel=4)
