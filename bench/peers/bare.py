"""Bare SQLite: a row, an FTS5 entry and a vector blob in one durable transaction; the minimum cost.

Vectors are searched exactly, in a float32 matrix that is read once. There are no versions, no
scores, no calibration, no token budget and no other process to catch up with.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpus import Question, Row

from peers.base import K, Peer

DEPTH = 50
SCHEMA = """
create table if not exists item (id integer primary key, space text, text text, vector blob);
create virtual table if not exists words using fts5(space, text, content='');
"""


class Adapter(Peer):
    notes = ("rows, FTS5 and float32 blobs by the standard library, WAL, synchronous=FULL; exact search in numpy",)

    def __init__(self, folder: Path, dimension: int) -> None:
        self.db = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
        self.db.execute("pragma journal_mode=wal")
        self.db.execute("pragma synchronous=full")
        self.db.executescript(SCHEMA)
        self.lock = threading.Lock()
        self.size = 0
        self.matrix = np.empty((1_024, dimension), np.float32)
        self.ids = np.empty(1_024, np.int64)
        self.spaces: dict[str, list[int]] = {}
        for number, space, blob in self.db.execute("select id, space, vector from item"):
            self._learn(number, space, np.frombuffer(blob, np.float32))

    def _learn(self, number: int, space: str, vector: np.ndarray) -> None:
        if self.size == len(self.matrix):
            self.matrix = np.concatenate([self.matrix, np.empty_like(self.matrix)])
            self.ids = np.concatenate([self.ids, np.empty_like(self.ids)])
        self.matrix[self.size], self.ids[self.size] = vector, number
        self.spaces.setdefault(space, []).append(self.size)
        self.size += 1

    def add(self, row: Row) -> object:
        return self.add_many([row])

    def add_many(self, rows: Sequence[Row]) -> object:
        with self.lock:
            self.db.execute("begin immediate")
            self.db.executemany(
                "insert into item values (?, ?, ?, ?)",
                [(r.number, r.space, r.text, r.vector.tobytes()) for r in rows],
            )
            self.db.executemany(
                "insert into words (rowid, space, text) values (?, ?, ?)",
                [(r.number, r.space, r.text) for r in rows],
            )
            self.db.execute("commit")
            for row in rows:
                self._learn(row.number, row.space, row.vector)
        return None

    def _nearest(self, question: Question, space: str | None, k: int) -> list[int]:
        if space is None:
            ids, scores = self.ids[: self.size], self.matrix[: self.size] @ question.vector
        else:
            where = np.array(self.spaces.get(space, ()), np.int64)
            ids, scores = self.ids[where], self.matrix[where] @ question.vector
        best = np.argpartition(-scores, min(k, len(scores) - 1))[:k]
        found: list[int] = ids[best[np.argsort(-scores[best])]].tolist()
        return found

    def _matching(self, question: Question, space: str | None) -> list[int]:
        words = "text : (" + " OR ".join(f'"{word}"' for word in question.words) + ")"
        match = words if space is None else f"space : {space} AND {words}"
        sql = "select rowid from words where words match ? order by bm25(words, 0.0, 1.0) limit ?"
        return [number for (number,) in self.db.execute(sql, (match, DEPTH))]

    def _fetch(self, numbers: list[int]) -> list[Any]:
        marks = ",".join("?" * len(numbers))
        sql = f"select id, space, text from item where id in ({marks})"  # noqa: S608  (only question marks)
        rows = {row[0]: row for row in self.db.execute(sql, numbers)}
        return [rows[number] for number in numbers]

    def _fused(self, question: Question, space: str | None) -> list[Any]:
        ranks: dict[int, float] = {}
        for found in (self._nearest(question, space, DEPTH), self._matching(question, space)):
            for place, number in enumerate(found):
                ranks[number] = ranks.get(number, 0.0) + 1.0 / (60 + place)
        return self._fetch(sorted(ranks, key=lambda n: -ranks[n])[:K])

    def vector(self, question: Question) -> Any:
        with self.lock:
            return self._fetch(self._nearest(question, None, K))

    def both(self, question: Question) -> Any:
        with self.lock:
            return self._fused(question, None)

    def space_vector(self, question: Question) -> Any:
        with self.lock:
            return self._fetch(self._nearest(question, question.space, K))

    def space_both(self, question: Question) -> Any:
        with self.lock:
            return self._fused(question, question.space)

    def numbers(self, answer: Any) -> list[int]:
        return [row[0] for row in answer]

    def close(self) -> None:
        self.db.close()
