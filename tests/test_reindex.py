"""Reindexing at the same time as another reindexing, or as forget."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonplace
from commonplace import Conflict, Settings
from commonplace.store.tables import traces
from commonplace.testing import HashEmbedder
from commonplace.transfer.reindex import embed_batch, finish

NORMAL = Settings(durability="normal")


def opened(path: Path, settings: Settings = NORMAL) -> commonplace.Book:
    return commonplace.open(path, embedder=HashEmbedder(), settings=settings)


def test_of_two_reembeddings_only_the_latest_goal_is_put_in_place(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db") as book:
        book.remember([f"memory {i}" for i in range(20)])
        store = book._store  # type: ignore[attr-defined]
        store.write(lambda tx: traces.begin_reembedding(tx, "X"), None)
        rows = store.read(lambda tx: traces.find_not_reembedded(tx, 10), None)
        store.write(lambda tx: traces.begin_reembedding(tx, "Y"), None)
        with pytest.raises(Conflict):
            embed_batch(store, HashEmbedder(8), "X", rows)
        with pytest.raises(Conflict):
            store.write(lambda tx: finish(tx, "X", None), None)  # type: ignore[arg-type]
        assert book.check(deep=True).ok


def test_forgetting_reaches_a_reembedding_that_was_stopped(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db") as book:
        memory = book.remember("the secret harbour")
        store = book._store  # type: ignore[attr-defined]
        store.write(lambda tx: traces.begin_reembedding(tx, "X"), None)
        embed_batch(store, HashEmbedder(), "X", store.read(lambda tx: traces.find_not_reembedded(tx, 100), None))
        book.forget(memory.id)
        assert store.read(lambda tx: tx.run("SELECT count(*) FROM reembedded WHERE space <> 1"), None)[0][0] == 0
