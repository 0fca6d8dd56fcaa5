"""Processes that increment one key by compare-and-set: the sum must be right and no lock may reach a caller.

python bench/increments.py [--processes 64] [--increments 1000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import commonplace
from commonplace.testing import HashEmbedder

WORKER = """
import sys, commonplace
from commonplace.testing import HashEmbedder
path, increments = sys.argv[1], int(sys.argv[2])
kv, lost = commonplace.open(path, embedder=HashEmbedder()).kv("counters"), 0
print("ready", flush=True)
sys.stdin.readline()
for number in range(1, increments + 1):
    while True:
        entry = kv.entry("sum")
        try:
            kv.set("sum", entry.value + 1, if_version=entry.version)
            break
        except commonplace.Conflict:
            lost += 1
    if number % 100 == 0:
        print(f"{number} {lost}", flush=True)
print(f"done {lost}", flush=True)
"""


def main() -> int:
    """Run the race and print the result; the exit code is 1 if the sum is wrong or a worker failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--increments", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="where the book goes; a folder of its own by default")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=wanted.folder, prefix="increments-") as folder:
        return race(Path(folder) / "book.db", wanted.processes, wanted.increments)


def race(path: Path, processes: int, increments: int) -> int:
    """Start every worker, let them go at once, and compare the sum."""
    with commonplace.open(path, embedder=HashEmbedder()) as book:
        book.kv("counters").set("sum", 0)
    print(f"{processes} processes x {increments:,} increments of one key", flush=True)
    # One thread each: sixty processes with thread pools would measure the scheduler.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(increments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(processes)
    ]
    try:
        return _account(path, workers, processes * increments)
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def _account(path: Path, workers: list[subprocess.Popen[str]], wanted: int) -> int:
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n", "a worker did not start; its error is above"
    started = time.perf_counter()
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    watch = commonplace.open(path, embedder=HashEmbedder())
    kv = watch.kv("counters")
    while any(worker.poll() is None for worker in workers):
        time.sleep(5)
        print(f"  {kv.get('sum'):,} of {wanted:,} after {time.perf_counter() - started:.0f} s", flush=True)
    seconds = time.perf_counter() - started
    last = [worker.communicate()[0].splitlines()[-1:] for worker in workers]
    lost = sum(int(lines[0].split()[1]) for lines in last if lines and lines[0].startswith("done"))
    failed = sum(worker.returncode != 0 for worker in workers)
    entry = kv.entry("sum")
    assert entry is not None
    watch.close()
    print(f"  sum {entry.value:,} of {wanted:,}, version {entry.version:,}, {failed} workers failed")
    print(f"  {seconds:.1f} s, {wanted / seconds:,.0f} increments a second, {lost:,} lost races tried again")
    return 0 if entry.value == wanted and not failed else 1


if __name__ == "__main__":
    raise SystemExit(main())
