"""A hostile world: full and read-only disks, files of others, bad input, forks, interrupts, failing embedders.

Each raises a clear error of its own class and changes nothing.
"""

from __future__ import annotations

import gc
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

import commonplace
from commonplace import Book, errors
from commonplace.testing import HashEmbedder

pytestmark = pytest.mark.slow

TABLES = ("memory", "trace", "tag", "ended", "feedback", "entry", "file", "message", "space", "counter", "book")
PRELUDE = """
import os, sys, signal, threading, time, random, commonplace
from commonplace.testing import HashEmbedder
path = sys.argv[1]
def opened(): return commonplace.open(path, embedder=HashEmbedder())
def tell(word): print(word, flush=True)
"""


def opened(path: Path, **options: Any) -> Book:
    return commonplace.open(path, embedder=HashEmbedder(), **options)


def run(code: str, path: Path) -> list[str]:
    """Run code in a separate process; return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code, str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def contents(book: Book, path: Path) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """All that a book holds: what it exports, and how many rows each table has."""
    raw = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = {table: raw.execute(f"SELECT count(*) FROM {table}").get for table in TABLES}  # noqa: S608
    finally:
        raw.close()
    return list(book.export(vectors=True))[1:], rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


@pytest.fixture
def book(path: Path) -> Iterator[Book]:
    with opened(path) as book:
        yield book


# -- disks ----------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"this machine does not allow mounting: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True, capture_output=True)


def fill(book: Book) -> dict[str, str]:
    """Remember until the disk is full; what was acknowledged."""
    chance, acknowledged = random.Random(1), {}  # type: ignore[var-annotated]
    for number in range(5_000):
        text = f"Letter {number}: " + " ".join(f"{chance.getrandbits(64):x}" for _ in range(60))
        try:
            book.remember(text, id=f"letter{number}")
        except commonplace.StoreFull:
            with pytest.raises(commonplace.NotFound):
                book.get(f"letter{number}")
            return acknowledged
        acknowledged[f"letter{number}"] = text
    raise AssertionError("the disk never filled")


def all_there(book: Book, acknowledged: dict[str, str]) -> bool:
    return {memory.id: memory.text for memory in book.list(limit=10_000)} == acknowledged and book.check(deep=True).ok


def test_a_full_disk_loses_nothing_and_room_makes_it_work_again(disk: Path) -> None:
    ballast, path = disk / "ballast", disk / "book.db"
    ballast.write_bytes(bytes(500_000))
    with opened(path) as book:
        acknowledged = fill(book)
        assert len(acknowledged) > 20
        assert all_there(book, acknowledged)
        before = contents(book, path)
        writes: list[Callable[[], object]] = [
            lambda: book.remember([f"note {i} " * 10_000 for i in range(20)]),
            lambda: book.kv("n").set("key", "x" * 500_000),
            lambda: book.canvas("c").write("file", "x" * 500_000),
            lambda: book.transcript("s").append("x" * 500_000),
        ]
        for write in writes:
            with pytest.raises(commonplace.StoreFull):
                write()
        assert contents(book, path) == before
        assert book.recall("Letter 3", threshold=0).hits, "reading goes on"
        ballast.unlink()
        book.remember("There is room again", id="room")
        acknowledged["room"] = "There is room again"
        assert all_there(book, acknowledged)
    with opened(path) as book:
        assert all_there(book, acknowledged)


def test_a_book_on_a_full_disk_opens_again_and_forgetting_frees_room(disk: Path) -> None:
    ballast, path = disk / "ballast", disk / "book.db"
    ballast.write_bytes(bytes(500_000))
    with opened(path) as book:
        acknowledged = fill(book)
    with opened(path) as book:
        assert all_there(book, acknowledged)
        ballast.unlink()
        gone = list(acknowledged)[::2]
        book.forget(gone)
        for id in gone:
            del acknowledged[id]
        assert all_there(book, acknowledged)
    ballast.write_bytes(bytes(min(400_000, os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize // 2)))
    with opened(path) as book:
        book.remember("In the room of the forgotten", id="new")
        assert book.check(deep=True).ok


def test_a_new_book_on_a_disk_without_any_room_is_store_full(disk: Path) -> None:
    room = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(room.f_bavail * room.f_frsize))
    with pytest.raises(commonplace.StoreFull, match="no room left"):
        opened(disk / "book.db")
    (disk / "ballast").unlink()
    with opened(disk / "book.db") as book:
        book.remember("There is room now")
        assert book.check(deep=True).ok


# Prints how far a caller gets with a book that cannot be written.
TRY_READ_ONLY = """
from commonplace import StoreReadOnly, StoreUnavailable
try:
    with opened() as book:
        tell("recalled " + book.recall("which lamp is lit", threshold=0).hits[0].memory.text)
        tell("listed " + str(len(book.list())))
        for write in (lambda: book.remember("x"), lambda: book.kv("n").set("k", 1), lambda: book.forget("lamp")):
            try:
                write()
                tell("WRITTEN")
            except StoreReadOnly as error:
                tell("StoreReadOnly " + str(error))
