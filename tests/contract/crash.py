"""Kill writers at any moment, start new ones, and check that the book loses and invents nothing.

    python -m commonplace.testing.contract.crash team.db --kills 50

Each writer is a separate process. It writes down what it is about to do, does it, and writes down that it was
acknowledged; both notes outlive it. From the notes of all the dead follows what must stand in the book, what
must not, and what may: the one deed of each writer that was cut off, which must be there whole or not at all.

For systems with `fork` and SIGKILL: Linux and macOS.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from commonplace.book import Book
from commonplace.location import open as open_book
from commonplace.testing.embedders import HashEmbedder
from commonplace.values import Draft

BATCH = 20
WRITERS = 3
_LONGEST_REST = 0.12
"""Seconds between two kills, at most: a writer lives for a few dozen deeds."""
_SAMPLE = 30
_KINDS = ("one", "batch", "revise", "forget", "set", "write", "append", "say")

Deed = dict[str, Any]
"""An operation of a writer: `number`, `kind`, and `things` (each a kind, a name and the version that it then has;
0 once it is forgotten) or `item` (the kind and name of a shared list, and what is added to it)."""
Thing = tuple[str, str]
"""The kind and name of a memory, a value or a file."""
Item = tuple[int, int]
"""In a shared list: who added it, and that writer's how-manieth deed it was."""


def text(name: str, version: int) -> str:
    """The content of a memory or file at a version, which names the version."""
    return f"The lamp {name} hangs in its place, as version {version} of the inventory says."


# -- a writer -------------------------------------------------------------------------------------


class Plan:
    """Deeds without end. Names hold the writer's number: only the lists are shared between writers."""

    def __init__(self, birth: int) -> None:
        self._birth = birth
        self._chance = random.Random(birth)
        self._memories: dict[str, int] = {}
        self._others: Counter[Thing] = Counter()

    def __iter__(self) -> Iterator[Deed]:
        for number in count(1):
            kind = self._chance.choice(_KINDS)
            if kind in ("revise", "forget") and not self._memories:
                kind = "one"
            yield {"number": number, "kind": kind, **self._effect(kind, number)}

    def _effect(self, kind: str, number: int) -> Deed:
        if kind in ("append", "say"):
            # A list is shared by some thirty writers, so that none grows without end.
            return {"item": ["list" if kind == "append" else "talk", f"l{self._birth // 30}", [self._birth, number]]}
        if kind in ("set", "write"):
            thing = ("value" if kind == "set" else "file", f"k{self._birth}o{self._chance.randrange(3)}")
            self._others[thing] += 1
            return {"things": [[*thing, self._others[thing]]]}
        if kind in ("one", "batch"):
            names = [f"k{self._birth}n{number}i{i}" for i in range(BATCH if kind == "batch" else 1)]
            self._memories |= dict.fromkeys(names, 1)
            return {"things": [["memory", name, 1] for name in names]}
        name = self._chance.choice(list(self._memories))
        version = self._memories.pop(name) + 1
        if kind == "revise":
            self._memories[name] = version
        return {"things": [["memory", name, version if kind == "revise" else 0]]}


def write_until_killed(book: Path, notes: Path, birth: int) -> None:
    """Perform one operation after another, with a note before and after each; return only on an error, also noted."""
    log = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        opened = open_book(book, embedder=HashEmbedder())
        for deed in Plan(birth):
            _note(log, "begun", deed)
            do(opened, deed)
            _note(log, "done", deed["number"])
    except Exception as error:  # noqa: BLE001  # the parent judges: no error at all is allowed
        _note(log, "error", repr(error))


def _note(log: int, what: str, about: object) -> None:
    os.write(log, json.dumps([what, about]).encode() + b"\n")


def do(book: Book, deed: Deed) -> None:
    """Perform one operation; when this returns, it is acknowledged."""
    kind = deed["kind"]
    if kind in ("append", "say"):
        _, where, item = deed["item"]
        _ = book.kv("shared").append(where, item) if kind == "append" else book.transcript(where).append(item)
        return
    if kind == "batch":
        book.remember([Draft(content=text(name, 1), id=name) for _, name, _ in deed["things"]])
        return
    _, name, version = deed["things"][0]
    if kind == "one":
        book.remember(text(name, version), id=name, tags=["lamp"])
    elif kind == "revise":
        book.revise(name, text(name, version), if_version=version - 1)
    elif kind == "forget":
        book.forget(name)
    elif kind == "set":
        book.kv("own").set(name, version, if_version=version - 1)
    else:
        book.canvas("shared").write(name, text(name, version), if_version=version - 1)


# -- what the notes say ---------------------------------------------------------------------------


