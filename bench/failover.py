"""Four processes write to one PostgreSQL while one of them, and then the server itself, is killed with -9.

python bench/failover.py [--seconds 30] [--kills 2] [--folder DIR]

Prints what happened when. The exit code is 1 if an acknowledged write is missing, anything is doubled or incomplete,
a surviving caller saw an error, or the deep check finds a problem.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from commonplace.testing.contract import crash
from commonplace.testing.contract.crash import Deed, Ledger

import commonplace
from commonplace import Book, Conflict
from commonplace.store.postgres.local import LocalPostgres
from commonplace.testing import HashEmbedder

WRITERS = 4
AWAY = 3.0
"""Seconds from the death of the server to its restart."""
RECALL_EVERY = 5
GRACE = 90.0
"""Seconds that a writer may take for its last call."""


# -- a writer, which is a separate process ------------------------------------------------------


def write(url: str, folder: Path, birth: int) -> int:
    """Perform one operation after another until stopped, with a note before and after each; 1 after any error."""
    log = os.open(folder / f"{birth:06}.notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with commonplace.open(url, embedder=HashEmbedder()) as book:
            for deed in deeds(birth):
                if (folder / "stop").exists():
                    return 0
                note(log, "begun", deed)
                started = time.monotonic()
                do(book, deed)
                note(log, "done", [deed["number"], time.monotonic() - started, time.time()])
                recall(book, deed)
    except Exception as error:  # noqa: BLE001  # the parent judges: no error at all is allowed
        note(log, "error", repr(error))
        return 1
    return 0


def note(log: int, what: str, about: object) -> None:
    os.write(log, json.dumps([what, about]).encode() + b"\n")


def deeds(birth: int) -> Iterator[Deed]:
    """Yield the operations of the crash test, and after every third one an increment of the shared counter."""
    for deed in crash.Plan(birth):
        yield deed
        if deed["number"] % 3 == 0:
            yield {"number": deed["number"], "kind": "increment"}


def do(book: Book, deed: Deed) -> None:
    if deed["kind"] == "increment":
        _increment(book)
    else:
        crash.do(book, deed)


def _increment(book: Book) -> None:
    """Add one to the shared counter by compare-and-set, reading again if another writer was first."""
    shared = book.kv("counters")
    while True:
        entry = shared.entry("all")
        value, version = (entry.value, entry.version) if entry is not None else (0, 0)
        try:
            shared.set("all", value + 1, if_version=version)  # type: ignore[operator]
        except Conflict:
            continue
        return


def recall(book: Book, deed: Deed) -> None:
    """Check from time to time that an acknowledged write is recalled at once."""
    if deed["kind"] not in ("one", "revise") or deed["number"] % RECALL_EVERY:
        return
    ((_, name, version),) = deed["things"]
    hits = {hit.memory.id: hit.memory.version for hit in book.recall(f"lamp {name}", k=10, threshold=0)}
    if hits.get(name) != version:
        raise AssertionError(f"recall finds {name} at version {hits.get(name)}, just acknowledged was {version}")


# -- the trial ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Trial:
    """The writers on one database, and a timeline of events."""

    url: str
    folder: Path
    started: float = field(default_factory=time.monotonic)
    writers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    _births: Iterator[int] = field(default_factory=lambda: count(1))
    _seen: int = 0

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def say(self, words: str) -> None:
        """Print a line of the timeline."""
        print(f"{self.elapsed():7.2f} s  {words}", flush=True)

    def start_writer(self) -> int:
        """Start one more writer; its number."""
        birth = next(self._births)
        command = [sys.executable, __file__, "--write", self.url, str(self.folder), str(birth)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with (self.folder / f"{birth:06}.stderr").open("wb") as said:
            self.writers[birth] = subprocess.Popen(command, env=environment, stderr=said)
        return birth

    def kill_writer(self) -> int:
        """Kill the oldest writer with -9; its number."""
        birth = min(self.writers)
        victim = self.writers.pop(birth)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        return birth

    def watch(self, seconds: float) -> None:
        """Let them write, and print each second how much was acknowledged."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            acknowledged = sum(notes.read_bytes().count(b'\n["done"') for notes in self.folder.glob("*.notes"))
            self.say(f"  {acknowledged:,} acknowledged (+{acknowledged - self._seen})")
            self._seen = acknowledged

    def wait_for_writers(self) -> None:
        """Wait until each writer had something acknowledged or has ended; its notes then say why."""
        while not all(self._writes(birth) or writer.poll() is not None for birth, writer in self.writers.items()):
            time.sleep(0.05)

    def _writes(self, birth: int) -> bool:
        notes = self.folder / f"{birth:06}.notes"
        return notes.exists() and b'"done"' in notes.read_bytes()

    def stop(self) -> list[str]:
        """Let every writer finish its current call and end; return what went wrong."""
        (self.folder / "stop").touch()
        problems = []
        for birth, writer in self.writers.items():
            try:
                status = writer.wait(GRACE)
            except subprocess.TimeoutExpired:
                problems.append(f"writer {birth} still waited for an answer after {GRACE:g} s")
                continue
            if status:
                problems.append(f"writer {birth} ended with status {status}")
        return problems

    def end(self) -> None:
        """Kill the remaining writers."""
        for writer in self.writers.values():
            writer.kill()
            writer.wait()


