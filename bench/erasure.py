"""How long writers of another space wait while a person is erased.

python bench/erasure.py                  a file
python bench/erasure.py postgresql://…   a PostgreSQL database (a schema of its own is best)
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import commonplace
from commonplace import Draft, Scope
from commonplace.testing import HashEmbedder

MEMORIES, BATCH = 20_000, 500
SARAH = Scope(user="sarah")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        where = sys.argv[1] if len(sys.argv) > 1 else str(Path(place) / "book.db")
        with commonplace.open(where, embedder=HashEmbedder(), reader=None) as book:
            for start in range(0, MEMORIES, BATCH):
                each = range(start, start + BATCH)
                book.remember([Draft(content=f"note {n} about tea and trains " * 8, scope=SARAH) for n in each])
            waits: list[float] = []
            ended = threading.Event()
            quiet = _measure(book, 2.0)
            writer = threading.Thread(target=_write, args=(book, waits, ended))
            writer.start()
            started, cpu = time.perf_counter(), time.process_time()
            receipt = book.forget(user="sarah").receipt
            took, used = time.perf_counter() - started, time.process_time() - cpu
            ended.set()
            writer.join()
            print(f"erased {MEMORIES:,} memories in {took:.1f} s ({used:.1f} s of CPU, both threads)")
            print(f"a writer of another space: {len(waits):,} writes meanwhile, {_show(waits)}; alone {_show(quiet)}")
            started = time.perf_counter()
            settled = book.settle_receipts()[-1].settled_at is not None
            print(f"settled: {settled}, in {time.perf_counter() - started:.1f} s; receipt {receipt and receipt.number}")


def _measure(book: commonplace.Book, seconds: float) -> list[float]:
    waits: list[float] = []
    ended = threading.Event()
    threading.Timer(seconds, ended.set).start()
    _write(book, waits, ended)
    return waits


def _write(book: commonplace.Book, waits: list[float], ended: threading.Event) -> None:
    other = book.in_space("other").kv("n")
    number = 0
    while not ended.is_set():
        number += 1
        started = time.perf_counter()
        other.set("k", number)
        waits.append(time.perf_counter() - started)


def _show(waits: list[float]) -> str:
    ordered = sorted(waits)
    middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"median {middle * 1e3:.1f} ms, 99 % {late * 1e3:.1f} ms, longest {ordered[-1] * 1e3:.1f} ms"


if __name__ == "__main__":
    main()
