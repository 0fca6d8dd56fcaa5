"""Compare commonplace's PostgreSQL engine with langgraph's PostgresStore: one server, one run, one table.

    python bench/postgres.py                          10,000 and 100,000 memories, and one space of 100,000
    python bench/postgres.py --sizes 1000000 --big 0  a million; an hour, most of it loading
    python bench/postgres.py --quick                  a smoke run

Both get the same texts and the same vectors, computed beforehand, so that no embedding is timed, in databases
of their own on one server with fsync and synchronous_commit on. Clients are threads in one process, or in
four where Python's lock would be what is measured. Calls are made in turns, a part of them at a time, so that
noise hits all alike. CPU is that of the clients and of all of the server's processes. `right` is the share of
the true ten nearest in the namespace that an answer by vector holds: a fast wrong answer is visible.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import corpus
import pg_fill
import pg_server
from corpus import Corpus
from measure import percentile
from pg_server import Server
from pg_table import Figures, Measured, show, verdict
from pg_truth import Truth, truth
from pg_worker import BATCH, Order, Result, Worker
from turns import say

PROCESSES = 4
CLIENTS = ((1, 1), (1, 32), (PROCESSES, 8))
OURS, EXACT, HNSW, FLAT = "commonplace", "commonplace-exact", "langgraph", "langgraph-flat"
NAMES = (OURS, HNSW, FLAT)
RECALLS = (("space_both", "recall by vector and words"), ("space_vector", "recall by vector"))
BIG = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The measurements of a run and their repetitions."""

    sizes: tuple[int, ...]
    big: int
    dimension: int
    seed: int
    names: tuple[str, ...] = NAMES
    questions: int = 400
    recalls: tuple[int, ...] = (400, 1600, 1600)
    adds: tuple[int, ...] = (240, 1600, 1600)
    batches: int = 4
    rounds: int = 4

    @property
    def spare(self) -> int:
        """Rows beyond the largest size, for the adds."""
        return sum(self.adds) + self.batches * BATCH


def main() -> None:
    """Measure, print, and write JSON if asked to."""
    options = _options()
    plan = _plan(options)
    folder = Path(tempfile.mkdtemp(prefix="pg-bench-", dir=options.tmp))
    measured: list[Measured] = []
    notes: list[str] = []
    try:
        with pg_server.running(folder, {}) as server:
            made = _corpus(folder, plan)
            machine = _machine(server)
            for line in _measure(server, made, plan, notes):
                measured.append(line)
                say(show([line], heads=False), lasting=True)
                if options.json:  # an interrupted run keeps its results
                    _write(options.json, plan, machine, measured, notes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say("", lasting=True)
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    print(show(measured))
    print("\n".join(["", "Notes", *(f"  {note}" for note in notes), "", verdict(measured, OURS)]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=_numbers, default=(10_000, 100_000), help="memories held, in 100 spaces")
    parser.add_argument("--big", type=int, default=100_000, help="memories of the one big space; 0 leaves it out")
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sides", type=lambda text: tuple(text.split(",")), default=NAMES, help=",".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="2,000 memories and few calls: does it run?")
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--tmp", type=Path, help="where the server's data is made (the system's temporary folder)")
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part.replace("_", "")) for part in text.split(",") if part))


def _plan(options: argparse.Namespace) -> Plan:
    common = {"dimension": options.dimension, "seed": options.seed, "names": options.sides}
    if options.quick:
        few = {"questions": 40, "recalls": (40, 64, 64), "adds": (20, 64, 64), "batches": 1, "rounds": 1}
        return Plan(sizes=(2_000,), big=2_000, **common, **few)  # type: ignore[arg-type]
    return Plan(sizes=options.sizes, big=options.big, **common)


def _corpus(folder: Path, plan: Plan) -> Corpus:
    say("making texts and vectors")
    rows = max((*plan.sizes, plan.big)) + plan.spare
    return corpus.make(folder / "corpus", rows=rows, questions=plan.questions, dimension=plan.dimension, seed=plan.seed)


def _measure(server: Server, made: Corpus, plan: Plan, notes: list[str]) -> Iterator[Measured]:
    for size in plan.sizes:
        yield from _at_size(server, made, plan, size, notes)
    if plan.big:
        yield from _one_space(server, made, plan, notes)


def _at_size(server: Server, made: Corpus, plan: Plan, size: int, notes: list[str]) -> Iterator[Measured]:
    """All lines for one number of memories, in databases of their own."""
    urls = pg_fill.databases(server, made, plan.names, plan.dimension, size, notes)
    with _workers(urls, plan.dimension, made.folder) as workers:
        run = _Run(server, workers, plan, size, truth(made, size))
        for operation, title in RECALLS:
            yield from run.recalls(operation, title)
        yield from run.adds()
        yield from run.batches()
    for name in urls:
        server.drop(pg_fill.database(name))


def _one_space(server: Server, made: Corpus, plan: Plan, notes: list[str]) -> Iterator[Measured]:
    """commonplace alone with all memories in one space: by an exact scan, and by its graph if it makes one."""
    url = server.make("big")
    with _workers({OURS: url, EXACT: url}, plan.dimension, made.folder) as workers:
        pg_fill.by_workers(server, workers[EXACT][:1], "big", plan.big, notes, space=BIG)
        known = truth(made, plan.big, space=BIG)
        _obey(workers[OURS][:1], [Order(operation="space_vector", asked=tuple(known.asked[:1]))])
        if not pg_fill.await_graph(server, "big", notes):
            del workers[OURS]
        run = _Run(server, workers, plan, plan.big, known)
        for operation, title in RECALLS:
            yield from run.recalls(operation, f"{title}, one space")
    server.drop("big")