except (StoreReadOnly, StoreUnavailable) as error:
    tell("not opened " + type(error).__name__ + " " + str(error))
"""


def told_clearly(lines: Sequence[str], path: Path) -> bool:
    """Either nothing could be opened, by an error that names the file; or all reads and no writes went through."""
    if lines[0].startswith("not opened"):
        return len(lines) == 1 and str(path) in lines[0]
    refused = [line for line in lines[2:] if line.startswith(f"StoreReadOnly {path}")]
    return lines[:2] == ["recalled The lamp is lit at dusk", "listed 1"] and len(refused) == 3 == len(lines) - 2


def write_lamp(path: Path) -> None:
    with opened(path) as book:
        book.remember("The lamp is lit at dusk", id="lamp")


def test_a_read_only_disk_is_refused_clearly_or_read(disk: Path) -> None:
    path = disk / "book.db"
    write_lamp(path)
    before = path.read_bytes()
    remount(disk, "ro")
    lines = run(TRY_READ_ONLY, path)
    print(lines)
    assert told_clearly(lines, path)
    assert path.read_bytes() == before
    remount(disk, "rw")
    with opened(path) as book:
        assert book.get("lamp").text == "The lamp is lit at dusk"


def test_a_read_only_disk_with_the_log_of_a_killed_writer_is_refused_clearly_or_read(disk: Path) -> None:
    path = disk / "book.db"
    _killed_writer(path)
    before = path.read_bytes()
    remount(disk, "ro")
    lines = run(TRY_READ_ONLY, path)
    print(lines)
    assert told_clearly(lines, path)
    remount(disk, "rw")
    assert path.read_bytes() == before
    with opened(path) as book:
        assert book.get("lamp").text == "The lamp is lit at dusk"


def _killed_writer(path: Path) -> None:
    code = PRELUDE + "book = opened(); book.remember('The lamp is lit at dusk', id='lamp'); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert Path(f"{path}-wal").stat().st_size > 0


@pytest.fixture
def lowly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that a user without rights can reach; permissions do not bind root."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    place = Path(os.path.realpath("/tmp")) / f"commonplace-lowly-{os.getpid()}-{random.getrandbits(32):x}"  # noqa: S108
    place.mkdir(mode=0o755)
    yield place
    shutil.rmtree(place)


# What is imported or read late must be there before: that user may not read the library's own files.
BECOME_NOBODY = """
import tempfile
with tempfile.TemporaryDirectory() as place, commonplace.open(place + "/b.db", embedder=HashEmbedder()) as book:
    book.remember("The lamp is lit at dusk")
    book.recall("lamp")
