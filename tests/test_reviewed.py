"""Faults that a review found once: each of these failed before it was mended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import numpy as np
import pytest

import commonplace
from commonplace import Conflict, Draft, InvalidInput, Scope, Settings, StoreBusy, TooLarge
from commonplace.store.tables import traces
from commonplace.testing import HashEmbedder
from commonplace.testing.embedders import HashEmbedder as Hash
from commonplace.transfer.reindex import embed_batch, finish

NORMAL = Settings(durability="normal")


def opened(path: Path, settings: Settings = NORMAL) -> commonplace.Book:
    return commonplace.open(path, embedder=HashEmbedder(), settings=settings)


@pytest.mark.parametrize(
    "wrong", [{"durability": "fulll"}, {"durability": "off"}, {"candidates": -5}, {"busy_timeout": 0}]
)
def test_a_setting_that_means_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Settings(**wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_group_that_stays_locked_waits_once_not_once_a_caller(tmp_path: Path) -> None:
    outcomes: list[object] = []
    with opened(tmp_path / "book.db", Settings(busy_timeout=0.5)) as book:
        book.kv("n").set("k", 0)
        other = apsw.Connection(str(tmp_path / "book.db"))
        other.execute("BEGIN IMMEDIATE")

        def write(i: int) -> None:
            try:
                outcomes.append(book.kv("n").set(str(i), i))
            except StoreBusy as error:
                outcomes.append(error)

        writers = [threading.Thread(target=write, args=(i,)) for i in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(timeout=20)
        other.execute("ROLLBACK")
        other.close()
        # Two groups at the most: the first caller's, and that of all who came meanwhile.
        assert [type(outcome) for outcome in outcomes] == [StoreBusy] * 8
        assert len({id(outcome) for outcome in outcomes}) == 8
        assert book.kv("n").keys() == ["k"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals to one's own process")
def test_a_signal_handler_may_close_a_book_amid_a_write(tmp_path: Path) -> None:
    program = f"""
import signal, sys, commonplace
book = commonplace.open({str(tmp_path / "book.db")!r}, embedder="none")
def stop(*_):
    book.close()
    sys.exit(7)
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.3)
while True:
    book.kv("n").set("k", 1)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], timeout=30, check=False)
        assert done.returncode == 7


def test_a_slow_embedder_does_not_date_a_memory_back(tmp_path: Path) -> None:
    class Slow(Hash):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            time.sleep(0.2 if "slow" in texts[0] else 0)
            return super().embed(texts)

    with commonplace.open(tmp_path / "book.db", embedder=Slow(), settings=NORMAL) as book:
        first = book.remember("the harbour plan")
        late = threading.Thread(target=lambda: book.remember("slow harbour plan", supersedes=[first.id]))
        late.start()
        time.sleep(0.05)
        book.revise(first.id, "the harbour plan, revised")
        late.join()
        steps = book.history(first.id)
        moments = [step.at for step in steps]
        assert moments == sorted(moments)
        assert [step.action for step in steps] == ["remembered", "revised", "superseded"]


