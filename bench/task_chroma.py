"""AutoGen's task-centric memory without its download: its collections use the embedder of commonplace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from commonplace.models.embedders.static import StaticEmbedder


@contextmanager
def shipped_embedding() -> Iterator[None]:
    """Let every collection created meanwhile embed with the included model of commonplace."""
    from chromadb.api.client import Client

    make = Client.create_collection
    function = _function(StaticEmbedder())

    def with_function(self: Any, name: str, **options: Any) -> Any:
        return make(self, name, **{**options, "embedding_function": function})

    Client.create_collection = with_function
    try:
        yield
    finally:
        Client.create_collection = make


def _function(embedder: StaticEmbedder) -> Any:
    from chromadb import EmbeddingFunction

    class Shipped(EmbeddingFunction):  # type: ignore[misc]
        """The embedder in the form that Chroma calls."""

        def __init__(self) -> None:
            """Nothing to set up; Chroma warns of functions that inherit this."""

        def __call__(self, input: Any) -> Any:
            return [*embedder.embed(list(input))]

        @staticmethod
        def name() -> str:
            return "shipped"

        @staticmethod
        def build_from_config(config: Any) -> Any:
            return Shipped()

        def get_config(self) -> dict[str, Any]:
            return {}

    return Shipped()