os.setgid(65534)
os.setuid(65534)
"""


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"), [(0o777, 0o444), (0o555, 0o444), (0o555, 0o666)], ids=["file", "both", "folder"]
)
def test_a_file_or_folder_without_the_right_to_write_is_refused_clearly_or_read(
    lowly: Path, folder_mode: int, file_mode: int
) -> None:
    path = lowly / "book.db"
    write_lamp(path)
    before = path.read_bytes()
    path.chmod(file_mode)
    lowly.chmod(folder_mode)
    lines = run(BECOME_NOBODY + TRY_READ_ONLY, path)
    print(lines)
    assert told_clearly(lines, path)
    assert path.read_bytes() == before


def test_a_file_without_the_right_to_read_is_store_unavailable(lowly: Path) -> None:
    path = lowly / "book.db"
    write_lamp(path)
    path.chmod(0o600)
    lines = run(BECOME_NOBODY + TRY_READ_ONLY, path)
    assert len(lines) == 1
    assert lines[0].startswith("not opened StoreUnavailable")


# -- files that are no books ----------------------------------------------------------------------


def random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(2).randbytes(50_000))


def some_text(path: Path) -> None:
    path.write_text("Dear diary, today I was mistaken for a database.\n" * 100)


def short_text(path: Path) -> None:
    path.write_text("hello")


def another_program(path: Path, mode: str = "delete") -> None:
    raw = apsw.Connection(str(path))
    raw.pragma("journal_mode", mode)
    raw.execute("CREATE TABLE bookmark (url TEXT); INSERT INTO bookmark VALUES ('https://example.org')")
    raw.close()


def another_program_in_wal_mode(path: Path) -> None:
    another_program(path, "wal")


def another_program_that_names_itself(path: Path) -> None:
    another_program(path)
    raw = apsw.Connection(str(path))
    raw.pragma("application_id", 0x0F055112)
    raw.close()


def newer_book(path: Path) -> None:
    write_lamp(path)
    raw = apsw.Connection(str(path))
    raw.pragma("user_version", 1_000)
    raw.execute("UPDATE book SET value = '1000' WHERE name = 'oldest'")
    raw.close()


def half_a_book(path: Path) -> None:
    write_lamp(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def odd_half_of_a_book(path: Path) -> None:
    write_lamp(path)
    path.write_bytes(path.read_bytes()[:10_000])


def first_page_of_a_book(path: Path) -> None:
    write_lamp(path)
    path.write_bytes(path.read_bytes()[:4096])


def first_bytes_of_a_book(path: Path) -> None:
    write_lamp(path)
    path.write_bytes(path.read_bytes()[:100])


def overwritten_book(path: Path) -> None:
    write_lamp(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + random.Random(3).randbytes(len(whole) - 4096))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (random_bytes, errors.NotABook),
        (some_text, errors.NotABook),
        (short_text, errors.NotABook),
        (another_program, errors.NotABook),
        (another_program_in_wal_mode, errors.NotABook),
        (another_program_that_names_itself, errors.NotABook),
        (newer_book, errors.BookTooNew),
        (half_a_book, errors.StoreCorrupt),
        (odd_half_of_a_book, errors.StoreCorrupt),
        (first_page_of_a_book, errors.StoreCorrupt),
        (first_bytes_of_a_book, (errors.StoreCorrupt, errors.NotABook)),
        (overwritten_book, errors.StoreCorrupt),
        (Path.mkdir, errors.StoreUnavailable),
    ],
)
def test_a_file_that_is_no_sound_book_is_refused_by_name_and_left_alone(
    path: Path, make: Callable[[Path], None], expected: type[Exception] | tuple[type[Exception], ...]
) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    files = sorted(path.parent.iterdir())
    with pytest.raises(expected) as raised, opened(path) as book:
        book.recall("lamp")
    assert str(path) in str(raised.value)
    del raised  # its traceback may hold a connection open
    gc.collect()
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert sorted(path.parent.iterdir()) == files


def test_an_empty_file_is_a_new_book(path: Path) -> None:
    path.touch()
    with opened(path) as book:
        book.remember("First words")
        assert book.check(deep=True).ok


def test_a_missing_folder_is_store_unavailable_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(commonplace.StoreUnavailable, match="directory"):
        opened(tmp_path / "missing" / "book.db")
    assert not (tmp_path / "missing").exists()


# -- input that cannot be used --------------------------------------------------------------------

STALE = "--- a/plan\n+++ b/plan\n@@ -1,1 +1,1 @@\n-not what stands there\n+anything\n"
BATCH = ["fine", "fine as well"]
BAD: dict[str, tuple[type[Exception], Callable[[Book], object]]] = {
    "NUL in a text": (errors.InvalidText, lambda book: book.remember("a\0b")),
    "NUL in a batch": (errors.InvalidText, lambda book: book.remember([*BATCH, "a\0b"])),
    "NUL in metadata": (errors.InvalidText, lambda book: book.remember("x", metadata={"a": "\0"})),
    "NUL in a JSON content": (errors.InvalidText, lambda book: book.remember({"a": ["\0"]})),
    "NUL in a tag": (errors.InvalidText, lambda book: book.remember("x", tags=["a\0"])),
    "NUL in a query": (errors.InvalidText, lambda book: book.recall("a\0b")),
    "NUL in a value": (errors.InvalidText, lambda book: book.kv("n").set("k", {"a": "\0"})),
    "NUL in a file": (errors.InvalidText, lambda book: book.canvas("c").write("plan", "\0")),
    "NUL in a message": (errors.InvalidText, lambda book: book.transcript("s").append("\0")),
    "NUL in an appended item": (errors.InvalidText, lambda book: book.kv("n").append("list", "fine", "\0")),
    "surrogate in a text": (errors.InvalidText, lambda book: book.remember("a\ud800b")),
    "surrogate in a batch": (errors.InvalidText, lambda book: book.remember([*BATCH, "\udfff"])),
    "surrogate in metadata": (errors.InvalidText, lambda book: book.remember("x", metadata={"\ud800": 1})),
    "surrogate in a query": (errors.InvalidText, lambda book: book.recall("\ud800")),
    "surrogate in a key": (errors.InvalidText, lambda book: book.kv("n").set("\ud800", 1)),
    "surrogate in a revision": (errors.InvalidText, lambda book: book.revise("lamp", "\ud800")),
    "surrogate in a message": (errors.InvalidText, lambda book: book.transcript("s").append({"a": "\ud800"})),
    "10 MB of text": (errors.TooLarge, lambda book: book.remember("x" * 10_000_000)),
    "10 MB in a batch": (errors.TooLarge, lambda book: book.remember([*BATCH, "x" * 10_000_000])),
    "10 MB revised": (errors.TooLarge, lambda book: book.revise("lamp", "é" * 5_000_000)),
    "10 MB of query": (errors.TooLarge, lambda book: book.recall("x" * 10_000_000)),
    "10 MB of JSON": (errors.TooLarge, lambda book: book.remember({"a": "x" * 10_000_000})),
    "10 MB of message": (errors.TooLarge, lambda book: book.transcript("s").append("x" * 10_000_000)),
    "40 MB of value": (errors.TooLarge, lambda book: book.kv("n").set("k", "x" * 40_000_000)),
    "wrong dimension": (errors.DimensionMismatch, lambda book: book.remember("x", vector=[1.0, 2.0])),
    "wrong dimension, query": (errors.DimensionMismatch, lambda book: book.recall("x", vector=np.ones(65))),  # type: ignore[arg-type]
    "wrong dimension, revised": (errors.DimensionMismatch, lambda book: book.revise("lamp", vector=[1.0])),
    "a matrix as vector": (errors.DimensionMismatch, lambda book: book.remember("x", vector=np.ones((1, 64)))),  # type: ignore[arg-type]
    "NaN in a vector": (errors.InvalidInput, lambda book: book.remember("x", vector=[math.nan] * 64)),
    "infinity in a vector": (errors.InvalidInput, lambda book: book.remember("x", vector=[math.inf] * 64)),
    "NaN in a query vector": (errors.InvalidInput, lambda book: book.recall("x", vector=[math.nan] * 64)),
    "words as a vector": (errors.InvalidInput, lambda book: book.remember("x", vector=["a"] * 64)),  # type: ignore[list-item]
    "NaN in metadata": (errors.InvalidInput, lambda book: book.remember("x", metadata={"a": math.nan})),
    "unknown operator": (errors.InvalidFilter, lambda book: book.recall("x", filter={"kind": {"$like": "n"}})),
    "unknown operator, forgetting": (errors.InvalidFilter, lambda book: book.forget(filter={"$nor": []})),
    "unknown field": (errors.InvalidFilter, lambda book: book.forget(filter={"colour": "red"})),
    "stale patch": (errors.StalePatch, lambda book: book.canvas("c").apply(STALE)),
    "no patch": (errors.InvalidPatch, lambda book: book.canvas("c").apply("please change the plan")),
    "stale version": (errors.Conflict, lambda book: book.revise("lamp", "x", if_version=7)),
    "stale version of a file": (errors.Conflict, lambda book: book.canvas("c").write("plan", "x", if_version=7)),
    "stale version of a value": (errors.Conflict, lambda book: book.kv("n").set("list", 1, if_version=7)),
    "id that is taken": (errors.Conflict, lambda book: book.remember("x", id="lamp")),
    "forgetting the unknown": (errors.NotFound, lambda book: book.forget(["lamp", "unknown"])),
    "superseding the unknown": (errors.NotFound, lambda book: book.remember("x", supersedes=["unknown"])),
    "forgetting nothing in particular": (errors.InvalidInput, lambda book: book.forget()),
    "appending to what is no list": (errors.InvalidInput, lambda book: book.kv("n").append("number", 1)),
    "a record of no export": (errors.InvalidInput, lambda book: book.load([{"type": "memory"}])),
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Book, Path]]:
    path = tmp_path_factory.mktemp("furnished") / "book.db"
    with opened(path) as book:
        book.remember("The lamp is lit at dusk", id="lamp", tags=["light"], metadata={"room": 3})
        book.revise("lamp", "The lamp is lit at nightfall")
        book.kv("n").append("list", 1)
        book.kv("n").set("number", 1)
        book.canvas("c").write("plan", "one\ntwo\n")
        book.transcript("s").append("hello")
        book.feedback("lamp", "used")
        yield book, path


@pytest.mark.parametrize("case", BAD)
def test_input_that_cannot_be_used_has_its_own_error_and_changes_nothing(
    furnished: tuple[Book, Path], case: str
) -> None:
    book, path = furnished
    expected, call = BAD[case]
    before = contents(book, path)
    with pytest.raises(expected) as raised:
        call(book)
    assert type(raised.value) is expected
    assert str(raised.value)
    assert contents(book, path) == before


# -- closed, forked, interrupted ------------------------------------------------------------------

VERBS: dict[str, Callable[[Book], object]] = {
    "remember": lambda book: book.remember("x"),
    "recall": lambda book: book.recall("x"),
    "get": lambda book: book.get("x"),
    "list": lambda book: book.list(),
    "revise": lambda book: book.revise("x", "y"),
    "forget": lambda book: book.forget("x"),
    "history": lambda book: book.history("x"),
    "feedback": lambda book: book.feedback("x", "used"),
    "stats": lambda book: book.stats(),
    "check": lambda book: book.check(),
    "export": lambda book: list(book.export()),
    "load": lambda book: book.load([]),
    "kv": lambda book: book.kv("n").set("k", 1),
    "canvas": lambda book: book.canvas("c").files(),
    "transcript": lambda book: book.transcript("s").append("x"),
    "namespaces": lambda book: book.namespaces(),
    "in_space": lambda book: book.in_space("other").remember("x"),
}


@pytest.mark.parametrize("proven", [True, False], ids=["used", "never used"])
def test_every_verb_of_a_closed_book_is_store_closed(path: Path, proven: bool) -> None:
    book = opened(path)
    if proven:
        book.remember("used")
    book.close()
    book.close()
    for name, verb in VERBS.items():
        try:
            verb(book)
        except commonplace.StoreClosed:
            continue
        pytest.fail(f"{name} worked on a closed book")
    with pytest.raises(commonplace.StoreClosed):
        book.backup(path.with_name("copy.db"))
    assert not path.with_name("copy.db").exists()


def test_closing_waits_for_writers_and_later_ones_are_told(path: Path) -> None:
    book = opened(path)
    book.remember("Before")
    acknowledged: list[str] = []
    others: list[BaseException] = []

    def write(me: int) -> None:
        try:
            while True:
                acknowledged.append(book.remember(f"Thread {me} says something").id)
        except commonplace.CommonplaceError as error:
            others.append(error)

    threads = [threading.Thread(target=write, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 20:
        threads[0].join(0.01)
    book.close()
    for thread in threads:
        thread.join(30)
    assert [type(error) for error in others] == [commonplace.StoreClosed] * 4
    with opened(path) as again:
        assert set(acknowledged) <= {memory.id for memory in again.list(limit=10_000)}
        assert again.check(deep=True).ok


FORK = """
book = opened()
book.remember("Before the fork", id="before")
book.list()  # no recall: a process that forks after onnxruntime was imported cannot end cleanly (docs/operations.md)
child = os.fork()
if child == 0:
    signal.alarm(20)  # a child that hangs is killed, which the parent sees
    verbs = {
        "remember": lambda: book.remember("x"), "recall": lambda: book.recall("x"), "list": lambda: book.list(),
        "kv": lambda: book.kv("n").set("k", 1), "check": lambda: book.check(),
    }
    for name, verb in verbs.items():
        try:
            verb()
            tell(name + " worked")
        except commonplace.StoreClosed as error:
            tell(name + " " + str(error))
    with opened() as own:
        own.remember("From the child's own book", id="child")
    book.close()
    sys.exit(0)
