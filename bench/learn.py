"""Measure how fast a book learns: `learn` until it returns, and its jobs.

    python bench/learn.py tests/data/learning/dev.jsonl [--rounds 20]

Ten messages are given at a time, from the conversations of the file over and over, each round with names and
numbers of its own, so that little is said twice. Printed are the milliseconds until `learn` returned, when all ten
were on disk, beside one `remember` of the same ten texts in the same run; then the messages a second that were
extracted and reconciled, by wall clock and by CPU time, as the book grows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import commonplace
from commonplace import Book, Draft

TEN = 10


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=20, help="times a hundred messages (20)")
    options = parser.parse_args()
    said = [message for line in options.data.read_text().splitlines() for message in json.loads(line)["messages"]]
    with tempfile.TemporaryDirectory() as folder, commonplace.open(Path(folder) / "book.db") as book:
        book.core.wake = lambda: None  # type: ignore[attr-defined]  # the jobs are run, and timed, below
        book.learn("a: b", wait=True)
        given = _given(said)
        for number in range(options.rounds):
            _round(book, number, given)


def _given(said: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    number = 0
    while True:
        for message in said:
            number += 1
            name = f"{message.get('name') or message['role']}{number // len(said)}"
            yield {"name": name, "role": message["role"], "content": message["text"].replace("0", str(number % 10))}


def _round(book: Book, number: int, given: Iterator[dict[str, object]]) -> None:
    taken, plain = [], []
    for place in range(TEN):
        ten = list(islice(given, TEN))
        texts = [Draft(content=str(each["content"])) for each in ten]
        started = time.perf_counter()
        book.learn(ten, session=f"{number}-{place}")
        between = time.perf_counter()
        book.in_space("plain").remember(texts)
        taken.append(between - started)
        plain.append(time.perf_counter() - between)
    wall, cpu = time.perf_counter(), time.process_time()
    book.work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    ms, other = 1e3 * statistics.median(taken), 1e3 * statistics.median(plain)
    rate, by_cpu = TEN * TEN / wall, TEN * TEN / cpu
    held = book.stats().memories
    print(
        f"{held:7,} memories: learn {ms:5.1f} ms (x{ms / other:.1f} of remember);"
        f" then {rate:5.0f} messages/s, {by_cpu:5.0f} by CPU",
        flush=True,
    )


if __name__ == "__main__":
    main()