def test_of_two_reembeddings_only_the_latest_goal_is_put_in_place(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db") as book:
        book.remember([f"memory {i}" for i in range(20)])
        store = book._store
        store.write(lambda tx: traces.begin_reembedding(tx, "X"), None)
        rows = store.read(lambda tx: traces.not_reembedded(tx, 10), None)
        store.write(lambda tx: traces.begin_reembedding(tx, "Y"), None)
        with pytest.raises(Conflict):
            embed_batch(store, HashEmbedder(8), "X", rows)
        with pytest.raises(Conflict):
            store.write(lambda tx: finish(tx, "X", None), None)  # type: ignore[arg-type]
        assert book.check(deep=True).ok


@pytest.mark.slow
def test_a_backup_of_a_busy_book_finishes(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db") as book, opened(tmp_path / "book.db") as busy:
        book.remember([f"memory {i} " + "word " * 200 for i in range(3000)])
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                busy.kv("n").append("log", 1)

        writer = threading.Thread(target=write)
        writer.start()
        copier = threading.Thread(target=book.backup, args=(tmp_path / "copy.db",))
        copier.start()
        copier.join(timeout=30)
        finished = not copier.is_alive()
        stop.set()
        writer.join()
        copier.join()
        assert finished
    with opened(tmp_path / "copy.db") as copy:
        assert copy.stats().memories == 3000
        assert copy.check(deep=True).ok


def test_a_graph_beside_a_restored_book_is_not_believed(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    path, rng = tmp_path / "book.db", np.random.default_rng(3)
    settings = Settings(segment_rows=300, durability="normal")
    with opened(path, settings) as book:
        book.remember([Draft(content=f"old {i}", vector=v) for i, v in enumerate(rng.standard_normal((200, 64)))])
        book.backup(tmp_path / "backup.db")
        book.remember([Draft(content=f"lost {i}", vector=v) for i, v in enumerate(rng.standard_normal((400, 64)))])
        book.recall("", vector=rng.standard_normal(64), threshold=0)
        for _ in range(200):
            if list(Path(f"{path}-hnsw").glob("*.hnsw")):
                break
            time.sleep(0.05)
    for part in ("", "-wal", "-shm"):
        Path(f"{path}{part}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", path)
    with opened(path, settings) as book:
        new = rng.standard_normal((400, 64))
        made = book.remember([Draft(content=f"new {i}", vector=v) for i, v in enumerate(new)])
        for memory, vector in list(zip(made, new, strict=True))[:50]:
            hits = book.recall("", vector=vector, k=3, threshold=0).hits
            assert memory.id in {hit.memory.id for hit in hits}


def test_forgetting_reaches_a_reembedding_that_was_stopped(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db") as book:
        memory = book.remember("the secret harbour")
        store = book._store
        store.write(lambda tx: traces.begin_reembedding(tx, "X"), None)
        embed_batch(store, HashEmbedder(), "X", store.read(lambda tx: traces.not_reembedded(tx, 100), None))
        book.forget(memory.id)
        assert store.read(lambda tx: tx.run("SELECT count(*) FROM reembedded WHERE space <> 1"), None)[0][0] == 0


def test_a_json_object_that_reads_as_too_much_text_is_refused(book_path: Path) -> None:
    with opened(book_path) as book:
        with pytest.raises(TooLarge):
            book.remember({"k" * 2000: [0] * 5000})
        assert len(book.list()) == 0


def test_a_patch_cannot_grow_a_file_beyond_the_limit(book_path: Path) -> None:
    with opened(book_path, Settings(max_content_bytes=1000)) as book:
        canvas = book.canvas("c")
        canvas.write("a.txt", "line\n" * 190)
        lines = "".join(f"+{'x' * 100}\n" for _ in range(2))
        with pytest.raises(TooLarge):
            canvas.apply(f"--- a/a.txt\n+++ b/a.txt\n@@ -190,1 +190,3 @@\n line\n{lines}")
        assert canvas.file("a.txt").revision == 1


def test_a_receipt_counts_each_memory_once(book_path: Path) -> None:
    from commonplace.memories.strength import make_receipt

    with opened(book_path) as book:
        memory = book.remember("the harbour")
        assert book.feedback(make_receipt([memory.id] * 100), "used") == 1


def test_exported_vectors_come_back_to_the_bit(tmp_path: Path) -> None:
    rows = np.random.default_rng(5).standard_normal((100, 64))
    with opened(tmp_path / "one.db") as one, opened(tmp_path / "two.db") as two:
        one.remember([Draft(content=f"m {i}", vector=row, scope=Scope(user="u")) for i, row in enumerate(rows)])
        told = list(one.export(vectors=True))
        two.load(told)
        again = list(two.export(vectors=True))
        assert [record.get("vector") for record in told] == [record.get("vector") for record in again]


@pytest.fixture
def book_path(tmp_path: Path) -> Path:
    return tmp_path / f"book-{os.getpid()}.db"