@dataclass(slots=True)
class Ledger:
    """The expected content of the book, from the notes of every writer so far."""

    acknowledged: int = 0
    stands: dict[Thing, tuple[int, ...]] = field(default_factory=dict)
    """The version that each thing has; two of them where a deed was cut off, either being right."""
    lists: dict[Thing, list[Item]] = field(default_factory=dict)
    cut_off: list[Deed] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def read(self, notes: Path) -> None:
        """Take in the notes of one writer."""
        begun: Deed | None = None
        for line in notes.read_text("ascii").splitlines():
            what, about = json.loads(line)
            if what == "begun":
                begun = about
            elif what == "error":
                self.errors.append(f"{notes.name}: {about}")
            elif begun is not None:
                self._acknowledge(begun)
                begun = None
        if begun is not None:
            self._doubt(begun)

    def _acknowledge(self, deed: Deed) -> None:
        self.acknowledged += 1
        for kind, name, version in deed.get("things", ()):
            self.stands[kind, name] = (version,)
        if "item" in deed:
            kind, name, (birth, number) = deed["item"]
            self.lists.setdefault((kind, name), []).append((birth, number))

    def _doubt(self, deed: Deed) -> None:
        self.cut_off.append(deed)
        for kind, name, version in deed.get("things", ()):
            self.stands[kind, name] = (*self.stands.get((kind, name), (0,)), version)


def read_notes(folder: Path) -> Ledger:
    """The ledger of every writer that left notes in the folder."""
    ledger = Ledger()
    for notes in sorted(folder.glob("*.notes")):
        ledger.read(notes)
    return ledger


