"""Threads and signal handlers of one process on one book: no caller waits long, and times stay in order."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

import commonplace
from commonplace import Settings, StoreBusy
from commonplace.models.embedders.base import Vectors
from commonplace.testing import HashEmbedder

NORMAL = Settings(durability="normal")


def opened(path: Path, settings: Settings = NORMAL) -> commonplace.Book:
    return commonplace.open(path, embedder=HashEmbedder(), settings=settings)


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
        done = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
        assert done.returncode == 7


def test_a_slow_embedder_does_not_date_a_memory_back(tmp_path: Path) -> None:
    begun, revised = threading.Event(), threading.Event()

    class Slow(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if "slow" in texts[0]:
                begun.set()
                assert revised.wait(60)
            return super().embed(texts)

    with commonplace.open(tmp_path / "book.db", embedder=Slow(), settings=NORMAL) as book:
        first = book.remember("the harbour plan")
        late = threading.Thread(target=lambda: book.remember("slow harbour plan", supersedes=[first.id]))
        late.start()
        assert begun.wait(60)
        book.revise(first.id, "the harbour plan, revised")
        revised.set()
        late.join()
        steps = book.history(first.id)
        moments = [step.at for step in steps]
        assert moments == sorted(moments)
        assert [step.action for step in steps] == ["remembered", "revised", "superseded"]


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
