"""Many processes and threads on one file: nothing is lost, no caller sees a lock, and all see acknowledged writes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

import commonplace
from commonplace import Book
from commonplace.testing import HashEmbedder

# One process imports the library and forks the workers before any book is open: sixteen imports take long.
# A worker says that it is ready, waits for a line, does its part, says what came of it, and so on.
HOST = """
import os, sys, traceback, commonplace
from commonplace.testing import HashEmbedder
path, code, pipes = sys.argv[1], sys.argv[2], [int(end) for end in sys.argv[3:]]
def opened(): return commonplace.open(path, embedder=HashEmbedder())
def tell(word): print(word, flush=True)
def wait(): return sys.stdin.readline().strip()
children = []
for me in range(len(pipes) // 2):
    child = os.fork()
    if child:
        children.append(child)
        continue
    os.dup2(pipes[2 * me], 0)
    os.dup2(pipes[2 * me + 1], 1)
    os.closerange(3, max(pipes) + 1)
    status = 1
    try:
        exec(code, {**globals(), "me": me})
        status = 0
    except BaseException:
        traceback.print_exc()
    os._exit(status)
os.closerange(3, max(pipes) + 1)
for child in children:
    os.waitpid(child, 0)
"""


class Worker:
    """A process that runs a piece of code, spoken with line by line."""

    def __init__(self, to: int, of: int) -> None:
        self._in, self._out = os.fdopen(to, "w", encoding="utf-8"), os.fdopen(of, encoding="utf-8")

    def hear(self) -> str:
        """Its next line."""
        line = self._out.readline()
        assert line, "a worker ended; what it said is in the captured stderr"
        return line.strip()

    def say(self, line: str = "") -> None:
        """Give it a line."""
        self._in.write(line + "\n")
        self._in.flush()

    def ask(self, line: str) -> str:
        """Give it a line and hear its next one."""
        self.say(line)
        return self.hear()

    def close(self) -> None:
        """Hang up: a worker that waits for a line gets an empty one and ends."""
        with contextlib.suppress(BrokenPipeError):
            self._in.close()
        self._out.close()


class Host:
    """The process that all workers of a test come from."""

    def __init__(self, code: str, path: Path, how_many: int) -> None:
        ours, theirs = [], []
        for _ in range(how_many):
            (reads, to), (of, writes) = os.pipe(), os.pipe()
            ours.append((to, of))
            theirs += [reads, writes]
        self._process = subprocess.Popen(
            [sys.executable, "-c", HOST, str(path), code, *map(str, theirs)],
            pass_fds=theirs,
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # who forks keeps to one thread
        )
        for end in theirs:
            os.close(end)
        self.workers = [Worker(to, of) for to, of in ours]

    def kill(self) -> None:
        """End the host and its workers at once, wherever they are."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        """Clean up in any case."""
        for worker in self.workers:
            worker.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


Start = Callable[[str, int], Host]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts workers on one book, each ready when this returns."""
    hosts: list[Host] = []

    def start(code: str, how_many: int) -> Host:
        host = Host(code, tmp_path / "book.db", how_many)
        hosts.append(host)
        assert [worker.hear() for worker in host.workers] == ["ready"] * how_many
        return host

    yield start
    for host in hosts:
        host.close()


def at_once(host: Host) -> list[str]:
    """Let all continue at the same moment; return what each prints at the end."""
    for worker in host.workers:
        worker.say("go")
    return [worker.hear() for worker in host.workers]


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as opened:
        yield opened


INCREMENT = """
book = opened()
tell("ready"); wait()
lost, kv = 0, book.kv("counters")
for _ in range(50):
    while True:
        entry = kv.entry("sum")
        try:
            kv.set("sum", (entry.value if entry else 0) + 1, if_version=entry.version if entry else 0)
            break
        except commonplace.Conflict as conflict:
            assert conflict.current > (entry.version if entry else 0)
            lost += 1
tell(lost)
"""


@pytest.mark.slow
def test_compare_and_set_increments_from_eight_processes_add_up(start: Start, book: Book) -> None:
    lost = sum(map(int, at_once(start(INCREMENT, 8))))
    entry = book.kv("counters").entry("sum")
    assert entry is not None
    assert (entry.value, entry.version) == (400, 400)
    print(f"\n8 x 50 increments, {lost} lost races")


APPEND = """
book = opened()
tell("ready"); wait()
for number in range(30):
    entry = book.kv("log").append("all", [me, number])
    assert [me, number] in entry.value
tell("done")
"""


@pytest.mark.slow
def test_appends_from_four_processes_are_all_kept_and_in_order(start: Start, book: Book) -> None:
    at_once(start(APPEND, 4))
    items = book.kv("log").get("all")
    assert sorted(items) == [[me, number] for me in range(4) for number in range(30)]  # type: ignore[arg-type, type-var]
    for me in range(4):
        assert [number for who, number in items if who == me] == list(range(30))  # type: ignore[misc, str-unpack, union-attr]


CONVERSE = """
book = opened()
tell("ready")
while word := wait():
    verb, _, rest = word.partition(" ")
    if verb == "remember":
        tell(book.remember(rest).id)
    elif verb == "revise":
        id, _, rest = rest.partition(" ")
        tell(book.revise(id, rest).version)
    elif verb == "forget":
        tell(book.forget(rest).memories)
    else:
        tell("|".join(hit.memory.text for hit in book.recall(rest, k=3, threshold=0)))
"""


@pytest.mark.slow
def test_a_process_recalls_at_once_what_another_was_acknowledged(start: Start) -> None:
    one, two = start(CONVERSE, 2).workers
    for number in range(15):
        place = f"harbour{number} north"
        id = one.ask(f"remember The ferry of {place} leaves at noon")
        assert f"The ferry of {place} leaves at noon" in two.ask(f"recall ferry {place}").split("|")
        assert two.ask(f"revise {id} The ferry of {place} leaves at dusk") == "2"
        seen = one.ask(f"recall ferry {place}").split("|")
        assert f"The ferry of {place} leaves at dusk" in seen
        assert f"The ferry of {place} leaves at noon" not in seen
        if number % 2:
            assert one.ask(f"forget {id}") == "1"
            assert place not in two.ask(f"recall ferry {place}")


OPEN = """
tell("ready"); wait()
with opened() as book:
    book.remember(f"Process {me} was here", id=f"p{me}")
    assert book.get(f"p{me}").version == 1
tell("done")
"""


@pytest.mark.slow
def test_sixteen_processes_open_a_new_file_at_the_same_moment(start: Start, tmp_path: Path) -> None:
    assert at_once(start(OPEN, 16)) == ["done"] * 16
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as book:
        assert {memory.id for memory in book.list()} == {f"p{me}" for me in range(16)}
        assert book.check(deep=True).ok


HOLD_THE_LOCK = """
import apsw
book = opened()
book.remember("Before the lock", id="before")
raw = apsw.Connection(path)
raw.execute("BEGIN IMMEDIATE")
raw.execute("DELETE FROM memory")
tell("ready"); wait()
"""


@pytest.mark.slow
def test_the_lock_of_a_killed_writer_blocks_nobody(start: Start, book: Book) -> None:
    holder = start(HOLD_THE_LOCK, 1)
    writer = threading.Thread(target=book.remember, args=("Written after the kill",), kwargs={"id": "after"})
    writer.start()
    writer.join(0.3)
    assert writer.is_alive(), "the lock was not held, so that this test shows nothing"
    holder.kill()
    writer.join(30)
    assert not writer.is_alive()
    assert {memory.id for memory in book.list()} == {"before", "after"}
    assert book.check(deep=True).ok


def test_a_lock_that_outlasts_the_time_out_is_store_busy_and_changes_nothing(tmp_path: Path) -> None:
    path, settings = tmp_path / "book.db", commonplace.Settings(busy_timeout=0.2)
    with commonplace.open(path, embedder=HashEmbedder(), settings=settings) as book:
        book.remember("Before the lock")
        with holding_the_lock(path):
            with pytest.raises(commonplace.StoreBusy, match="try again"):
                book.remember("Never written")
            assert len(book.recall("lock", threshold=0)) == 1, "readers go on"
        assert len(book.list()) == 1
        book.remember("After the lock")
        assert len(book.list()) == 2


@contextlib.contextmanager
def holding_the_lock(path: Path) -> Iterator[None]:
    """The write lock of the file, held by a connection of the test's own."""
    raw = apsw.Connection(str(path))
    raw.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        raw.execute("ROLLBACK")
        raw.close()


@pytest.mark.slow
def test_thirty_two_threads_share_commits(book: Book, tmp_path: Path) -> None:
    book.remember("Opened and proven")
    commits: list[int] = []
    raw = book._store._writer.raw  # type: ignore[attr-defined]
    raw.set_wal_hook(lambda connection, name, pages: commits.append(pages) or 0)  # type: ignore[func-returns-value]
    gate = threading.Barrier(33)
    errors: list[BaseException] = []

    def remember(number: int) -> None:
        gate.wait()
        try:
            book.remember(f"Thread {number} was here", id=f"t{number}")
        except commonplace.CommonplaceError as error:
            errors.append(error)

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    # While another holds the file, callers gather: they must then be written together, not one by one.
    with holding_the_lock(tmp_path / "book.db"):
        gate.wait()
        for thread in threads:
            thread.join(0.05)
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert {f"t{number}" for number in range(32)} <= {memory.id for memory in book.list()}
    print(f"\n32 writes of 32 threads in {len(commits)} commits")
    assert len(commits) <= 16
    assert book.check(deep=True).ok


def test_threads_that_conflict_in_one_commit_do_not_spoil_each_other(book: Book, tmp_path: Path) -> None:
    book.remember("Taken", id="taken")
    outcomes: dict[int, str] = {}
    gate = threading.Barrier(17)

    def remember(number: int) -> None:
        gate.wait()
        try:
            # Every other thread fails in the middle of its transaction, after its first row.
            book.remember(
                [
                    commonplace.Draft(content=f"First of {number}", id=f"first{number}"),
                    commonplace.Draft(content="Second", id="taken" if number % 2 else f"second{number}"),
                ]
            )
            outcomes[number] = "written"
        except commonplace.Conflict as conflict:
            outcomes[number] = f"conflict {conflict.current}"

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    with holding_the_lock(tmp_path / "book.db"):
        gate.wait()
        threads[0].join(0.3)
    for thread in threads:
        thread.join(60)
    assert outcomes == {number: "conflict 1" if number % 2 else "written" for number in range(16)}
    even = range(0, 16, 2)
    expected = {"taken", *(f"first{number}" for number in even), *(f"second{number}" for number in even)}
    assert {memory.id for memory in book.list()} == expected


def test_threads_that_write_and_recall_see_their_own_writes(book: Book) -> None:
    missed: list[str] = []

    def work(me: int) -> None:
        for number in range(8):
            name = f"buoy{me}x{number}"
            id = book.remember(f"The {name} blinks twice").id
            if id not in {hit.memory.id for hit in book.recall(f"which buoy is {name}", threshold=0, k=5)}:
                missed.append(name)
            if number % 3 == 2:
                book.forget(id)
                if id in {hit.memory.id for hit in book.recall(f"which buoy is {name}", threshold=0, k=5)}:
                    missed.append(f"{name} is back")

    threads = [threading.Thread(target=work, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert missed == []
    assert len(book.list()) == 8 * 6
