"""Measure what the reader costs: CPU and wall time of a recall with and without it, cold start, memory, and under load.

    python bench/reader.py [--sizes 1000,10000,100000] [--questions 200]

Books are filled with invented sentences about people and teams. Times are of one process with one thread, alternating
with and without the reader; compare them as ratios.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import commonplace

PEOPLE = "Ana Ben Carla Dmitri Esra Finn Gita Hugo Ines Jonas Kirsi Luca Mara Nils Olga Piet Rosa Sami Tara Ugo".split()
THINGS = "invoice parcel database door contract recipe bicycle report server garden piano budget ticket lamp".split()
SAYINGS = (
    "{who} said that the {thing} of room {n} goes to {other} before Friday, because the last one was late",
    "{who} would rather have the {thing} in blue; {other} does not mind, as long as it is not number {n}",
    "The {thing} costs {n} euros now, and {who} asked {other} to look for another one",
    "{who} moved the {thing} to the cellar in week {n} and told {other} about it",
    "We decided against the {thing} from supplier {n}: {who} had a bad time with it, {other} agreed",
)
ASKING = (
    "Who takes care of the {thing}?",
    "What does {who} think of the {thing} by now?",
    "How much do we pay for the {thing}?",
    "Where can I find the {thing} that {who} put away?",
    "Can I order a {thing} for {who}?",
)


def make_texts(count: int, chance: random.Random) -> list[str]:
    return [_fill(chance.choice(SAYINGS), chance) for _ in range(count)]


def _fill(pattern: str, chance: random.Random) -> str:
    who, other = chance.sample(PEOPLE, 2)
    return pattern.format(who=who, other=other, thing=chance.choice(THINGS), n=chance.randrange(10_000))


def measure(book: commonplace.Book, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return the CPU and the wall time of each recall, in milliseconds, sorted."""
    cpu, wall = [], []
    for question in questions:
        began, started = time.process_time(), time.perf_counter()
        book.recall(question)
        cpu.append(1e3 * (time.process_time() - began))
        wall.append(1e3 * (time.perf_counter() - started))
    return sorted(cpu), sorted(wall)


def at(values: Sequence[float], share: float) -> float:
    return values[min(int(len(values) * share), len(values) - 1)]


def run_size(folder: Path, size: int, count: int) -> None:
    chance = random.Random(size)
    path = folder / f"{size}.db"
    with commonplace.open(path, reader=None) as plain, commonplace.open(path) as reading:
        texts = make_texts(size, chance)
        for start in range(0, size, 2_000):
            plain.remember(texts[start : start + 2_000])
        questions = [_fill(chance.choice(ASKING), chance) for _ in range(count)]
        for book in (plain, reading):
            measure(book, questions[:5])
        for name, book in (("without", plain), ("with", reading)):
            cpu, wall = measure(book, questions)
            print(f"{size:>7} memories, {name:<7} CPU p50 {at(cpu, 0.5):6.1f} p95 {at(cpu, 0.95):6.1f} ms, "
                  f"wall p50 {at(wall, 0.5):6.1f} p95 {at(wall, 0.95):6.1f} ms", flush=True)  # fmt: skip
        if size == 10_000:
            run_load(reading, questions)


def run_load(book: commonplace.Book, questions: Sequence[str], threads: int = 8) -> None:
    """Ask from several threads at once; count the answers and how many of their memories were read."""
    waits: list[float] = []
    read: list[bool] = []

    def work(some: Sequence[str]) -> None:
        for question in some:
            started = time.perf_counter()
            found = book.recall(question)
            waits.append(1e3 * (time.perf_counter() - started))
            read.extend(hit.parts.reread is not None for hit in found)

    started = time.perf_counter()
    workers = [threading.Thread(target=work, args=(questions[n::threads],)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    spent = time.perf_counter() - started
    waits.sort()
    wall = f"wall p50 {at(waits, 0.5):.0f} p95 {at(waits, 0.95):.0f} ms"
    print(f"        {threads} threads at once: {len(waits) / spent:.0f} answers a second, {wall}, "
          f"read {sum(read)} of {len(read)} hits")  # fmt: skip


COLD = """
import resource, sys, time
started = time.perf_counter()
import commonplace
book = commonplace.open(sys.argv[1], reader=None if sys.argv[2] == "none" else "default")
book.recall("Who takes care of the lamp?")
print(1e3 * (time.perf_counter() - started), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def run_cold(folder: Path) -> None:
    """Print the time and the memory of a new process up to its first answer."""
    path = folder / "cold.db"
    with commonplace.open(path, reader=None) as book:
        book.remember(make_texts(1_000, random.Random(1)))
    for reader in ("none", "default"):
        runs = [
            subprocess.run([sys.executable, "-c", COLD, str(path), reader], capture_output=True, text=True, check=True)
            for _ in range(5)
        ]
        milliseconds, megabytes = min(tuple(map(float, run.stdout.split())) for run in runs)
        print(f"new process, reader {reader}: first answer after {milliseconds:.0f} ms, {megabytes:.0f} MB at most")


def main() -> None:
    """Measure each size, then a new process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for size in map(int, options.sizes.split(",")):
            run_size(Path(name), size, options.questions)
        run_cold(Path(name))
    print(f"most memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
