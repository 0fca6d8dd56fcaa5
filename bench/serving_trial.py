"""Shared by the trials of servers: servers to kill, clients that note every acknowledgement, and a timeline."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

import psutil
from commonplace.testing.contract import crash
from commonplace.testing.contract.crash import Deed
from failover import compare_counter, compare_recall, do, note, recall

import commonplace
from commonplace import AnswerLost, Book, ServerUnavailable

TREE = Path(commonplace.__file__).parents[1]
"""The source that is imported here."""
START = 120.0
"""Seconds that a server may take to be ready, on a machine that does much else."""
GRACE = 90.0
"""Seconds that a client may take for its last call."""
TRIES = 8.0
"""Seconds for which a call is tried again at least: 10, less the longest pause."""


class Timeline:
    """Prints events with the seconds since the start."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, words: str) -> None:
        print(f"{time.monotonic() - self._started:7.2f} s  {words}", flush=True)

    def at(self, moment: float) -> float:
        """A moment of the monotonic clock on this timeline."""
        return moment - self._started


# -- servers --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Served:
    """One `commonplace serve` in its own process group, always on the same port."""

    name: str
    book: str
    folder: Path
    workers: int = 1
    tree: Path = TREE
    port: int = 0
    _front: psutil.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it; `wait` says when it serves."""
        self.port = self.port or _free_port()
        command = [sys.executable, "-m", "commonplace", "serve", self.book, "--port", str(self.port)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(self.tree)}
        with (self.folder / f"server-{self.name}.log").open("ab") as said:
            self._front = psutil.Popen(
                [*command, "--workers", str(self.workers)],
                env=environment, cwd=self.folder, stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        """Until it answers that it recalls."""
        until = time.monotonic() + START
        while not self._is_ready():
            if self._front is not None and self._front.poll() is not None:
                raise SystemExit(f"server {self.name} ended with status {self._front.poll()}: {self._last_words()}")
            if time.monotonic() > until:
                raise SystemExit(f"server {self.name} was not ready after {START:g} s: {self._last_words()}")
            time.sleep(0.05)

    def processes(self) -> list[psutil.Process]:
        """Return the first process and its workers."""
        if self._front is None or not self._front.is_running():
            return []
        below = self._front.children()
        return [self._front, *(each for each in below if "spawn_main" in " ".join(_words(each)))]

    def kill(self) -> None:
        """Kill -9 all of its processes at once."""
        if self._front is not None:
            try:
                os.killpg(self._front.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
            self._front.wait()

    def kill_first(self) -> list[psutil.Process]:
        """Kill -9 the first process alone; the workers that it leaves."""
        front, *workers = self.processes()
        front.kill()
        front.wait()
        return workers

    def kill_worker(self) -> None:
        """Kill -9 one worker; the first process has to start another."""
        self.processes()[1].kill()

    def end(self) -> None:
        """Ask it to stop, and wait: it answers open requests first."""
        assert self._front is not None
        self._front.terminate()
        self._front.wait(GRACE)

    def _is_ready(self) -> bool:
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            asking.request("GET", "/health/ready")
            return asking.getresponse().status == 200
        except OSError:
            return False
        finally:
            asking.close()

    def _last_words(self) -> str:
        return (self.folder / f"server-{self.name}.log").read_text("utf-8", "replace")[-2000:]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()  # type: ignore[no-any-return]
    except psutil.Error:
        return []


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


# -- clients --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Clients:
    """Threads that perform one operation after another through a RemoteBook, with a note before and after each."""

    url: str
    folder: Path
    deeds: Callable[[int], Iterable[Deed]]
    say: Timeline
    do: Callable[[Book, Deed], None] = do
    calls: list[tuple[float, float]] = field(default_factory=list)
    """When each acknowledged deed was, and how many seconds it took; 0 where that depends on the others."""
    lost: int = 0
    """Deeds that were carried out, as their repetition was told, without the answer that was forgotten meanwhile."""
    given_up: int = 0
    """Calls that found nobody for as long as they are tried, as documented; what became of them is open."""
    errors: list[str] = field(default_factory=list)
    _births: Iterator[int] = field(default_factory=lambda: count(1))
    _threads: list[threading.Thread] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _seen: int = 0

    def start(self, wanted: int) -> None:
        """Start so many; returns when each has had something acknowledged."""
        self.folder.mkdir()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(wanted)]
        for thread in self._threads:
            thread.start()
        while len(list(self.folder.glob("*.first"))) + len(self.errors) < wanted:
            time.sleep(0.05)

    def watch(self, seconds: float) -> None:
        """Let them continue, and print each second how much was acknowledged."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            done = len(self.calls)
            failed = f", {len(self.errors)} ERRORS" if self.errors else ""
            self.say(f"  {done:,} acknowledged (+{done - self._seen}){failed}")
            self._seen = done

    def stop(self) -> list[str]:
        """Let each finish its current call and end; return what went wrong."""
        self._stop.set()
        until = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        waiting = sum(thread.is_alive() for thread in self._threads)
        return [f"{waiting} clients still waited for an answer after {GRACE:g} s"] if waiting else []

    def _run(self) -> None:
        # A client that gave up a call does not know its outcome, so its next operations use another name.
        while not self._stop.is_set() and self._live(next(self._births)):
            pass

    def _live(self, birth: int) -> bool:
        """Perform one operation after another; return whether to continue under another name."""
        log = os.open(self.folder / f"{birth:06}.notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        started = time.monotonic()
        try:
            with commonplace.open(self.url) as book:
                for deed in self.deeds(birth):
                    if self._stop.is_set():
                        return False
                    started = time.monotonic()
                    self._one(book, log, deed)
                    (self.folder / f"{birth:06}.first").touch()
        except Exception as error:  # noqa: BLE001  # every error is recorded: no other error is allowed
            seconds = time.monotonic() - started
            if isinstance(error, ServerUnavailable) and seconds >= TRIES:
                self.given_up += 1
                self.say(f"client {birth} gave a call up after {seconds:.1f} s: {error}"[:200])
                return True
            self.errors.append(repr(error))
            self.say(f"ERROR seen by client {birth} after {seconds:.1f} s: {error!r}"[:300])
            note(log, "error", repr(error))
        finally:
            os.close(log)
        return False

    def _one(self, book: Book, log: int, deed: Deed) -> None:
        note(log, "begun", deed)
        started = time.monotonic()
        try:
            self.do(book, deed)
        except AnswerLost:  # `forget` erases earlier answers; the operation itself is still guaranteed
            self.lost += 1
        ended = time.monotonic()
        note(log, "done", deed["number"])
        # Increments wait for other writers, so their time says nothing about a server.
        self.calls.append((ended, ended - started if deed["kind"] != "increment" else 0.0))
        recall(book, deed)


# -- the check --------------------------------------------------------------------------------


def verdict(clients: Clients, where: str, more: Sequence[Callable[[Book], list[str]]] = ()) -> int:
    """Compare the book with the clients' notes and print the result; return 1 if a guarantee is broken."""
    say, problems = clients.say, clients.stop()
    say("the clients have ended; verifying")
    ledger = crash.read_notes(clients.folder)
    with commonplace.open(where) as book:
        problems += crash.compare(ledger, crash.look(book))
        problems += compare_counter(ledger, clients.folder, book)
        problems += compare_recall(ledger, book)
        for look in more:
            problems += look(book)
        checked = book.check(deep=True)
        problems += checked.problems
    say(f"{ledger.acknowledged:,} writes acknowledged to {len(clients._threads)} clients, {len(clients.errors)} errors")
    say(f"{clients.lost} of them by word that they were carried out, their answers having been forgotten meanwhile")
    say(f"{clients.given_up} calls given up after {TRIES:g} s and more without an answer, of which nothing is promised")
    for line in _times(clients):
        say(line)
    say(f"deep check of {sum(checked.checked.values()):,} rows: {'clean' if checked.ok else 'PROBLEMS'}")
    for problem in problems[:20]:
        say(f"PROBLEM: {problem}")
    say(f"{len(problems)} problems" if problems else "nothing lost, nothing doubled, nothing in part, no error")
    return 1 if problems else 0


def _times(clients: Clients) -> Iterator[str]:
    took = sorted(seconds for _, seconds in clients.calls if seconds)
    seconds, ended = max((seconds, ended) for ended, seconds in clients.calls)
    yield f"one write took {took[len(took) // 2] * 1e3:.0f} ms (median), {took[int(len(took) * 0.99)]:.2f} s (99%)"
    yield f"longest {seconds:.2f} s, answered at {clients.say.at(ended):.2f} s"
    moments = sorted(ended for ended, _ in clients.calls)
    gap, after = max((later - before, before) for before, later in pairwise(moments))
    yield f"longest time without any acknowledgement {gap:.2f} s, from {clients.say.at(after):.2f} s on"