tell(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
book.remember("After the fork", id="after")
tell(sorted(memory.id for memory in book.list()))
tell(book.check(deep=True).ok)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_told_to_open_the_book_itself(path: Path) -> None:
    lines = run(FORK, path)
    assert [line.split()[0] for line in lines[:5]] == ["remember", "recall", "list", "kv", "check"]
    for line in lines[:5]:
        assert "fork" in line
        assert "open it again" in line
    assert lines[5:] == ["0", "['after', 'before', 'child']", "True"]


FORK_WHILE_WRITING = """
book = opened()
book.remember("Before the fork")
stop = threading.Event()
def write():
    while not stop.is_set():
        book.remember(["Written meanwhile"] * 5)
threads = [threading.Thread(target=write) for _ in range(3)]
for thread in threads: thread.start()
ends = []
for _ in range(8):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that hangs is killed, which the parent sees
        try:
            book.remember("x")
        except commonplace.StoreClosed:
            try:
                book.recall("x")
            except commonplace.StoreClosed:
                book.close()
                os._exit(0)
        os._exit(1)
    ends.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in ends])
stop.set()
for thread in threads: thread.join()
print(book.check(deep=True).ok)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.slow
def test_a_child_forked_while_others_write_does_not_hang(path: Path) -> None:
    assert run(FORK_WHILE_WRITING, path) == [str([0] * 8), "True"]


INTERRUPT = """
book = opened()
book.remember("Opened and proven")
signal.signal(signal.SIGALRM, signal.default_int_handler)
chance = random.Random(4)
took = 1.0
for _ in range(10):  # the shortest: what other programs delay says nothing
    began = time.perf_counter(); book.remember(["x"] * 5); took = min(took, time.perf_counter() - began)
interrupted = kept = 0
for number in range(150):
    ids = [f"n{number}i{i}" for i in range(5)]
    drafts = [commonplace.Draft(content=f"Delivery {id}", id=id) for id in ids]
    acknowledged = False
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 1.3 * took))
        book.remember(drafts)
        acknowledged = True
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
    there = [memory.id for memory in book.list(filter={"id": {"$in": ids}})]
    assert len(there) in ((5,) if acknowledged else (0, 5)), there
    result = []
    after = threading.Thread(target=lambda: result.append(book.remember(f"After {number}")), daemon=True)
    after.start()
    after.join(20)
    assert result, "the book is stuck after an interrupt"
    later = [memory.id for memory in book.list(filter={"id": {"$in": ids}})]
    assert later == there, f"written after the caller was told of the interrupt: {later}"
    kept += len(there) == 5 and not acknowledged
