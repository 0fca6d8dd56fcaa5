"""chromadb, embedded (PersistentClient), with the vectors given and no embedding function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from corpus import Question, Row

from peers.base import K, Peer


class Adapter(Peer):
    piece = 5_000
    notes = (
        "words by $contains, unranked, the quicker of two ways; hybrid search is for its hosted service only",
        "a space is a metadata filter; a collection for each space was no quicker",
        "no asynchronous API in process: called through asyncio.to_thread",
    )

    def __init__(self, folder: Path, dimension: int) -> None:
        settings = Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(path=str(folder / "chroma"), settings=settings)
        self.rows = self.client.get_or_create_collection(
            "rows", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, row: Row) -> object:
        return self.add_many([row])

    def add_many(self, rows: Sequence[Row]) -> object:
        self.rows.add(
            ids=[str(r.number) for r in rows],
            embeddings=[r.vector for r in rows],
            documents=[r.text for r in rows],
            metadatas=[{"space": r.space} for r in rows],
        )
        return None

    def _query(self, question: Question, **where: Any) -> Any:
        return self.rows.query(
            query_embeddings=[question.vector],
            n_results=K,
            include=["documents", "metadatas", "distances"],
            **where,
        )

    def vector(self, question: Question) -> Any:
        return self._query(question)

    def both(self, question: Question) -> Any:
        """Two calls, fused by rank; one call with the words as a filter is slower and finds fewer."""
        near = self._query(question)
        worded = self.rows.get(where_document=_words(question), limit=K, include=["documents", "metadatas"])
        ranks: dict[str, float] = {}
        for ids in (near["ids"][0], worded["ids"]):
            for place, number in enumerate(ids):
                ranks[number] = ranks.get(number, 0.0) + 1.0 / (60 + place)
        return {"ids": [sorted(ranks, key=lambda n: -ranks[n])[:K]]}

    def space_vector(self, question: Question) -> Any:
        return self._query(question, where={"space": question.space})

    def space_both(self, question: Question) -> Any:
        """One call with both filters; here two calls are slower."""
        return self._query(question, where={"space": question.space}, where_document=_words(question))

    def numbers(self, answer: Any) -> list[int]:
        return [int(i) for i in answer["ids"][0]]


def _words(question: Question) -> Any:
    contains = [{"$contains": word} for word in question.words]
    return {"$or": contains} if len(contains) > 1 else contains[0]
