"""Candidates take turns in small steps, so that noise affects all of them equally."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import peers
from fleet import GRACE, Failed, Worker
from results import Cell, Line, Table

ENOUGH = 3
"""Fewer calls than this within the limit make no figure."""
T = TypeVar("T")


def say(text: str, *, lasting: bool = False) -> None:
    """Print progress: one line that is overwritten, or a permanent one."""
    live = sys.stderr.isatty()
    start, end = ("\r\x1b[K", "\n" if lasting else "") if live else ("", "\n")
    print(f"{start}{text}", end=end, file=sys.stderr, flush=True)


@dataclass(slots=True)
class Got:
    """The progress of one candidate."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    found: list[list[int]] = field(default_factory=list)
    done: int = 0
    spent: float = 0.0
    remark: str = ""

    def take(self, reply: dict[str, Any], rows: int) -> None:
        """Add a chunk's figures; a batch is one figure for many rows."""
        self.wall += reply["wall"]
        self.cpu += reply["cpu"]
        self.found += reply.get("found", [])
        self.done += rows or len(reply["wall"])


@dataclass(frozen=True, slots=True)
class Turns:
    """Sends commands to workers for a table: a failure becomes that candidate's cell, and the others continue."""

    table: Table
    limit: float

    def attempt(self, line: Line, name: str, step: Callable[..., T], *args: object, **named: object) -> T | None:
        """Do one step for one candidate; None means that it failed and its cell says why."""
        try:
            return step(*args, **named)
        except Failed as error:
            say(f"{peers.PEERS[name].title}, {line.title}: {error}", lasting=True)
            self.table.put(line, name, Cell(missing=str(error)))
            return None

    def ask(self, line: Line, worker: Worker, do: str, **args: object) -> dict[str, Any] | None:
        """Put one command to one worker, with the limit and a little patience."""
        return self.attempt(line, worker.name, worker.ask, do, limit=self.limit + GRACE, **args)

    def still(self, line: Line, names: Iterable[str]) -> list[str]:
        """Those who have not failed on this line."""
        return [name for name in names if not self.table.cells.get((line.key, name), Cell()).missing]

    def repeat(
        self, line: Line, names: Iterable[str], times: int, step: Callable[[str], dict[str, Any]]
    ) -> dict[str, list[dict[str, Any]]]:
        """Do one step `times` times for each candidate, in turns."""
        replies: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for turn in range(times):
            say(f"{_place(line)}: {turn} of {times}")
            for name in self.still(line, replies):
                if reply := self.attempt(line, name, step, name):
                    replies[name].append(reply)
        return {name: replies[name] for name in self.still(line, replies)}

    def share(
        self,
        line: Line,
        workers: dict[str, Worker],
        do: str,
        *,
        total: int,
        chunk: int,
        offset: int = 0,
        **args: object,
    ) -> dict[str, Got]:
        """Let every worker do `total` operations, a chunk at a time; slow ones stop at the limit."""
        got = {name: Got() for name in self.still(line, workers)}
        while waiting := [n for n in self.still(line, got) if got[n].done < total and not got[n].remark]:
            say(f"{_place(line)}: {min(got[name].done for name in waiting):,} of {total:,}")
            for name in waiting:
                begin = offset + got[name].done
                self._chunk(line, workers[name], got[name], do, begin, min(chunk, total - got[name].done), args)
                self._stop_if_slow(line, name, got[name], total)
        return {name: got[name] for name in self.still(line, got)}

    def _chunk(
        self, line: Line, worker: Worker, got: Got, do: str, start: int, count: int, args: dict[str, object]
    ) -> None:
        started = time.monotonic()
        if reply := self.ask(line, worker, do, start=start, count=count, **args):
            got.take(reply, count if do == "batch" else 0)
        got.spent += time.monotonic() - started

    def _stop_if_slow(self, line: Line, name: str, got: Got, total: int) -> None:
        if got.spent <= self.limit or got.done >= total:
            return
        got.remark = f"stopped at the limit after {got.done:,} of {total:,}"
        if got.done < ENOUGH:
            self.table.put(line, name, Cell(missing="over limit"))


def _place(line: Line) -> str:
    return f"{line.title} at {line.size:,}" if line.size else line.title
