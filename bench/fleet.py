"""The parent's side of the workers: start them, send commands, and limit every wait."""

from __future__ import annotations

import importlib.util
import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
GRACE = 60.0
"""Seconds beyond the limit before a worker that does not answer is ended."""


class Failed(Exception):
    """A candidate raised, died or took too long; the message says which, in a few words."""


def environment() -> dict[str, str]:
    """Return the environment of every worker: no telemetry, no downloads, one thread for numpy.

    Several threads would spin while they wait, and their CPU time would then say nothing about work.
    """
    env = dict(os.environ)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "HF_HUB_OFFLINE"):
        env[name] = "1"
    env |= {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "DO_NOT_TRACK": "1"}
    if importlib.util.find_spec("commonplace") is None:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "src"), env.get("PYTHONPATH")]))
    return env


def command(mode: str, *args: object) -> list[str]:
    """The command line of a worker."""
    return [sys.executable, str(BENCH / "worker.py"), mode, *map(str, args)]


def once(mode: str, *args: object, limit: float) -> dict[str, Any]:
    """Run a worker that answers once; add the wall seconds from its start to its answer."""
    started = time.perf_counter()
    with subprocess.Popen(
        command(mode, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failed("over limit") from None
    if process.returncode or not out.strip():
        raise Failed(_last(err) or f"exit {process.returncode}")
    reply: dict[str, Any] = {"wall": time.perf_counter() - started} | json.loads(out)
    return reply


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


@dataclass(slots=True)
class Worker:
    """One candidate's process."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    gone: str = ""
    """Why the worker can be asked no more."""
    _rest: bytes = field(default=b"", init=False)

    @classmethod
    def start(cls, name: str, corpus: Path, store: Path, dimension: int) -> Worker:
        """Start a worker; its other output goes to a log next to its store."""
        store.mkdir(parents=True, exist_ok=True)
        log = store.with_suffix(".log")
        with log.open("ab") as chatter:
            process = subprocess.Popen(
                command("serve", name, corpus, store, dimension),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=chatter,
                env=environment(),
            )
        return cls(name, process, log)

    def ask(self, do: str, *, limit: float, **args: object) -> dict[str, Any]:
        """Send one command and wait for its answer, at most `limit` seconds."""
        if self.gone or self.process.stdin is None:
            raise Failed(self.gone)
        try:
            self.process.stdin.write(json.dumps({"do": do, **args}).encode() + b"\n")
            self.process.stdin.flush()
            reply: dict[str, Any] = json.loads(self._line(time.monotonic() + limit))
        except OSError:
            raise self._lost() from None
        if "error" in reply:
            raise Failed(reply["error"])
        return reply

    def _line(self, until: float) -> bytes:
        """One line from the worker; reads the pipe itself, since a buffer would hide what has come."""
        pipe = self.process.stdout
        if pipe is None:
            raise Failed("no pipe")
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = until - time.monotonic()
                if left <= 0:
                    raise self._lost("over limit")
                if selector.select(left):
                    part = os.read(pipe.fileno(), 1 << 16)
                    if not part:
                        raise self._lost()
                    self._rest += part
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def _lost(self, reason: str = "") -> Failed:
        """Discard the worker: its later answers would be mistaken for answers to other commands."""
        self.process.kill()
        code = self.process.wait()
        self.gone = reason or _last(self.log.read_text(errors="replace")) or f"ended with {code}"
        return Failed(self.gone)

    def end(self) -> None:
        """Close it if it still listens, and make sure that the process has ended."""
        try:
            self.ask("close", limit=30)
        except Failed:
            self.process.kill()
        self.process.wait()
