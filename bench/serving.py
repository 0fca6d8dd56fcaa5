"""The commands that a worker answers: open, fill, recall, add, batch, loop, memory, close."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import peers
from corpus import Corpus, Question, Row
from measure import Times, heartbeat_while, resident_mb, run_all
from peers.base import Peer

CHUNK_SECONDS = 2.0
"""A chunk of calls ends after this, so that a slow candidate takes turns as often as a fast one."""


class Serving:
    """One candidate on one store; each method answers one command with plain JSON."""

    def __init__(self, name: str, corpus: Path, store: Path, dimension: int) -> None:
        self.name = name
        self.corpus = Corpus(corpus)
        self.questions = self.corpus.questions()
        self.store = store
        self.dimension = dimension
        self.peer: Peer

    def open(self) -> dict[str, Any]:
        """Open the store and return what the candidate offers."""
        started = time.perf_counter()
        self.peer = peers.load(self.name)(self.store, self.dimension)
        self.peer.prepare([], self.questions)
        seconds = time.perf_counter() - started
        return {"seconds": seconds, "missing": self.peer.missing, "notes": self.peer.notes}

    def fill(self, start: int, stop: int) -> dict[str, Any]:
        """Add rows `start` to `stop` in the fastest way."""
        times = Times()
        rows = self.corpus.rows(start, stop)
        while piece := list(islice(rows, self.peer.piece)):
            self.peer.prepare(piece, self.questions)
            times.call(self.peer.fill, piece)
        return {"wall": sum(times.wall) / 1e3, "cpu": sum(times.cpu) / 1e3}

    def recall(self, operation: str, start: int, count: int) -> dict[str, Any]:
        """Ask `count` questions from number `start` on, or fewer if they are slow."""
        times, found = Times(), []
        function = getattr(self.peer, operation)
        until = time.monotonic() + CHUNK_SECONDS
        for question in self._asked(start, count):
            answer = times.call(function, question)
            found.append(self.peer.numbers(answer))
            if time.monotonic() > until:
                break
        return {"wall": times.wall, "cpu": times.cpu, "found": found}

    def add(self, start: int, count: int) -> dict[str, Any]:
        """Add `count` rows one by one from number `start` on, or fewer if they are slow."""
        times, until = Times(), time.monotonic() + CHUNK_SECONDS
        rows = self._rows(start, count)
        for row in rows:
            times.call(self.peer.add, row)
            if time.monotonic() > until:
                break
        return {"wall": times.wall, "cpu": times.cpu}

    def batch(self, start: int, count: int) -> dict[str, Any]:
        """Add `count` rows as one batch; the times are of one row."""
        times, rows = Times(), self._rows(start, count)
        times.call(self.peer.add_many, rows)
        return {"wall": [times.wall[0] / count], "cpu": [times.cpu[0] / count]}

    def loop(self, start: int, count: int, seconds: float) -> dict[str, Any]:
        """How late a 1 ms heartbeat is: in an idle loop, then beside `count` adds and recalls."""
        rows = self._rows(start, count // 2)
        return asyncio.run(self._loop(rows, self._asked(0, count - len(rows)), seconds))

    async def _loop(self, rows: Sequence[Row], asked: Sequence[Question], seconds: float) -> dict[str, Any]:
        await self.peer.open_async()
        await self.peer.recall_async(asked[0])
        calls = [
            call
            for row, question in zip(rows, asked, strict=True)
            for call in (partial(self.peer.add_async, row), partial(self.peer.recall_async, question))
        ]
        idle = await heartbeat_while(asyncio.sleep(1.0))
        started = time.monotonic()
        work = asyncio.ensure_future(run_all(calls, together=self.peer.together, until=started + seconds))
        busy = await heartbeat_while(work)
        busy |= {"operations": work.result(), "seconds": time.monotonic() - started}
        await self.peer.close_async()
        return {"idle": idle, "busy": busy}

    def memory(self) -> dict[str, float]:
        """Resident megabytes now."""
        return resident_mb()

    def close(self) -> dict[str, Any]:
        """Close the store."""
        self.peer.close()
        return {}

    def _rows(self, start: int, count: int) -> list[Row]:
        rows = list(self.corpus.rows(start, start + count))
        self.peer.prepare(rows, self.questions)
        return rows

    def _asked(self, start: int, count: int) -> list[Question]:
        return [self.questions[i % len(self.questions)] for i in range(start, start + count)]
