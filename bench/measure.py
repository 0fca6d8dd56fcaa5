"""Clocks and counters: wall and CPU time of calls, resident memory, stalls of an event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Times:
    """Milliseconds of single calls: on the wall, and of CPU over all threads of the process."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call and note both times."""
        wall, cpu = time.perf_counter(), time.process_time()
        answer = function(*args)
        cpu_end, wall_end = time.process_time(), time.perf_counter()
        self.wall.append((wall_end - wall) * 1e3)
        self.cpu.append((cpu_end - cpu) * 1e3)
        return answer


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, int(share * len(ordered) + 0.999999) - 1))]


def resident_mb() -> dict[str, float]:
    """Resident memory now: all of it, and the part that is not file pages."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return {name: int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon")}


@dataclass(slots=True)
class Heart:
    """A task that wants to run every millisecond, and notes by how much it was late."""

    late: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    """CPU milliseconds that the loop's own thread used between two beats."""

    async def beat(self) -> None:
        while True:
            wall, cpu = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            self.late.append(max(0.0, (time.perf_counter() - wall) * 1e3 - 1.0))
            self.worked.append((time.thread_time() - cpu) * 1e3)

    def report(self) -> dict[str, Any]:
        """Longest and 99th percentile of lateness; the first beat carries the start-up and is left out."""
        late, worked = self.late[1:] or [0.0], self.worked[1:] or [0.0]
        return {
            "stall_max": max(late),
            "stall_p99": percentile(late, 0.99),
            "worked_max": max(worked),
            "worked_p99": percentile(worked, 0.99),
            "beats": len(late),
        }


async def heartbeat_while(work: Awaitable[object]) -> dict[str, Any]:
    """Run `work` with a heartbeat and report its delays."""
    heart = Heart()
    task = asyncio.ensure_future(heart.beat())
    await asyncio.sleep(0.01)
    try:
        await work
    finally:
        task.cancel()
    return heart.report()


async def run_all(calls: Iterable[Callable[[], Awaitable[object]]], *, together: int, until: float) -> int:
    """Run the calls, `together` at a time, until done or `until` (monotonic) has passed; say how many ran."""
    waiting = iter(calls)
    done = 0

    async def hand() -> None:
        nonlocal done
        for call in waiting:
            if time.monotonic() > until:
                return
            await call()
            done += 1

    await asyncio.gather(*(hand() for _ in range(together)))
    return done
