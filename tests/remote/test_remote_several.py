"""Several servers of one book: the next one takes over while one is away, and nothing is done twice."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import commonplace
from commonplace.book import Book
from tests.remote.serving import EMBEDDER, Shelves
from tests.remote.test_remote_wire import FINE, Stranger, free_port, problem
from tests.remote.wire_cutter import wire


def first_asking(book: Book, number: int) -> Book:
    """Return the book, with a given server to start with instead of a random one."""
    book._transport._chosen = number  # type: ignore[attr-defined]
    return book


@pytest.fixture
def answering() -> Iterator[Stranger]:
    opened = Stranger(FINE)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "away",
    [b"", problem("store_busy", "503 Busy"), problem("store_unavailable", "503 Away")],
    ids=["cut", "busy", "away"],
)
def test_the_next_is_asked_at_once_and_kept(away: bytes, answering: Stranger) -> None:
    other = Stranger(away)
    with first_asking(commonplace.open(f"{other.url},{answering.url}"), 0) as book:
        started = time.monotonic()
        for _ in range(3):
            assert book.stats().memories == 3
        assert time.monotonic() - started < 8
    other.close()
    assert (len(other.heard), len(answering.heard)) == (1, 3)


@pytest.mark.parametrize(
    "away", [f"http://127.0.0.1:{free_port()}", "http://nobody.invalid"], ids=["refused", "unknown"]
)
def test_one_that_cannot_be_reached_is_passed_over(away: str, answering: Stranger) -> None:
    with first_asking(commonplace.open(f"{away},{answering.url}"), 0) as book:
        assert book.stats().memories == 3
        assert book.stats().memories == 3
    assert len(answering.heard) == 2


def test_a_refusal_is_an_answer_and_no_reason_to_ask_another(answering: Stranger) -> None:
    other = Stranger(problem("forbidden", "403 No"))
    with (
        first_asking(commonplace.open(f"{other.url},{answering.url}"), 0) as book,
        pytest.raises(commonplace.Forbidden),
    ):
        book.stats()
    other.close()
    assert answering.heard == []


@pytest.mark.slow
def test_when_all_are_away_they_are_asked_in_turn_until_the_time_is_over() -> None:
    one, two = Stranger(b""), Stranger(b"")
    with (
        first_asking(commonplace.open(f"{one.url},{two.url}", timeout=1.5), 0) as book,
        pytest.raises(commonplace.ServerUnavailable, match="broke"),
    ):
        book.stats()
    one.close()
    two.close()
    # The pauses grow, as they do with one.
    assert 3 <= len(one.heard) <= 10
    assert abs(len(one.heard) - len(two.heard)) <= 1


def test_an_answer_that_one_lost_is_given_by_the_other_and_nothing_is_done_twice(
    shelves: Shelves, tmp_path: Path
) -> None:
    url = shelves.url(tmp_path)
    prefix = url.removeprefix(shelves.server.url)
    with wire(shelves.server.port) as cut, commonplace.open(f"{cut.url}{prefix},{url}") as book:
        for i in range(5):
            cut.lose(1)
            assert first_asking(book, 0).kv("n").append("log", i).value == [*range(i + 1)]
        assert len(cut.lost) == 5


def test_an_upload_that_reached_nobody_is_sent_to_the_next(shelves: Shelves, tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "other.db", embedder=EMBEDDER) as other:
        other.remember("harbour", id="m")
        records = list(other.export())
    (tmp_path / "served").mkdir()
    both = f"http://127.0.0.1:{free_port()},{shelves.url(tmp_path / 'served')}"
    with first_asking(commonplace.open(both), 0) as book:
        book.load(iter(records))
        assert book.get("m").content == "harbour"


def test_many_threads_that_find_one_away_all_go_on_with_the_next(shelves: Shelves, tmp_path: Path) -> None:
    url = shelves.url(tmp_path)
    prefix = url.removeprefix(shelves.server.url)
    together = threading.Barrier(16)
    with wire(shelves.server.port) as cut, commonplace.open(f"{cut.url}{prefix},{url}") as book:
        first_asking(book, 0).stats()

        def append(number: int) -> None:
            together.wait()
            book.kv("n").append("log", number)

        with ThreadPoolExecutor(16) as pool:
            done = [pool.submit(append, number) for number in range(16)]
            cut.close()
            for each in done:
                each.result()
        assert sorted(book.kv("n").get("log")) == list(range(16))  # type: ignore[arg-type, type-var]


def test_books_spread_over_the_servers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        urls = ",".join([f"http://127.0.0.1:{taken.getsockname()[1]}"] * 3)
        chosen = {commonplace.open(urls)._transport._chosen for _ in range(200)}  # type: ignore[attr-defined]
    assert chosen == {0, 1, 2}
