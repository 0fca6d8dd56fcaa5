"""langgraph-checkpoint-postgres: its PostgresStore, with a look-up of the vectors in place of an embedder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import psycopg
from corpus import Question, Row
from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from pgvector.psycopg import register_vector

from peers.base import K, Peer
from peers.lookup import Vectors

POOL = 8
_STORE = "COPY store (prefix, key, value) FROM STDIN"
_VECTORS = "COPY store_vectors (prefix, key, field_name, embedding) FROM STDIN (FORMAT BINARY)"
_INDEX = "store_vectors_embedding_idx"


class Adapter(Peer):
    """One store; a row's space is a namespace of it. Its default index is HNSW."""

    kind: ClassVar[dict[str, str]] = {}
    missing: ClassVar[dict[str, str]] = {"space_both": "no text search"}
    notes = (
        f"from_conn_string with pool_config max_size={POOL}; it holds one lock around every call all the same",
        "filled by COPY, its index built afterwards; its batch line is store.batch of PutOps",
    )

    def __init__(self, url: str, dimension: int) -> None:
        self.url = url
        self.vectors = Vectors()
        index: Any = {"dims": dimension, "embed": self.vectors.many, "fields": ["text"]}
        if self.kind:
            index["ann_index_config"] = dict(self.kind)
        pool: Any = {"min_size": 1, "max_size": POOL}
        self.opened = PostgresStore.from_conn_string(url, pool_config=pool, index=index)
        self.store = self.opened.__enter__()
        self.store.setup()

    def prepare(self, rows: Sequence[Row], questions: Sequence[Question]) -> None:
        self.vectors.learn(rows, questions)

    def warm(self, spaces: Sequence[str]) -> None:
        """Nothing to find out beforehand."""

    def add(self, row: Row) -> object:
        return self.store.put(("rows", row.space), str(row.number), {"text": row.text})

    def add_many(self, rows: Sequence[Row]) -> object:
        return self.store.batch([_put(row) for row in rows])

    def space_vector(self, question: Question) -> Any:
        return self.store.search(("rows", question.space), query=question.text, limit=K)

    def numbers(self, answer: Any) -> list[int]:
        return [int(item.key) for item in answer]

    def close(self) -> None:
        self.opened.__exit__(None, None, None)


class Flat(Adapter):
    """The same without an approximate index: every search reads the namespace."""

    kind: ClassVar[dict[str, str]] = {"kind": "flat"}
    notes: ClassVar[tuple[str, ...]] = ("ann_index_config kind=flat: exact",)  # type: ignore[assignment]


def _put(row: Row) -> PutOp:
    return PutOp(("rows", row.space), str(row.number), {"text": row.text})


def copy_rows(url: str, rows: Iterable[Row]) -> None:
    """Fill its tables as a restore would."""
    held = list(rows)
    with psycopg.connect(url) as connection:
        register_vector(connection)
        with connection.cursor().copy(_STORE) as copy:
            for row in held:
                copy.write_row((f"rows.{row.space}", str(row.number), json.dumps({"text": row.text})))
        with connection.cursor().copy(_VECTORS) as copy:
            copy.set_types(["text", "text", "text", "vector"])
            for row in held:
                copy.write_row((f"rows.{row.space}", str(row.number), "text", row.vector))


def drop_index(url: str) -> str:
    """Take its vector index away, and say how it is made again; nothing if there is none."""
    with psycopg.connect(url) as connection:
        made = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [_INDEX]).fetchall()
        connection.execute(f"DROP INDEX IF EXISTS {_INDEX}")
        return str(made[0][0]) if made else ""