@contextmanager
def _workers(urls: dict[str, str], dimension: int, folder: Path) -> Iterator[dict[str, list[Worker]]]:
    workers = {name: [Worker(name, url, dimension, folder) for _ in range(PROCESSES)] for name, url in urls.items()}
    started = [worker for group in workers.values() for worker in group]
    try:
        yield workers
    finally:
        for worker in started:
            worker.close()


class _Run:
    """The calls at one size, every side in turn."""

    def __init__(self, server: Server, workers: dict[str, list[Worker]], plan: Plan, size: int, known: Truth) -> None:
        self.server = server
        self.workers = workers
        self.plan = plan
        self.size = size
        self.known = known
        self.next = size
        for group in workers.values():
            for worker in group:
                _obey([worker], [Order(operation="warm")])

    def recalls(self, operation: str, title: str) -> Iterator[Measured]:
        for (processes, threads), calls in zip(CLIENTS, self.plan.recalls, strict=True):
            asked = [self.known.asked[i % len(self.known.asked)] for i in range(calls)]
            orders = [
                [Order(operation=operation, threads=threads, asked=tuple(part[i::processes])) for i in range(processes)]
                for part in _parts(asked, self.plan.rounds)
            ]
            # langgraph searches by vector alone; its line is compared with both of ours.
            peers = [[_with(order, "space_vector") for order in turn] for turn in orders]
            by_side = {name: orders if name in (OURS, EXACT) else peers for name in self.workers}
            yield self._measure(f"{title}, {_clients(processes, threads)}", by_side, check=operation == "space_vector")

    def adds(self) -> Iterator[Measured]:
        for (processes, threads), calls in zip(CLIENTS, self.plan.adds, strict=True):
            orders = []
            for part in _parts(range(self.next, self.next + calls), self.plan.rounds):
                bounds = [part[0] + len(part) * i // processes for i in range(processes + 1)]
                orders.append(
                    [
                        Order(operation="add", threads=threads, start=start, stop=stop)
                        for start, stop in pairwise(bounds)
                    ]
                )
            self.next += calls
            yield self._measure(f"add one, {_clients(processes, threads)}", dict.fromkeys(self.workers, orders))

    def batches(self) -> Iterator[Measured]:
        starts = range(self.next, self.next + self.plan.batches * BATCH, BATCH)
        orders = [[Order(operation="add_many", start=s, stop=s + BATCH, space="s00")] for s in starts]
        yield self._measure(f"add {BATCH:,} at once, 1 client", dict.fromkeys(self.workers, orders), each=BATCH)

    def _measure(
        self, title: str, orders: dict[str, list[list[Order]]], *, each: int = 1, check: bool = False
    ) -> Measured:
        totals = {name: _Total() for name in orders}
        for turn in range(len(next(iter(orders.values())))):
            for name, total in totals.items():
                say(f"{self.size:,}: {title}: {name}, {turn + 1}")
                total.take(self.server, self.workers[name], orders[name][turn])
        figures = {
            name: total.figures(each, self.known if check or name not in (OURS, EXACT) else None)
            for name, total in totals.items()
        }
        return Measured(size=self.size, title=title, unit="row" if each > 1 else "call", figures=figures)


class _Total:
    """The results of one side over all its turns."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.elapsed = self.client = self.server = 0.0
        self.answers: dict[int, list[int]] = {}

    def take(self, server: Server, workers: list[Worker], orders: list[Order]) -> None:
        used = workers[: len(orders)]
        for worker, order in zip(used, orders, strict=True):
            worker.prepare(order)
        for worker in used:
            worker.ready()
        before, start = server.cpu(), time.perf_counter()
        for worker in used:
            worker.go()
        results: list[Result] = [worker.result() for worker in used]
        self.elapsed += time.perf_counter() - start
        self.server += server.cpu() - before
        for result in results:
            self.client += result.cpu
            self.wall += result.wall
            self.answers |= result.answers

    def figures(self, each: int, known: Truth | None) -> Figures:
        rows = len(self.wall) * each
        return Figures(
            p50=percentile(self.wall, 0.5),
            p95=percentile(self.wall, 0.95),
            rate=rows / self.elapsed,
            client=1e3 * self.client / rows,
            server=1e3 * self.server / rows,
            right=known.share(self.answers) if known is not None and self.answers else None,
            calls=len(self.wall),
        )


def _obey(workers: list[Worker], orders: list[Order]) -> None:
    for worker, order in zip(workers, orders, strict=True):
        worker.prepare(order)
        worker.ready()
        worker.go()
        worker.result()


def _with(order: Order, operation: str) -> Order:
    return Order(operation=operation, threads=order.threads, asked=order.asked)


def _parts(items: Any, count: int) -> list[Any]:
    """Equal parts in order."""
    return [items[len(items) * i // count : len(items) * (i + 1) // count] for i in range(count)]


def _clients(processes: int, threads: int) -> str:
    if processes > 1:
        return f"{processes}×{threads} clients"
    return "1 client" if threads == 1 else f"{threads} clients"


def _machine(server: Server) -> dict[str, str]:
    names = ("langgraph-checkpoint-postgres", "psycopg", "commonplace")
    versions = {name: metadata.version(name) for name in names}
    return {"Python": platform.python_version(), **versions, "server": server.version, "cores": str(os.cpu_count())}


def _write(path: Path, plan: Plan, machine: dict[str, str], measured: list[Measured], notes: list[str]) -> None:
    everything = {
        "machine": machine,
        "plan": asdict(plan),
        "server": pg_server.SETTINGS,
        "lines": [asdict(each) for each in measured],
        "notes": notes,
        "verdict": verdict(measured, OURS),
    }
    path.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