@contextmanager
def trial(url: str, folder: Path) -> Iterator[Trial]:
    """Yield a trial with its writers started; end all of them afterwards."""
    notes = folder / "notes"
    notes.mkdir()
    running = Trial(url, notes)
    try:
        running.say(f"{WRITERS} writing processes start")
        for _ in range(WRITERS):
            running.start_writer()
        running.wait_for_writers()
        running.say("all of them write")
        yield running
    finally:
        running.end()


def verdict(running: Trial) -> int:
    """Compare the book with the notes of every writer and print the result; return 1 if a guarantee is broken."""
    problems = running.stop()
    running.say("the writers have ended; verifying")
    ledger = crash.read_notes(running.folder)
    with commonplace.open(running.url, embedder=HashEmbedder()) as book:
        problems += crash.compare(ledger, crash.look(book))
        problems += compare_counter(ledger, running.folder, book)
        problems += compare_recall(ledger, book)
        checked = book.check(deep=True)
        problems += checked.problems
    longest, when = _longest(running.folder)
    rows = sum(checked.checked.values())
    running.say(f"{ledger.acknowledged:,} operations acknowledged, {len(ledger.cut_off)} cut off with their writer")
    running.say(f"longest call {longest:.2f} s, answered at {when - time.time() + running.elapsed():.2f} s")
    running.say(f"deep check of {rows:,} rows: {'clean' if checked.ok else 'PROBLEMS'}")
    for problem in problems[:20]:
        running.say(f"PROBLEM: {problem}")
    running.say(f"{len(problems)} problems" if problems else "nothing lost, nothing doubled, nothing in part, no error")
    return 1 if problems else 0


def compare_counter(ledger: Ledger, folder: Path, book: Book) -> list[str]:
    """Check that the shared counter equals the acknowledged increments, apart from interrupted ones."""
    begun = [json.loads(line)[1] for notes in folder.glob("*.notes") for line in notes.read_text("ascii").splitlines()]
    wanted = sum(isinstance(deed, dict) and deed["kind"] == "increment" for deed in begun)
    doubtful = sum(deed["kind"] == "increment" for deed in ledger.cut_off)
    stands = book.kv("counters").get("all", 0)
    if wanted - doubtful <= stands <= wanted:
        return []
    return [f"the counter is at {stands}, acknowledged were {wanted - doubtful}"]


def compare_recall(ledger: Ledger, book: Book) -> list[str]:
    """Check that acknowledged memories are recalled by their words, in their version."""
    sure = [(name, said[0]) for (kind, name), said in ledger.stands.items() if kind == "memory" and len(said) == 1]
    problems = []
    for name, version in random.Random(0).sample(sure, min(30, len(sure))):
        hits = {hit.memory.id: hit.memory.version for hit in book.recall(f"lamp {name}", k=5, threshold=0)}
        if hits.get(name, 0) != version:
            problems.append(f"recall finds memory {name} at version {hits.get(name, 0)}, acknowledged was {version}")
    return problems


def _longest(folder: Path) -> tuple[float, float]:
    """The longest call of all that were acknowledged, in seconds, and the time of day when it ended."""
    lines = (json.loads(line) for notes in folder.glob("*.notes") for line in notes.read_text("ascii").splitlines())
    return max(((about[1], about[2]) for what, about in lines if what == "done"), default=(0.0, 0.0))


def main() -> int:
    """Run the trial and print its timeline."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--write"]:
        return write(arguments[1], Path(arguments[2]), int(arguments[3]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="how long they write, outages not counted")
    parser.add_argument("--kills", type=int, default=2, help="how often the server is killed")
    parser.add_argument("--folder", type=Path, help="where the data goes; a folder of its own by default")
    wanted = parser.parse_args()
    return in_folder(wanted.folder, lambda folder: run(folder, seconds=wanted.seconds, kills=wanted.kills))


def in_folder(parent: Path | None, work: Callable[[Path], int]) -> int:
    """Run the work in a separate folder that a server's account may enter."""
    with tempfile.TemporaryDirectory(dir=parent, prefix="failover-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        return work(folder)


def run(folder: Path, *, seconds: float, kills: int) -> int:
    """Kill a writer, then the server as often as wanted, spread over the time."""
    with LocalPostgres(folder / "data") as server, trial(server.url, folder) as running:
        step = seconds / (kills + 2)
        running.watch(step)
        running.say(f"KILL -9 writer {running.kill_writer()}; writer {running.start_writer()} takes its place")
        running.wait_for_writers()
        running.watch(step)
        for _ in range(kills):
            server.kill()
            running.say("KILL -9 the database, all its processes")
            running.watch(AWAY)
            server.start()
            running.say("the database is back")
            running.watch(step)
        return verdict(running)


if __name__ == "__main__":
    raise SystemExit(main())