assert book.check(deep=True).ok
tell(interrupted)
tell(kept)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that interrupt")
@pytest.mark.slow
def test_an_interrupt_in_the_middle_of_a_write_leaves_a_usable_book(path: Path) -> None:
    interrupted, kept = map(int, run(INTERRUPT, path))
    print(f"\n150 writes, {interrupted} interrupted, {kept} of them written all the same")
    assert interrupted > 30


# -- embedders ------------------------------------------------------------------------------------


class Failing(HashEmbedder):
    """Raises, or gives nonsense, when it meets a text with the word."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self._how = how

    def embed(self, texts: Sequence[str]) -> Any:
        rows = super().embed(texts)
        if not any("bomb" in text for text in texts):
            return rows
        if self._how == "raise":
            raise RuntimeError("the model fell over")
        return {"nan": rows * np.nan, "short": rows[:-1], "narrow": rows[:, :-1]}[self._how]


@pytest.mark.parametrize("how", ["raise", "nan", "short", "narrow"])
def test_an_embedder_that_fails_in_the_middle_of_a_batch_leaves_nothing(path: Path, how: str) -> None:
    with commonplace.open(path, embedder=Failing(how)) as book:
        book.remember("The lamp is lit at dusk", id="lamp")
        before = contents(book, path)
        expected = RuntimeError if how == "raise" else commonplace.EmbedderFailed
        with pytest.raises(expected):
            book.remember([*(f"Harmless {i}" for i in range(10)), "a bomb", "Harmless again"])
        with pytest.raises(expected):
            book.revise("lamp", "a bomb")
        assert contents(book, path) == before
        book.remember("Harmless")
        assert book.check(deep=True).ok


def test_another_embedder_on_an_old_book_is_refused_with_the_command_that_helps(path: Path) -> None:
    write_lamp(path)
    before = path.read_bytes()
    for other in (HashEmbedder(name="other"), HashEmbedder(version="2"), HashEmbedder(dimension=32)):
        with (
            pytest.raises(commonplace.EmbedderMismatch, match="commonplace reindex") as raised,
            commonplace.open(path, embedder=other) as book,
        ):
            book.recall("lamp")
        assert str(path) in str(raised.value)
    assert path.read_bytes() == before
    with opened(path) as book:
        assert book.recall("which lamp is lit").hits


class Counting(HashEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return super().embed(texts)


SLOW_REINDEX = """
def progress(done, total):
    tell(f"{done} {total}")
    time.sleep(600 if done >= 100 else 0)  # until it is killed
