"""The trials: first those without data, then everything at each size."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import lines
import numpy as np
import peers
from corpus import Corpus
from fleet import Worker, once
from install import install
from measure import percentile
from peers.base import OPERATIONS, K
from results import Cell, Line, Table, rate, spread
from turns import Got, Turns, say

SLICE = 5_000
"""Rows that a worker is filled with before it reports progress."""
WARM = 3
"""Calls before the first that counts: they read indexes, which is the cold start's line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The sizes, repetitions and candidates of a run."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    dimension: int = 384
    seed: int = 7
    limit: float = 600.0
    questions: int = 200
    chunk: int = 10
    adds: int = 200
    batches: int = 8
    batch: int = 250
    calls: int = 1_000
    repeats: int = 5

    @property
    def spare(self) -> int:
        """Rows beyond a store's size: what the adds need."""
        return self.adds + self.batches * self.batch + self.calls


@dataclass(slots=True)
class Trial:
    """One run: its plan, its corpus, its table, and the notes of the candidates."""

    plan: Plan
    corpus: Corpus
    folder: Path
    table: Table = field(default_factory=Table)
    notes: dict[str, Sequence[str]] = field(default_factory=dict)
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.table, self.plan.limit)

    def imports(self) -> None:
        """Time the import of each, in fresh interpreters."""
        step = partial(once, "import", limit=self.plan.limit)
        self._medians(lines.IMPORT, self.turns.repeat(lines.IMPORT, self.plan.names, self.plan.repeats, step))

    def installs(self) -> None:
        """Install each into a fresh environment, and count packages and megabytes."""
        for name in self.plan.names:
            say(f"installing {peers.PEERS[name].title} into a fresh environment")
            got = self.turns.attempt(lines.PACKAGES, name, install, name, self.folder)
            if got is not None:
                self.table.put(lines.PACKAGES, name, Cell(rows=((got.packages,),), count=1))
                sizes = (got.megabytes, got.megabytes - got.weights)
                self.table.put(lines.MEGABYTES, name, Cell(rows=(sizes,), count=1))

    def at_size(self, size: int) -> None:
        """All lines at one size, on stores that are made for it and removed afterwards."""
        home = self.folder / f"size-{size}"
        line = lines.filled(size)
        try:
            filled = [n for n in self.plan.names if self.turns.attempt(line, n, self._fill, line, home, n, size)]
            self._cold(home, filled, size)
            self._warm(home, filled, size)
            if peers.OURS in filled:
                self._embedded(home, size)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def _worker(self, home: Path, name: str) -> Worker:
        return Worker.start(name, self.corpus.folder, home / name, self.plan.dimension)

    def _fill(self, line: Line, home: Path, name: str, size: int) -> bool:
        """Fill one candidate's store, in a process that then ends."""
        until = time.monotonic() + self.plan.limit
        worker = self._worker(home, name)
        wall = cpu = 0.0
        try:
            self.notes[name] = worker.ask("open", limit=self.plan.limit)["notes"]
            for start in range(0, size, SLICE):
                say(f"filling {peers.PEERS[name].title}: {start:,} of {size:,}")
                left = max(1.0, until - time.monotonic())
                part = worker.ask("fill", start=start, stop=min(size, start + SLICE), limit=left)
                wall, cpu = wall + part["wall"], cpu + part["cpu"]
        finally:
            worker.end()
        self.table.put(line, name, Cell(rows=((size / wall,), (size / cpu,)), count=size))
        return True

    def _cold(self, home: Path, names: Sequence[str], size: int) -> None:
        def start(name: str) -> dict[str, Any]:
            store, dimension = home / name, self.plan.dimension
            return once("cold", name, self.corpus.folder, store, dimension, "vector", limit=self.plan.limit)

        line = lines.cold(size)
        self._medians(line, self.turns.repeat(line, names, self.plan.repeats, start))

    def _warm(self, home: Path, names: Sequence[str], size: int) -> None:
        """Everything that runs in processes that stay open."""
        workers = {name: self._worker(home, name) for name in names}
        try:
            missing = self._open(workers, size)
            for operation in OPERATIONS:
                able = self._able(lines.recall(operation, size), workers, missing, operation)
                got = self._recalls(lines.recall(operation, size), able, operation)
                if operation == "vector":
                    self._exactness(got, size)
            self._memory(workers, size)
            self._adds(workers, size)
            self._loops(workers, size)
        finally:
            for worker in workers.values():
                worker.end()

    def _open(self, workers: dict[str, Worker], size: int) -> dict[str, dict[str, str]]:
        missing: dict[str, dict[str, str]] = {}
        for name in list(workers):
            opened = self.turns.ask(lines.recall("vector", size), workers[name], "open")
            missing[name] = opened["missing"] if opened else {}
        return missing

    def _able(
        self, line: Line, workers: dict[str, Worker], missing: dict[str, dict[str, str]], operation: str
    ) -> dict[str, Worker]:
        for name in workers:
            if operation in missing[name]:
                self.table.put(line, name, Cell(missing=missing[name][operation], offered=False))
        return {name: workers[name] for name in self.turns.still(line, workers)}

    def _recalls(
        self, line: Line, workers: dict[str, Worker], operation: str, *, put_as: str | None = None
    ) -> dict[str, Got]:
        for worker in workers.values():
            self.turns.ask(line, worker, "recall", operation=operation, start=0, count=WARM)
        got = self.turns.share(
            line, workers, "recall", total=self.plan.questions, chunk=self.plan.chunk, operation=operation
        )
        for name, one in got.items():
            self.table.put(line, put_as or name, spread(one.wall, one.cpu, remark=one.remark))
        return got

    def _exactness(self, got: dict[str, Got], size: int) -> None:
        vectors = np.load(self.corpus.folder / "vectors.npy", mmap_mode="r")[:size]
        asked = np.load(self.corpus.folder / "asked.npy")
        truth = [set(np.argpartition(-(vectors @ one), K)[:K].tolist()) for one in asked]
        for name, one in got.items():
            shares = [len(true & set(found)) / K for true, found in zip(truth, one.found, strict=False)]
            self.table.put(lines.found(size), name, Cell(rows=((sum(shares) / len(shares),),), count=len(shares)))

    def _memory(self, workers: dict[str, Worker], size: int) -> None:
        line = lines.memory(size)
        for name, worker in workers.items():
            if got := self.turns.ask(line, worker, "memory"):
                self.table.put(line, name, Cell(rows=((got["VmRSS"], got["RssAnon"]),), count=1))

    def _adds(self, workers: dict[str, Worker], size: int) -> None:
        plan, single = self.plan, lines.add(size)
        got = self.turns.share(single, workers, "add", total=plan.adds, chunk=plan.chunk, offset=size)
        for name, one in got.items():
            self.table.put(single, name, spread(one.wall, one.cpu, remark=one.remark))
        many, total, offset = lines.batch(size, plan.batch), plan.batches * plan.batch, size + plan.adds
        got = self.turns.share(many, workers, "batch", total=total, chunk=plan.batch, offset=offset)
        for name, one in got.items():
            self.table.put(many, name, rate(one.wall, one.cpu, remark=one.remark))

    def _loops(self, workers: dict[str, Worker], size: int) -> None:
        plan, line = self.plan, lines.loop(size)
        start = size + plan.adds + plan.batches * plan.batch
        for name, worker in workers.items():
            say(f"{line.title} at {size:,}: {peers.PEERS[name].title}")
            got = self.turns.ask(line, worker, "loop", start=start, count=plan.calls, seconds=plan.limit)
            if got is not None:
                self.table.put(lines.idle(size), name, _beats(got["idle"], plan.calls))
                self.table.put(line, name, _beats(got["busy"], plan.calls))

    def _embedded(self, home: Path, size: int) -> None:
        """Measure commonplace with its own embedder, whose share is a separate line."""
        line, share, name = lines.embedded(size), lines.embedder(size), peers.EMBEDDED
        if not self.turns.attempt(line, name, self._fill, lines.filled(size), home, name, size):
            return
        worker = self._worker(home, name)
        try:
            if self.turns.ask(line, worker, "open"):
                self._recalls(line, {name: worker}, "both", put_as=peers.OURS)
                self._recalls(share, {name: worker}, "embed", put_as=peers.OURS)
        finally:
            worker.end()

    def _medians(self, line: Line, replies: dict[str, list[dict[str, Any]]]) -> None:
        for name, got in replies.items():
            clocks = [sorted(reply[clock] for reply in got) for clock in ("wall", "cpu")]
            rows = tuple((percentile(times, 0.5), times[-1]) for times in clocks)
            self.table.put(line, name, Cell(rows=rows, count=len(got)))


def _beats(beat: dict[str, Any], wanted: int) -> Cell:
    done = beat.get("operations", wanted)
    remark = f"stopped at the limit after {done:,} of {wanted:,}" if done < wanted else ""
    rows = (beat["stall_max"], beat["stall_p99"]), (beat["worked_max"], beat["worked_p99"])
    return Cell(rows=rows, count=done, remark=remark)
