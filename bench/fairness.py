"""Measure how long others wait while one learning job settles many memories: `python bench/fairness.py [SIZE…]`.

A message with SIZE decisions is learned in one space. Meanwhile threads of the same process and a process beside it
write and recall in another space, fifty times a second at most. Printed are the longest and the 99th percentile of the
times that each of them waited, and the CPU time and the rows of the longest transaction in the learning process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commonplace
from commonplace import Book, CommonplaceError
from commonplace.local import LocalBook
from commonplace.store.sqlite.store import SqliteStore

SIZES = (1_000, 3_500, 9_000)
PAUSE = 0.02
WAITING = "ready"


def main() -> None:
    """Measure each size in a new book and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--reader", default=None, help="the reader of the learning process: default, or none (none)")
    parser.add_argument("--beside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.beside is not None:
        stand_beside(given.beside)
        return
    print(f"{'decisions':>9} {'job s':>7}  {'longest / 99% wait, ms':<40} {'longest transaction':>22}")
    for size in given.sizes:
        with tempfile.TemporaryDirectory(prefix="fairness-") as folder:
            measure(Path(folder) / "book.db", size, given.reader)


def measure(path: Path, size: int, reader: str | None) -> None:
    """Learn one long message, and measure those who wait meanwhile."""
    text = " ".join(f"We chose alpha{i} over beta{i} because of gamma{i}." for i in range(size))
    with commonplace.open(path, reader=reader) as book:
        book.core.wake = lambda: None  # type: ignore[attr-defined]  # the job is run below
        other = book.in_space("other")
        other.remember([f"The harbour crane {i} is painted red" for i in range(50)])
        other.recall("Which crane is red?")
        beside = subprocess.Popen(
            [sys.executable, __file__, "--beside", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert beside.stdout is not None
        assert beside.stdout.readline().strip() == WAITING
        done = threading.Event()
        probes = [Probe("write", lambda: other.remember("a small note"), done), Probe("recall", recaller(other), done)]
        held = watch_transactions()
        for probe in probes:
            probe.start()
        book.learn([{"content": text, "name": "Ann"}])
        started = time.perf_counter()
        book.work()
        seconds = time.perf_counter() - started
        done.set()
        for probe in probes:
            probe.join()
        told, _ = beside.communicate("\n")
        waits = "; ".join([*(str(probe) for probe in probes), *told.strip().splitlines()])
        longest, rows = max(held)
        print(f"{size:>9,} {seconds:>7.1f}  {waits:<40} {1e3 * longest:>9,.0f} ms, {rows:,} rows", flush=True)
        print(f"          {book.stats().memories:,} memories; {sum(cpu for cpu, _ in held):.1f} s in transactions")


class Probe(threading.Thread):
    """Does something again and again, and keeps how long each time took."""

    def __init__(self, name: str, act: Callable[[], object], done: threading.Event) -> None:
        super().__init__(name=name)
        self.act, self.done = act, done
        self.waits: list[float] = []
        self.failed = 0

    def run(self) -> None:
        while not self.done.is_set():
            started = time.perf_counter()
            try:
                self.act()
            except CommonplaceError:
                self.failed += 1
            self.waits.append(time.perf_counter() - started)
            time.sleep(PAUSE)

    def __str__(self) -> str:
        waits = sorted(self.waits)
        told = f"{self.name} {1e3 * waits[-1]:,.0f} / {1e3 * waits[int(0.99 * len(waits))]:,.0f}"
        return f"{told} ({self.failed} failed)" if self.failed else told


def recaller(book: Book) -> Callable[[], object]:
    """Return what recalls from a book without its reader, which would take longer than any wait that is measured."""
    core = book.core.over(book.core.store)  # type: ignore[attr-defined]
    core.reader = None
    plain = LocalBook(core, "other")
    return lambda: plain.recall("Which crane is red?")


def stand_beside(path: Path) -> None:
    """Write and recall from another process until a line comes in."""
    done = threading.Event()
    with commonplace.open(path, space="other", reader=None) as book:
        book.recall("Which crane is red?")
        probes = [
            Probe("beside: write", lambda: book.remember("a small note"), done),
            Probe("beside: recall", lambda: book.recall("Which crane is red?"), done),
        ]
        for probe in probes:
            probe.start()
        print(WAITING, flush=True)
        sys.stdin.readline()
        done.set()
        for probe in probes:
            probe.join()
    for probe in probes:
        print(probe)


def watch_transactions() -> list[tuple[float, int]]:
    """Record the CPU seconds and the written rows of each transaction of this process from now on."""
    held: list[tuple[float, int]] = [(0.0, 0)]
    transact = SqliteStore._transact

    def watched(store: Any, tasks: Any) -> None:
        started, rows = time.thread_time(), store._writer.raw.total_changes()
        try:
            transact(store, tasks)
        finally:
            held.append((time.thread_time() - started, store._writer.raw.total_changes() - rows))

    SqliteStore._transact = watched  # type: ignore[method-assign,assignment]
    return held


if __name__ == "__main__":
    main()
