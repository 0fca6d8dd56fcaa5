"""The server or the connection fails at the worst moment: each write is stored once, and no caller sees an error."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import commonplace
from commonplace import Book, Settings, StoreUnavailable
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS, server
from tests.support.postgres_proxy import Moment, Proxy, proxy

EMBEDDER = HashEmbedder()
PATIENT = Settings(busy_timeout=30)
LIMIT = 40.0


@pytest.fixture
def wire() -> Iterator[Proxy]:
    with proxy(server().port) as opened:
        yield opened


@pytest.fixture
def far(tmp_path: Path, wire: Proxy) -> Iterator[Book]:
    """A book whose every byte goes through the wire."""
    url = SCHEMAS.url(tmp_path).replace(f":{server().port}/", f":{wire.port}/")
    with commonplace.open(url, embedder=EMBEDDER, settings=PATIENT) as book:
        book.remember("The first entry binds the embedder", id="first")
        book.kv("log").append("lines", "first")
        yield book


@pytest.fixture
def near(tmp_path: Path, far: Book) -> Iterator[Book]:
    """The same book, straight from the server."""
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER, settings=PATIENT) as book:
        yield book


@pytest.fixture(autouse=True)
def _running() -> Iterator[None]:
    yield
    server().start()
    SCHEMAS.release()


def ensure_once(book: Book) -> None:
    """Check that each write of the test is stored exactly once."""
    assert book.kv("log").get("lines") == ["first", "second"]
    assert [memory.id for memory in book.list(order="oldest")] == ["first", "second"]
    assert book.check(deep=True).problems == ()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_wire_cut_around_a_commit_neither_loses_nor_doubles_a_write(
    moment: Moment, wire: Proxy, far: Book, near: Book
) -> None:
    wire.strike(moment)
    far.kv("log").append("lines", "second")
    assert wire.struck.is_set()
    wire.strike(moment)
    far.remember("The second entry, told across a broken wire", id="second")
    assert wire.struck.is_set()
    ensure_once(near)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_wire_cut_around_the_commit_of_many_callers_gives_each_its_own_answer(
    moment: Moment, wire: Proxy, far: Book, near: Book
) -> None:
    wire.strike(moment)
    with ThreadPoolExecutor(12) as pool:
        entries = list(pool.map(lambda i: far.kv("log").append("lines", i), range(60)))
    assert wire.struck.is_set()
    lines = near.kv("log").get("lines")
    assert sorted(lines[1:]) == list(range(60))  # type: ignore[arg-type, index]
    assert sorted(entry.version for entry in entries) == list(range(2, 62))


def test_compare_and_set_succeeds_though_its_first_answer_was_lost(wire: Proxy, far: Book, near: Book) -> None:
    far.kv("state").set("turn", 1, if_version=0)
    wire.strike("after")
    assert far.kv("state").set("turn", 2, if_version=1).version == 2
    assert wire.struck.is_set()
    assert near.kv("state").get("turn") == 2


def test_a_refusal_stays_a_refusal_when_the_wire_is_cut(wire: Proxy, far: Book, near: Book) -> None:
    wire.cut()
    with pytest.raises(commonplace.Conflict):
        far.remember("The first entry again", id="first")
    assert near.get("first").version == 1


def test_a_commit_that_a_crash_swallowed_is_not_taken_for_another_with_its_number(
    wire: Proxy, far: Book, near: Book
) -> None:
    """After a crash the server gives numbers of transactions that never reached the disk to new ones."""
    near.remember("What comes before, and is on disk", id="before")
    wire.strike("held")
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(far.kv("log").append, "lines", "second")
        assert wire.struck.wait(LIMIT)
        server().kill()
        server().start()
        for number in range(5):
            near.in_space("other").kv("state").set(f"key {number}", number)
        wire.cut()
        held.result(LIMIT)
    assert near.kv("log").get("lines") == ["first", "second"]


def test_calls_between_and_during_a_crash_go_on_when_the_server_is_back(far: Book, near: Book) -> None:
    server().kill()
    with ThreadPoolExecutor(3) as pool:
        calls: list[Future[object]] = [
            pool.submit(near.kv("log").append, "lines", "second"),
            pool.submit(near.remember, "The second entry, told while nobody heard", id="second"),
            pool.submit(near.recall, "entry", threshold=0),
        ]
        server().start()
        for call in calls:
            call.result(LIMIT)
    ensure_once(near)
    server().kill()
    server().start()
    ensure_once(near)


def test_writers_under_way_during_a_crash_lose_and_double_nothing(near: Book) -> None:
    stop, written = threading.Event(), list[list[int]]()

    def write(me: int) -> None:
        mine: list[int] = []
        written.append(mine)
        while not stop.is_set():
            near.kv("log").append(f"lines {me}", len(mine))
            mine.append(len(mine))

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, me) for me in range(3)]
        for _ in range(2):
            stop.wait(0.5)
            server().kill()
            server().start()
        stop.wait(0.5)
        stop.set()
        for writer in writers:
            writer.result(LIMIT)
    found = [near.kv("log").get(f"lines {me}") for me in range(3)]
    assert sorted(found) == sorted(written)  # type: ignore[type-var]
    assert near.check(deep=True).problems == ()


def test_a_server_that_stays_away_is_said_to_be_away(tmp_path: Path) -> None:
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER, settings=Settings(busy_timeout=1)) as book:
        book.remember("Something to look for", id="first")
        server().kill()
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            book.remember("Nobody hears this")
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            book.get("first")
        server().start()
        assert [memory.id for memory in book.list()] == ["first"]
