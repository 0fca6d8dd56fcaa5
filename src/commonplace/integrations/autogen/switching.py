"""From the configs of AutoGen's own memories to CommonplaceMemory, field by field."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from typing_extensions import Self

from commonplace.errors import InvalidInput
from commonplace.integrations.door import Where
from commonplace.values import NOBODY, Scope, Within

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
_SAME_WORD = {"top_k": "k", "limit": "k", "n_results": "k"}


class Switching:
    """Constructors that take what AutoGen's memories are configured with: a config object, a mapping, or its fields."""

    @classmethod
    def from_redis_config(cls, config: object = None, *, where: Where | None = None, **fields: Any) -> Self:
        """A memory as RedisMemory is configured: `index_name` becomes the space."""
        given = _read(config, fields, _REDIS)
        _tell_of(given, _REDIS, {"distance_threshold": "threshold", "model_name": "an embedder for the book"})
        order = "time" if given["sequential"] else "relevance"
        return cls(where, space=given["index_name"], k=given["top_k"], order=order)  # type: ignore[call-arg]  # the class that this is mixed into

    @classmethod
    def from_chromadb_config(cls, config: object = None, *, where: Where | None = None, **fields: Any) -> Self:
        """A memory as ChromaDBVectorMemory is configured: tenant, database and collection become the space.

        A persistent one is kept in its `persistence_path`, beside what is there.
        """
        given = _read(config, fields, _CHROMADB)
        embedder = "an embedder for the book"
        _tell_of(given, _CHROMADB, {"score_threshold": "threshold", "embedding_function_config": embedder})
        if where is None and given["client_type"] == "persistent":
            where = Path(given["persistence_path"]) / "commonplace.db"
            where.parent.mkdir(parents=True, exist_ok=True)
        outer = [given[name] for name in ("tenant", "database") if given[name] != _CHROMADB[name]]
        space = "/".join([*outer, given["collection_name"]])
        return cls(where, space=space, k=given["k"])  # type: ignore[call-arg]  # as above

    @classmethod
    def from_mem0_config(cls, settings: object = None, /, *, where: Where | None = None, **fields: Any) -> Self:
        """A memory as Mem0Memory is configured: what is added is the user's, and only that is found."""
        # Positional only: Mem0's config has a field that is called config.
        given = _read(settings, fields, _MEM0)
        user = given["user_id"]
        scope = NOBODY if user is None else Scope(user=user)
        within = None if user is None else Within(users=(user,), shared=False)
        return cls(where, scope=scope, within=within, k=given["limit"])  # type: ignore[call-arg]  # as above


def in_our_words(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a query, where AutoGen's memories have another word for one; what cannot be translated is refused."""
    said = {_SAME_WORD.get(name, name): value for name, value in options.items()}
    if "where" in said:
        said["filter"] = _metadata_filter(said.pop("where"))
    if "sequential" in said:
        said["order"] = "time" if said.pop("sequential") else "relevance"
    if "distance_threshold" in said:
        raise InvalidInput("distances of another embedder mean nothing here: pass threshold, a probability from 0 to 1")
    return said


def _metadata_filter(where: Any) -> Any:
    """Chroma's filter, whose fields are all metadata."""
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


def _tell_of(given: Mapping[str, Any], known: Mapping[str, Any], instead: Mapping[str, str]) -> None:
    """Warn of a choice that does not carry over; the defaults were nobody's choice."""
    for name, ours in instead.items():
        if given[name] != known[name] and getattr(given[name], "function_type", None) != "default":
            warnings.warn(f"{name} does not carry over: distances differ by embedder. Set {ours}.", stacklevel=3)