# -- what the book says ---------------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """The content of the book."""

    things: dict[Thing, int] = field(default_factory=dict)
    lists: dict[Thing, list[Item]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def thing(self, kind: str, name: str, version: int, *, right: bool) -> None:
        self.things[kind, name] = version
        if not right:
            self.problems.append(f"{kind} {name} has not the content of its version {version}")


def look(book: Book) -> Found:
    """Read everything in the book by its own verbs."""
    found = Found()
    cursor: str | None = None
    while True:
        page = book.list(order="oldest", limit=10_000, cursor=cursor)
        for memory in page:
            right = memory.content == text(memory.id, memory.version)
            found.thing("memory", memory.id, memory.version, right=right)
        cursor = page.cursor
        if cursor is None:
            break
    own, shared, canvas = book.kv("own"), book.kv("shared"), book.canvas("shared")
    for key in own.keys():  # noqa: SIM118  # a KeyValue is no dict
        entry = own.entry(key)
        assert entry is not None
        found.thing("value", key, entry.version, right=entry.value == entry.version)
    for path, revision in canvas.files().items():
        found.thing("file", path, revision, right=canvas.read(path) == text(path, revision))
    for key in shared.keys():  # noqa: SIM118
        found.lists["list", key] = _items(shared.get(key))
    for session in book.transcripts():
        messages = book.transcript(session).read()
        found.lists["talk", session] = _items([message.content for message in messages])
        if [message.number for message in messages] != list(range(1, len(messages) + 1)):
            found.problems.append(f"transcript {session} has gaps in its numbers")
    return found


def _items(values: Any) -> list[Item]:
    return [(birth, number) for birth, number in values]


def compare(ledger: Ledger, found: Found) -> list[str]:
    """Everything in the book that the notes do not allow, and everything missing that they demand."""
    problems = [*ledger.errors, *found.problems]
    for (kind, name), versions in ledger.stands.items():
        stands = found.things.get((kind, name), 0)
        if stands not in versions:
            problems.append(f"{kind} {name} is at version {stands}, acknowledged was {versions[0]}")
    problems += [f"{kind} {name} was never written" for kind, name in found.things.keys() - ledger.stands.keys()]
    for deed in ledger.cut_off:
        there = [(kind, name) in found.things for kind, name, _ in deed.get("things", ())]
        if deed["kind"] == "batch" and any(there) != all(there):
            problems.append(f"batch {deed['things'][0][1]} is there in part: {sum(there)} of {len(there)}")
    for where in ledger.lists.keys() | found.lists.keys():
        problems += _compare_list(where, ledger, found.lists.get(where, []))
    return problems


def _compare_list(where: Thing, ledger: Ledger, items: list[Item]) -> list[str]:
    wanted = ledger.lists.get(where, [])
    doubtful = [deed["item"] for deed in ledger.cut_off if "item" in deed]
    allowed = {(birth, number) for kind, name, (birth, number) in doubtful if (kind, name) == where}
    problems = [f"{where} lost {item}" for item in set(wanted) - set(items)]
    problems += [f"{where} holds {item} out of nowhere" for item in set(items) - set(wanted) - allowed]
    if len(set(items)) != len(items):
        problems.append(f"{where} holds something twice")
    # Stable: items of one writer stay in the order in which it added them.
    if sorted(items, key=lambda item: item[0]) != sorted(items):
        problems.append(f"{where} holds one writer's items out of order")
    return problems


def verify(path: Path, ledger: Ledger, *, seed: int = 0) -> list[str]:
    """Open the book again and list everything that differs from the notes."""
    with open_book(path, embedder=HashEmbedder()) as book:
        problems = compare(ledger, look(book))
        problems += book.check(deep=True).problems
        problems += _recall_sample(book, ledger, random.Random(seed))
    raw = apsw.Connection(str(path))
    try:
        verdict = raw.pragma("integrity_check")
    finally:
        raw.close()
    return problems if verdict == "ok" else [*problems, f"SQLite: {verdict}"]


def _recall_sample(book: Book, ledger: Ledger, chance: random.Random) -> list[str]:
    """Acknowledged memories must be recalled by their words, in their version; forgotten ones must not."""
    stands = ledger.stands.items()
    sure = [(name, said[0]) for (kind, name), said in stands if kind == "memory" and len(said) == 1]
    problems = []
    for name, version in chance.sample(sure, min(_SAMPLE, len(sure))):
        hits = {hit.memory.id: hit.memory.version for hit in book.recall(f"lamp {name}", k=5, threshold=0)}
        if hits.get(name, 0) != version:
            problems.append(f"recall finds memory {name} at version {hits.get(name, 0)}, acknowledged was {version}")
    return problems


# -- the killing ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The operations and the observations of a run."""

    kills: int
    acknowledged: int
    cut_off: int
    """Deeds that were begun and not acknowledged when their writer died."""
    kept: int
    """Those of them that were in the book all the same: whole, as far as `problems` is empty."""
    memories: int
    verified: int
    """How often the whole book was compared with the notes."""
    seconds: float
    problems: list[str]


def run(path: Path, *, kills: int, every: int, seed: int) -> Account:
    """Kill writers on a book that is not open here; verify after `every` kills and at the end."""
    folder = path.with_name(f"{path.name}-notes")
    folder.mkdir()
    started, chance, births = time.monotonic(), random.Random(seed), count(1)
    killed = verified = 0
    problems: list[str] = []
    writers: list[int] = []
    try:
        while killed < kills and not problems:
            while len(writers) < WRITERS:
                writers.append(_start(path, folder, next(births)))
            time.sleep(chance.uniform(0, _LONGEST_REST))
            _kill(writers.pop(chance.randrange(WRITERS)))
            killed += 1
            if killed % every == 0 or killed >= kills:
                # The notes are complete only if nobody writes, so the other writers are killed, too.
                killed += len(writers)
                while writers:
                    _kill(writers.pop())
                problems, verified = verify(path, read_notes(folder), seed=killed), verified + 1
                print(f"{killed:,} kills, verified", file=sys.stderr, flush=True)
    finally:
        for pid in writers:
            _kill(pid)
    return _account(path, read_notes(folder), killed, verified, time.monotonic() - started, problems)


def _account(path: Path, ledger: Ledger, killed: int, verified: int, seconds: float, problems: list[str]) -> Account:
    with open_book(path, embedder=HashEmbedder()) as book:
        found = look(book)
    return Account(
        kills=killed,
        acknowledged=ledger.acknowledged,
        cut_off=len(ledger.cut_off),
        kept=sum(_kept(deed, found) for deed in ledger.cut_off),
        memories=sum(kind == "memory" for kind, _ in found.things),
        verified=verified,
        seconds=round(seconds, 1),
        problems=problems[:20],
    )


def _kept(deed: Deed, found: Found) -> bool:
    if "item" in deed:
        kind, name, (birth, number) = deed["item"]
        return (birth, number) in found.lists.get((kind, name), [])
    kind, name, version = deed["things"][0]
    return bool(found.things.get((kind, name), 0) == version)


def _start(path: Path, folder: Path, birth: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        write_until_killed(path, folder / f"{birth:06}.notes", birth)
        signal.pause()  # an error is noted; the parent ends this process as it ends every other
    finally:
        os._exit(1)


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def main() -> int:
    """Print the account as one line of JSON; the exit code is 1 if the book broke its word."""
    parser = argparse.ArgumentParser(prog="python -m commonplace.testing.contract.crash", description=__doc__)
    parser.add_argument("book", type=Path, help="a new book; the notes go to a folder beside it")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--every", type=int, default=25, help="kills between two verifications")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    account = run(wanted.book, kills=wanted.kills, every=wanted.every, seed=wanted.seed)
    print(json.dumps(asdict(account)))
    return 1 if account.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
