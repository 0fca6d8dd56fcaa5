"""A thousand kills of writers, then the time from process start to first recall after a kill at 100,000 memories.

python bench/kill.py [--kills 1000] [--memories 100000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import commonplace
from commonplace import Draft

REOPENINGS = 5
GOAL_SECONDS = 1.0
BATCH = 1_000

# One process that does nothing but write: what is killed while the log is long and a batch is under way.
WRITER = """
import sys, commonplace
book = commonplace.open(sys.argv[1])
for number in range(1_000_000):
    book.remember([f"Shift {sys.argv[2]}, delivery {number}: crate {i} arrived" for i in range(50)])
    print(number, flush=True)
"""

# Timed from outside, so that the interpreter's start and every import count.
FIRST_RECALL = """
import sys, resource, commonplace
with commonplace.open(sys.argv[1]) as book:
    hits = book.recall("what is kept in drawer 4711?").hits
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(len(hits), used.ru_utime + used.ru_stime, flush=True)
"""


def main() -> int:
    """Run both parts and print their figures; the exit code is 1 if anything was lost or invented."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the books go; a folder of its own by default")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=wanted.folder, prefix="kill-") as folder:
        sound = kill(Path(folder) / "kill.db", wanted.kills)
        reopen(Path(folder) / "large.db", wanted.memories)
    return 0 if sound else 1


def kill(path: Path, kills: int) -> bool:
    """Kill writers as often as wanted and print the result."""
    print(f"Killing writers {kills:,} times: 3 processes on one file", flush=True)
    command = [
        sys.executable,
        "-m",
        "commonplace.testing.contract.crash",
        str(path),
        "--kills",
        str(kills),
        "--every",
        "100",
    ]
    # Writers are forked: the process that forks them keeps to one thread.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    account = json.loads(done.stdout)
    for name, value in account.items():
        if name != "problems":
            print(f"  {name:<13} {value:>10,}")
    print("\n".join(f"  PROBLEM: {problem}" for problem in account["problems"]) or "  nothing lost, nothing in part")
    return not account["problems"]


def reopen(path: Path, memories: int) -> None:
    """Fill a book, then several times: kill its writer in the middle, and time a new process up to its first recall."""
    print(f"Filling a book with {memories:,} memories, default embedder", flush=True)
    started = time.perf_counter()
    with commonplace.open(path) as book:
        for first in range(0, memories, BATCH):
            drafts = [Draft(content=_memory(i)) for i in range(first, min(first + BATCH, memories))]
            book.remember(drafts)
            if (first + BATCH) % 20_000 == 0:
                print(f"  {first + BATCH:,} after {time.perf_counter() - started:.0f} s", flush=True)
    seconds = [_reopened(path, number) for number in range(REOPENINGS)]
    walls, cpus = zip(*seconds, strict=True)
    median = sorted(walls)[len(walls) // 2]
    print(f"Process start to first recall after a kill, {memories:,} memories, {REOPENINGS} times:")
    print("  wall s  " + "  ".join(f"{wall:.2f}" for wall in walls))
    print("  CPU s   " + "  ".join(f"{cpu:.2f}" for cpu in cpus))
    print(f"  median {median:.2f} s wall, goal {GOAL_SECONDS:g} s: {'met' if median < GOAL_SECONDS else 'MISSED'}")


def _memory(number: int) -> str:
    goods = ("copper wire", "old letters", "spare fuses", "tide tables", "brass keys", "lamp oil", "sea charts")
    return (
        f"Drawer {number} in cabinet {number % 97} holds {goods[number % 7]}; the keeper of shift {number % 31}"
        f" counted {number * 7919 % 1000} pieces and signed the list."
    )


def _reopened(path: Path, number: int) -> tuple[float, float]:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    started = time.perf_counter()
    reader = subprocess.Popen([sys.executable, "-c", FIRST_RECALL, str(path)], stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    hits, cpu = reader.stdout.readline().split()
    wall = time.perf_counter() - started
    reader.communicate()
    assert int(hits), "the first recall found nothing"
    return wall, float(cpu)


if __name__ == "__main__":
    raise SystemExit(main())