commonplace.reindex(path, embedder=HashEmbedder(dimension=32, name="new"), batch=10, progress=progress)
"""


def test_a_reindex_that_was_killed_goes_on_where_it_stopped(path: Path) -> None:
    with opened(path) as book:
        book.remember([f"Lamp number {i} is lit at dusk" for i in range(200)])
        book.in_space("other").remember("The other lamp")
        process = subprocess.Popen([sys.executable, "-c", PRELUDE + SLOW_REINDEX, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        while int(process.stdout.readline().split()[0]) < 100:
            pass
        process.kill()
        process.communicate()
        # Until all is there, the book stays what it was.
        assert book.recall("lamp number 7", threshold=0).hits
        book.remember("Written between the two halves", id="between")
        book.forget(book.list(order="oldest", limit=1).memories[0].id)
    new = Counting(dimension=32, name="new")
    seen: list[tuple[int, int]] = []
    commonplace.reindex(path, embedder=new, batch=10, progress=lambda done, total: seen.append((done, total)))
    assert seen[0][0] >= 100, "it began again from the start"
    assert sum("Lamp number" in text for text in new.texts) <= 110
    assert any("between the two halves" in text for text in new.texts)
    with commonplace.open(path, embedder=new) as book:
        assert "number 77 " in book.recall("lamp number 77", threshold=0).hits[0].memory.text
        assert book.in_space("other").recall("other lamp", threshold=0).hits
        assert len(book.list(limit=1_000)) == 200
        assert book.check(deep=True).ok
        assert book.stats().dimension == 32


@pytest.mark.parametrize("dimension", [64, 32], ids=["same dimension", "another dimension"])
@pytest.mark.parametrize("verb", ["remember", "remember with a vector", "recall", "recall by vector", "revise"])
def test_a_handle_from_before_a_reindex_is_told_to_open_again(path: Path, verb: str, dimension: int) -> None:
    verbs: dict[str, Callable[[Book], object]] = {
        "remember": lambda book: book.remember("x"),
        "remember with a vector": lambda book: book.remember("x", vector=[1.0] * 64),
        "recall": lambda book: book.recall("which lamp is lit"),
        "recall by vector": lambda book: book.recall("which lamp is lit", vector=[1.0] * 64),
        "revise": lambda book: book.revise("lamp", "The lamp is lit at dawn"),
    }
    write_lamp(path)
    new = HashEmbedder(dimension=dimension, name="new")
    with opened(path) as old:
        old.recall("lamp")
        commonplace.reindex(path, embedder=new)
        with pytest.raises(commonplace.EmbedderMismatch, match="open it again"):
            verbs[verb](old)
    with commonplace.open(path, embedder=new) as book:
        assert book.get("lamp").version == 1
        assert book.recall("which lamp is lit").hits


def test_a_reindex_with_a_failing_embedder_leaves_the_book_as_it_was(path: Path) -> None:
    class Bomb(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            if any("lamp" in text for text in texts):
                raise RuntimeError("the model fell over")
            return super().embed(texts)

    write_lamp(path)
    with pytest.raises(RuntimeError, match="fell over"):
        commonplace.reindex(path, embedder=Bomb(name="new"))
    with opened(path) as book:
        assert book.recall("which lamp is lit").hits
        assert book.check(deep=True).ok
