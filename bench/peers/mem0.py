"""mem0ai with infer=False on its own default store (Qdrant in a local path); no language model is used."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

# It reads its settings at import.
os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))
os.environ.setdefault("OPENAI_API_KEY", "unused")

from corpus import Question, Row
from mem0 import AsyncMemory, Memory

from peers.base import K, Peer
from peers.lookup import Vectors

NO_WORDS = "its BM25 needs mem0ai[extras] and a model from the network"
EVERYBODY = {"agent_id": "bench"}


class LookUp:
    """Replaces mem0's embedder."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.vectors.one(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return self.vectors.many(texts)


class Adapter(Peer):
    missing = dict.fromkeys(("both", "space_both"), NO_WORDS)
    notes = (
        "infer=False, Qdrant in a local path, telemetry off; search() runs on vectors alone: " + NO_WORDS,
        "its AsyncMemory is called one at a time: on a local Qdrant overlapping calls raise IndexError",
        "filled through its vector store's insert, unsynced, since add() would need an hour",
    )

    together = 1

    def __init__(self, folder: Path, dimension: int) -> None:
        self.vectors = Vectors()
        store = {"collection_name": "rows", "embedding_model_dims": dimension, "path": str(folder / "qdrant")}
        self.config = {
            "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
            "history_db_path": str(folder / "history.db"),
        }
        self.memory = Memory.from_config(self.config)
        self.memory.embedding_model = LookUp(self.vectors)
        self.unsynced = False

    def prepare(self, rows: Sequence[Row], questions: Sequence[Question]) -> None:
        self.vectors.learn(rows, questions)

    def add(self, row: Row) -> object:
        return self.memory.add(
            row.text, user_id=row.space, agent_id="bench", metadata={"number": row.number}, infer=False
        )

    def add_many(self, rows: Sequence[Row]) -> object:
        """One add() for each user's rows: it takes many messages, but one user and one metadata for all."""
        by_space: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            by_space.setdefault(row.space, []).append({"role": "user", "content": row.text})
        for space, messages in by_space.items():
            self.memory.add(messages, user_id=space, agent_id="bench", metadata={"number": -1}, infer=False)
        return None

    def fill(self, rows: Sequence[Row]) -> None:
        if not self.unsynced:
            self.unsynced = True
            local = self.memory.vector_store.client._client
            local.collections["rows"].storage.storage.execute("pragma synchronous=off")
        self.memory.vector_store.insert(
            vectors=[row.floats for row in rows],
            ids=[str(uuid4()) for _ in rows],
            payloads=[_payload(row) for row in rows],
        )

    def _search(self, question: Question, filters: dict[str, str]) -> Any:
        return self.memory.search(question.text, filters=filters, top_k=K, threshold=0.0)

    def vector(self, question: Question) -> Any:
        return self._search(question, EVERYBODY)

    def space_vector(self, question: Question) -> Any:
        return self._search(question, {"user_id": question.space})

    def numbers(self, answer: Any) -> list[int]:
        return [hit["metadata"]["number"] for hit in answer["results"]]

    async def open_async(self) -> None:
        """Its AsyncMemory shares the store: Qdrant's local path may be opened once only."""
        self.async_memory = AsyncMemory.__new__(AsyncMemory)
        self.async_memory.__dict__.update(self.memory.__dict__)

    async def add_async(self, row: Row) -> object:
        return await self.async_memory.add(
            row.text, user_id=row.space, agent_id="bench", metadata={"number": row.number}, infer=False
        )

    async def recall_async(self, question: Question) -> object:
        return await self.async_memory.search(question.text, filters=EVERYBODY, top_k=K, threshold=0.0)

    def close(self) -> None:
        self.memory.close()


def _payload(row: Row) -> dict[str, object]:
    """Return the payload that mem0's own add writes for a row."""
    now = datetime.now(timezone.utc).isoformat()
    return {
        "user_id": row.space,
        "agent_id": "bench",
        "number": row.number,
        "role": "user",
        "data": row.text,
        "hash": hashlib.md5(row.text.encode()).hexdigest(),  # noqa: S324  (mem0's choice)
        "created_at": now,
        "updated_at": now,
        "text_lemmatized": row.text,
    }
