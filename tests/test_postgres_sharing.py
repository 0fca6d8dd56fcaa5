"""Many threads and processes on one PostgreSQL: exact sums, no errors, and only writers of one space take turns."""

from __future__ import annotations

import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

import commonplace
from commonplace import Book, Settings, StoreBusy
from commonplace.store.base import Tx
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS, server, with_options

EMBEDDER = HashEmbedder()
LIMIT = 30.0

# Each adds to one counter by compare-and-set; 16 threads in each process, which says how often it did.
INCREMENTS = """
import sys, commonplace
from concurrent.futures import ThreadPoolExecutor
from commonplace.testing import HashEmbedder
book = commonplace.open(sys.argv[1], embedder=HashEmbedder())
def increment(_):
    kv = book.kv("state")
    while True:
        entry = kv.entry("sum")
        value, version = (entry.value, entry.version) if entry else (0, 0)
        try:
            return kv.set("sum", value + 1, if_version=version)
        except commonplace.Conflict:
            continue
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(16) as pool:
    print(len(list(pool.map(increment, range(int(sys.argv[2]))))), flush=True)
"""

OPENING = """
import sys, commonplace
from commonplace.testing import HashEmbedder
print("ready", flush=True)
sys.stdin.readline()
with commonplace.open(sys.argv[1], embedder=HashEmbedder()) as book:
    book.remember("One of two who came at once", id=sys.argv[2])
    print(book.get(sys.argv[2]).id, flush=True)
"""


@pytest.fixture(autouse=True)
def _emptied() -> Iterator[None]:
    yield
    SCHEMAS.release()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return SCHEMAS.url(tmp_path)


@pytest.fixture
def book(url: str) -> Iterator[Book]:
    with commonplace.open(url, embedder=EMBEDDER) as opened:
        yield opened


@pytest.fixture
def new_database() -> Iterator[str]:
    """The URL of a database in which nothing is."""
    name = f"test_{secrets.token_hex(4)}"
    with psycopg.connect(server().url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        yield server().url.replace("/postgres?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def at_once(code: str, *arguments: tuple[str, ...]) -> list[str]:
    """Run the code in a process for each set of arguments, all let loose at the same moment; what each said last."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, *each],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in arguments
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=LIMIT) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), answers
    return [out.strip() for out, _ in answers]


def test_two_processes_that_open_an_empty_database_at_once_share_one_book(new_database: str) -> None:
    assert at_once(OPENING, (new_database, "a"), (new_database, "b")) == ["a", "b"]
    with commonplace.open(new_database, embedder=EMBEDDER) as book:
        assert {memory.id for memory in book.list()} == {"a", "b"}
        assert book.check(deep=True).problems == ()


def test_two_books_made_at_once_in_a_new_database_do_not_fight_over_the_extension(new_database: str) -> None:
    urls = [with_options(new_database, schema=name, partitions=1) for name in ("one", "two")]
    assert at_once(OPENING, (urls[0], "a"), (urls[1], "b")) == ["a", "b"]


def test_increments_by_32_threads_in_two_processes_add_up(url: str, book: Book) -> None:
    assert at_once(INCREMENTS, (url, "60"), (url, "60")) == ["60", "60"]
    entry = book.kv("state").entry("sum")
    assert entry is not None
    assert (entry.value, entry.version) == (120, 120)


def test_a_writer_of_one_space_does_not_wait_for_a_writer_of_another(book: Book) -> None:
    slow, quick = book.in_space("slow"), book.in_space("quick")
    for each in (slow, quick):
        each.remember("The first memory of a book is bound to its embedder, which nobody may disturb")
        each.kv("state").set("ready", True)
    entered, leave = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        entered.set()
        leave.wait(LIMIT)

    with ThreadPoolExecutor(2) as pool:
        held = pool.submit(slow._store.write, hold, slow._place.find())  # type: ignore[attr-defined]
        assert entered.wait(LIMIT)
        try:
            waiting = pool.submit(slow.kv("state").set, "turn", "after")
            quick.kv("state").set("turn", "meanwhile")
            quick.remember("Written while the other space was held")
            assert book.in_space("new").kv("state").set("turn", "meanwhile").version == 1
            assert slow.kv("state").get("ready") is True, "readers wait for nobody"
            assert not waiting.done()
            assert not held.done()
        finally:
            leave.set()
        assert waiting.result(LIMIT).version == 1
        held.result(LIMIT)


def test_a_space_held_by_another_process_is_busy_after_busy_timeout(url: str, book: Book) -> None:
    book.kv("state").set("ready", True)
    space = book._place.find()  # type: ignore[attr-defined]
    entered, leave = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        entered.set()
        leave.wait(LIMIT)

    impatient = Settings(busy_timeout=0.5)
    with ThreadPoolExecutor(1) as pool, commonplace.open(url, embedder=EMBEDDER, settings=impatient) as other:
        held = pool.submit(book._store.write, hold, space)  # type: ignore[attr-defined]
        assert entered.wait(LIMIT)
        started = time.monotonic()
        try:
            with pytest.raises(StoreBusy, match="busy_timeout"):
                other.kv("state").set("turn", 1)
        finally:
            leave.set()
        assert time.monotonic() - started < LIMIT / 2
        held.result(LIMIT)
        assert other.kv("state").set("turn", 1).version == 1


def test_a_statement_beyond_its_time_is_stopped_and_leaves_nothing(url: str) -> None:
    short = Settings(statement_timeout=0.3)
    with commonplace.open(url, embedder=EMBEDDER, settings=short) as book:
        book.kv("state").set("ready", True)
        space = book._place.find()  # type: ignore[attr-defined]

        def dawdle(tx: Tx) -> None:
            tx.run("UPDATE entry SET value = 'false' WHERE space = :space", {"space": space})
            tx.run("SELECT pg_sleep(30)")

        for call in (book._store.write, book._store.read):  # type: ignore[attr-defined]
            with pytest.raises(StoreBusy, match="statement_timeout"):
                call(dawdle if call == book._store.write else lambda tx: tx.run("SELECT pg_sleep(30)"), space)  # type: ignore[attr-defined]
        assert book.kv("state").get("ready") is True
        assert book.check(deep=True).problems == ()


def test_more_callers_than_connections_take_turns(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER, settings=Settings(pool_size=1)) as book:
        book.remember("Asked by many through one connection", id="a")
        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(lambda i: book.get("a").id + str(book.kv("n").set(f"{i}", i).version), range(48)))
    assert found == ["a1"] * 48
