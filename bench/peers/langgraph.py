"""langgraph-checkpoint-sqlite: its SqliteStore, with a look-up of the vectors in place of an embedder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus import Question, Row

from peers.base import K, Peer
from peers.lookup import Vectors

NEEDS = "this Python's sqlite3 loads no extensions (sqlite-vec is one)"


def _loadable() -> str:
    """Give the store an sqlite3 that loads extensions; say which one it is, or nothing if there is none."""
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return "sqlite3"
    try:
        import pysqlite3
    except ImportError:
        return ""
    sys.modules["sqlite3"] = pysqlite3
    sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
    return "pysqlite3"


ENGINE = _loadable()

from langgraph.store.base import PutOp  # noqa: E402  (after the exchange of sqlite3)
from langgraph.store.sqlite import SqliteStore  # noqa: E402
from langgraph.store.sqlite.aio import AsyncSqliteStore  # noqa: E402

VECTOR = ("vector", "space_vector")
WORDS = ("both", "space_both")


class Adapter(Peer):
    missing = dict.fromkeys(WORDS, "no text search") | ({} if ENGINE else dict.fromkeys(VECTOR, NEEDS))
    notes = {
        "sqlite3": ("runs on the standard library's sqlite3",),
        "pysqlite3": (f"runs on pysqlite3-binary, because {NEEDS}",),
        "": (f"WITHOUT VECTORS, so its adds are cheaper than its users': {NEEDS}; install pysqlite3-binary",),
    }[ENGINE]

    def __init__(self, folder: Path, dimension: int) -> None:
        self.path = str(folder / "store.db")
        self.vectors = Vectors()
        self.index: Any = {"dims": dimension, "embed": self.vectors.many, "text_fields": ["text"]} if ENGINE else None
        self.opened = SqliteStore.from_conn_string(self.path, index=self.index)
        self.store = self.opened.__enter__()
        self.store.setup()

    def prepare(self, rows: Sequence[Row], questions: Sequence[Question]) -> None:
        self.vectors.learn(rows, questions)

    def add(self, row: Row) -> object:
        return self.store.put(("rows", row.space), str(row.number), {"text": row.text})

    def add_many(self, rows: Sequence[Row]) -> object:
        return self.store.batch([_put(row) for row in rows])

    def vector(self, question: Question) -> Any:
        return self.store.search(("rows",), query=question.text, limit=K)

    def space_vector(self, question: Question) -> Any:
        return self.store.search(("rows", question.space), query=question.text, limit=K)

    def numbers(self, answer: Any) -> list[int]:
        return [int(item.key) for item in answer]

    async def open_async(self) -> None:
        self.opened_async = AsyncSqliteStore.from_conn_string(self.path, index=self.index)
        self.async_store = await self.opened_async.__aenter__()
        await self.async_store.setup()

    async def add_async(self, row: Row) -> object:
        return await self.async_store.aput(("rows", row.space), str(row.number), {"text": row.text})

    async def recall_async(self, question: Question) -> object:
        return await self.async_store.asearch(("rows",), query=question.text, limit=K)

    async def close_async(self) -> None:
        await self.opened_async.__aexit__(None, None, None)

    def close(self) -> None:
        self.opened.__exit__(None, None, None)


def _put(row: Row) -> PutOp:
    return PutOp(("rows", row.space), str(row.number), {"text": row.text})
