"""Clients of the PostgreSQL benchmarks: processes with threads that wait for an order, then for the start signal."""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import corpus
from corpus import SPACES, Corpus, Question, Row

SIDES = {
    "commonplace": ("pg_ours", "Adapter"),
    "commonplace-exact": ("pg_ours", "Exact"),
    "langgraph": ("peers.langgraph_postgres", "Adapter"),
    "langgraph-flat": ("peers.langgraph_postgres", "Flat"),
}
BATCH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The work of one process, and its number of threads."""

    operation: str
    """A method of the adapter, or `fill`, `batch` or `warm`."""
    threads: int = 1
    asked: tuple[tuple[int, str], ...] = ()
    """Questions by number, each with the space that it is asked in."""
    start: int = 0
    stop: int = 0
    part: tuple[int, int] = (0, 1)
    """Of the rows from start to stop: those of every n-th space, for a filling by several."""
    space: str | None = None
    """One space for all rows, in place of their own."""


@dataclass(slots=True, kw_only=True)
class Result:
    """The results of one process: milliseconds of each call, CPU seconds, and the answers."""

    wall: list[float] = field(default_factory=list)
    cpu: float = 0.0
    answers: dict[int, list[int]] = field(default_factory=dict)
    error: str = ""


class Worker:
    """The parent's handle on one process."""

    def __init__(self, name: str, url: str, dimension: int, folder: Path) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name, url, dimension, folder), daemon=True)
        self._process.start()

    def prepare(self, order: Order) -> None:
        """Hand over an order; read back with `ready`."""
        self._pipe.send(order)

    def ready(self) -> None:
        self._received()

    def go(self) -> None:
        self._pipe.send("go")

    def result(self) -> Result:
        return self._received()

    def close(self) -> None:
        self._pipe.send(None)
        self._process.join(20)

    def _received(self) -> Result:
        result: Result = self._pipe.recv()
        if result.error:
            raise SystemExit(f"a client failed: {result.error}")
        return result


def serve(pipe: Connection, name: str, url: str, dimension: int, folder: Path) -> None:
    """Run the process: open the candidate, then execute orders."""
    module, kind = SIDES[name]
    adapter = getattr(import_module(module), kind)(url, dimension)
    made = Corpus(folder)
    questions = made.questions()
    while (order := pipe.recv()) is not None:
        try:
            items = _items(adapter, order, made, questions)
            gc.collect()
            gc.freeze()  # the garbage collector should not scan the prepared data
            pipe.send(Result())
            pipe.recv()
            pipe.send(_run(adapter, order, items))
        except Exception as error:  # noqa: BLE001  # reported to the parent, which ends the run
            pipe.send(Result(error=f"{type(error).__name__}: {error}"))
    adapter.close()


def _items(adapter: Any, order: Order, made: Corpus, questions: Sequence[Question]) -> list[tuple[int, Any]]:
    """Prepare the arguments of the calls, with their numbers; this is not timed."""
    if order.asked:
        asked = [replace(questions[number], space=space) for number, space in order.asked]
        adapter.prepare([], asked)
        return [(number, question) for (number, _), question in zip(order.asked, asked, strict=True)]
    if order.operation == "fill":
        return list(enumerate(_filling(made, order)))
    if order.operation == "warm":
        return [(0, [corpus.space_of(number) for number in range(SPACES)])]
    rows = [replace(row, space=order.space or row.space) for row in made.rows(order.start, order.stop)]
    adapter.prepare(rows, [])
    if order.operation == "add_many":
        return [(place, rows[place : place + BATCH]) for place in range(0, len(rows), BATCH)]
    return [(row.number, row) for row in rows]


def _filling(made: Corpus, order: Order) -> Iterator[list[Row]]:
    """A process's share of the rows, a space at a time, in batches."""
    part, parts = order.part
    for start in range(order.start, order.stop, BATCH * SPACES):
        held: dict[str, list[Row]] = {}
        for row in _shared(made, start, min(start + BATCH * SPACES, order.stop), part, parts):
            held.setdefault(order.space or row.space, []).append(replace(row, space=order.space or row.space))
        for rows in held.values():
            yield from (rows[place : place + BATCH] for place in range(0, len(rows), BATCH))


def _shared(made: Corpus, start: int, stop: int, part: int, parts: int) -> Iterator[Row]:
    import numpy as np

    vectors = np.load(made.folder / "vectors.npy", mmap_mode="r")
    with (made.folder / "texts.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(islice(lines, start, stop), start):
            if number % SPACES % parts == part:
                space = corpus.space_of(number)
                yield Row(number=number, text=json.loads(line), space=space, vector=vectors[number], floats=[])


def _run(adapter: Any, order: Order, items: list[tuple[int, Any]]) -> Result:
    result = Result()
    waiting = iter(items)
    call = getattr(adapter, "add_many" if order.operation == "fill" else order.operation)
    failed: list[str] = []

    def hand() -> None:
        try:
            for number, item in waiting:
                start = time.perf_counter()
                answer = call(item)
                result.wall.append((time.perf_counter() - start) * 1e3)
                if order.asked:
                    result.answers[number] = answer
        except Exception as error:  # noqa: BLE001  # a thread's error is the order's
            failed.append(f"{type(error).__name__}: {error}")

    spent = time.process_time()
    threads = [threading.Thread(target=hand) for _ in range(order.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.cpu = time.process_time() - spent
    result.answers = {number: adapter.numbers(answer) for number, answer in result.answers.items()}
    result.error = "; ".join(failed[:1])
    return result
