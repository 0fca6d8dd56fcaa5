"""A cheap load generator: each client sends its next request when it has its answer.

It runs as a separate process (`python bench/load.py JOB ANSWER`), speaks HTTP/1.1 with requests that were put
together beforehand, and reads of an answer only its status and its length; a few answers are kept for a closer look.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

Operation = tuple[bytes, ...]
"""Requests that are sent one after another; together they are one operation."""

SAMPLES = 200
_EACH = 7
"""One answer of so many is kept for a closer look."""
_WARM = 10
"""Answers for each client before anything is measured, unless they take too long."""
_PATIENCE = 12
"""A window lasts at most so many times its length, until there is an answer for each client."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The requests, their target and duration, and the processes whose CPU time is read."""

    host: str
    port: int
    operations: Sequence[Operation]
    clients: int
    warm: float
    seconds: float
    pids: tuple[int, ...] = ()
    once: bool = False
    """Whether an operation may be sent only once, as a write; then the load ends with the last of them."""


@dataclass(slots=True)
class Done:
    """The result."""

    latencies: list[float] = field(default_factory=list)
    """Milliseconds of each operation that ended while it was measured."""
    refused: int = 0
    sent: int = 0
    samples: list[tuple[int, bytes]] = field(default_factory=list)
    """Some answers, each with the number of its operation."""


class Client(asyncio.Protocol):
    """One connection: an operation, its answers, the next operation."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._rest = b""
        self._whole = 0
        self._number = 0
        self._waiting: Operation = ()
        self._place = 0
        self._began = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvloop gives nothing else
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        rest = self._rest + data if self._rest else data
        if not self._whole:
            head = rest.find(b"\r\n\r\n")
            if head < 0:
                self._rest = rest
                return
            self._whole = head + 4 + _length(rest[:head])
        if len(rest) < self._whole:
            self._rest = rest
            return
        self._rest, self._whole = b"", 0
        self._answered(rest)

    def connection_lost(self, error: Exception | None) -> None:
        self._load.lost(error)

    def _next(self) -> None:
        taken = self._load.take()
        if taken is None:
            return
        self._number, self._waiting = taken
        self._place = 0
        self._began = time.perf_counter()
        self._transport.write(self._waiting[0])

    def _answered(self, answer: bytes) -> None:
        fine = answer[9:10] == b"2"
        self._place += 1
        if fine and self._place < len(self._waiting):
            self._transport.write(self._waiting[self._place])
            return
        self._load.ended(self._number, self._began, answer, fine=fine)
        self._next()


def _length(head: bytes) -> int:
    head = head.lower()
    at = head.find(b"content-length:")
    if at < 0:
        raise ValueError(f"an answer without its length: {head[:200]!r}")
    end = head.find(b"\r", at)
    return int(head[at + 15 : end if end > 0 else None])


class Load:
    """All clients of one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._done = Done()
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._measured = False
        self._stopping = False
        self._ended = 0

    async def run(self) -> dict[str, object]:
        """Send for the time that was asked for; the warm-up is not counted."""
        job = self._job
        for _ in range(job.clients):
            await self._loop.create_connection(lambda: Client(self), job.host, job.port)
        await self._wait(job.warm)
        # A server that still reads what it will keep in memory is not warm yet.
        opened = time.perf_counter()
        while self._ended < _WARM * job.clients and time.perf_counter() - opened < _PATIENCE * job.warm:
            await self._wait(0.2)
        before, own, began = cpu(job.pids), time.process_time(), time.perf_counter()
        self._measured = True
        await self._wait(job.seconds)
        # The slow get more time, so that every client has had an answer: else only the quick answers would count.
        while len(self._done.latencies) < job.clients and time.perf_counter() - began < _PATIENCE * job.seconds:
            await self._wait(0.2)
        self._measured, self._stopping = False, True
        seconds = time.perf_counter() - began
        after = cpu(job.pids)
        return {
            "seconds": seconds,
            "latencies": self._done.latencies,
            "refused": self._done.refused,
            "sent": self._done.sent,
            "cpu": [end - start for start, end in zip(before, after, strict=True)],
            "own": time.process_time() - own,
            "samples": [(number, answer.decode(errors="replace")) for number, answer in self._done.samples],
        }

    async def _wait(self, seconds: float) -> None:
        await asyncio.wait([self._over], timeout=seconds)
        if self._over.done():
            self._over.result()

    def take(self) -> tuple[int, Operation] | None:
        """The next operation; None when there is none left or time is up."""
        number, job = self._done.sent, self._job
        if self._stopping:
            return None
        if job.once and number >= len(job.operations):
            if not self._over.done():
                self._over.set_result(None)
            return None
        self._done.sent += 1
        number %= len(job.operations)
        return number, job.operations[number]

    def ended(self, number: int, began: float, answer: bytes, *, fine: bool) -> None:
        """Note an operation that has its answer."""
        self._ended += 1
        if not fine:
            self._done.refused += 1
        if self._measured:
            self._done.latencies.append((time.perf_counter() - began) * 1e3)
        if (not fine or self._done.sent % _EACH == 0) and len(self._done.samples) < SAMPLES:
            self._done.samples.append((number, answer))

    def lost(self, error: Exception | None) -> None:
        """Fail if the server hangs up during a measurement."""
        if not self._stopping and not self._over.done():
            self._over.set_exception(ConnectionError(f"the server closed a connection: {error}"))


def cpu(pids: Sequence[int]) -> list[float]:
    """Seconds of CPU of each process, all its threads, by the kernel's count."""
    found = []
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        found.append((int(fields[11]) + int(fields[12])) / _TICKS)
    return found


async def _main(job: Job) -> dict[str, object]:
    return await Load(job).run()


def main() -> None:
    """Run the job in the first file, and write the result to the second as JSON."""
    with open(sys.argv[1], "rb") as file:
        job = pickle.load(file)  # noqa: S301  # our own, written a moment ago
    Path(sys.argv[2]).write_text(json.dumps(uvloop.run(_main(job))), encoding="utf-8")


if __name__ == "__main__":
    import load  # so that a pickled Job is load.Job here as well

    load.main()
