"""Between a book and its server: lost answers, restarts, other services, silence, forks, many calls at once."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import commonplace
from commonplace.book import Book
from commonplace.values import Draft
from tests.remote.serving import EMBEDDER, Shelves, serving
from tests.remote.wire_cutter import wire

WRITES: dict[str, Callable[[Book], object]] = {
    "remember": lambda book: book.remember("harbour"),
    "remember many": lambda book: book.remember(["harbour", "pier"]),
    "revise": lambda book: book.revise("m", tags=["new"]),
    "kv append": lambda book: book.kv("n").append("log", 1),
    "kv set": lambda book: book.kv("n").set("k", 1),
    "canvas write": lambda book: book.canvas("c").write("a.md", "x"),
    "transcript append": lambda book: book.transcript("s").append("hello"),
    "feedback": lambda book: book.feedback("m", "used"),
    "forget": lambda book: book.forget("m"),
    "learn": lambda book: book.learn("ada: I prefer tea.", session="s", every=50),
    "learn and wait": lambda book: book.learn("ada: I prefer tea.", session="s", wait=True),
}


def state(book: Book) -> tuple[object, ...]:
    """Return the counts that a repeated write would change."""
    stats = book.stats()
    feedback = [record["used"] for record in book.export() if record["type"] == "feedback"]
    return stats.memories, stats.versions, book.kv("n").get("log"), stats.files, stats.messages, stats.jobs, feedback


class Stranger:
    """A service that is not commonplace's: it answers each request with the next of its answers."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = [*answers]
        self.heard: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client, contextlib.suppress(OSError):
                    self.heard.append(client.recv(65536))
                    if self._answers:
                        client.sendall(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])

    def close(self) -> None:
        self._listener.close()


def answer(status: str, body: str | bytes, *headers: str, kind: str = "application/json") -> bytes:
    """Return an answer as bytes of HTTP."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + data


def problem(code: str, status: str, **more: object) -> bytes:
    told = {"detail": "told so", "code": code, **more}
    return answer(status, json.dumps(told), kind="application/problem+json")


@contextlib.contextmanager
def stranger(*answers: bytes, timeout: float = 2.0) -> Iterator[tuple[Stranger, Book]]:
    opened = Stranger(*answers)
    try:
        with commonplace.open(opened.url, api_key="cp_secret", timeout=timeout) as book:
            yield opened, book
    finally:
        opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITES)
def test_a_write_whose_answer_is_lost_is_done_once(shelves: Shelves, tmp_path: Path, name: str) -> None:
    (tmp_path / "straight").mkdir()
    (tmp_path / "lossy").mkdir()
    with commonplace.open(shelves.url(tmp_path / "straight")) as straight:
        straight.remember("known", id="m")
        expected = WRITES[name](straight)
        wanted = state(straight)
    url = shelves.url(tmp_path / "lossy")
    prefix = url.removeprefix(shelves.server.url)
    with wire(shelves.server.port) as cut, commonplace.open(cut.url + prefix) as book:
        book.remember("known", id="m")
        cut.lose(2)
        answer = WRITES[name](book)
        assert len(cut.lost) == 2
        assert type(answer) is type(expected)
        assert state(book) == wanted


def test_a_lost_answer_is_repeated_with_the_same_value(shelves: Shelves, tmp_path: Path) -> None:
    prefix = shelves.url(tmp_path).removeprefix(shelves.server.url)
    with wire(shelves.server.port) as cut, commonplace.open(cut.url + prefix) as book:
        cut.lose(1)
        memory = book.remember("harbour")
        assert book.get(memory.id) == memory
        cut.lose(1)
        assert book.kv("n").append("log", 1).value == [1]
        cut.lose(1)
        with pytest.raises(commonplace.Conflict):
            book.kv("n").set("log", 2, if_version=7)


def test_a_refusal_after_a_lost_answer_is_not_asked_for_again() -> None:
    with stranger(b"", problem("forbidden", "403 No")) as (other, book):
        with pytest.raises(commonplace.Forbidden):
            book.kv("n").set("log", 2)
        assert len(other.heard) == 2


def test_a_read_is_asked_again(shelves: Shelves, tmp_path: Path) -> None:
    prefix = shelves.url(tmp_path).removeprefix(shelves.server.url)
    with wire(shelves.server.port) as cut, commonplace.open(cut.url + prefix) as book:
        book.remember("harbour", id="m")
        cut.lose(3)
        assert [hit.memory.id for hit in book.recall("harbour", threshold=0)] == ["m"]
        assert len(cut.lost) == 3


@pytest.mark.slow
@pytest.mark.parametrize("last", [problem("store_busy", "503 Busy"), b""], ids=["busy", "broken"])
def test_a_write_that_may_have_been_done_says_so_whatever_came_after(last: bytes) -> None:
    with stranger(b"", last, timeout=1) as (_, book):
        with pytest.raises(commonplace.ServerUnavailable, match="may have been done"):
            book.kv("n").append("log", 1)
        with pytest.raises((commonplace.ServerUnavailable, commonplace.StoreBusy)) as caught:
            book.kv("n").get("log")
        assert "may have been done" not in str(caught.value)


def test_a_write_that_never_left_says_nothing_of_the_kind() -> None:
    book = commonplace.open(f"http://127.0.0.1:{free_port()}", timeout=0.5)
    with pytest.raises(commonplace.ServerUnavailable, match="cannot be reached") as caught:
        book.kv("n").append("log", 1)
    assert "may have been done" not in str(caught.value)


@pytest.mark.slow
def test_a_write_whose_answer_is_lost_before_the_server_goes_says_so(shelves: Shelves, tmp_path: Path) -> None:
    url = shelves.url(tmp_path)
    with wire(shelves.server.port) as cut:
        book = commonplace.open(cut.url + url.removeprefix(shelves.server.url), timeout=2)
        book.stats()
        cut.lose(1_000)
        with pytest.raises(commonplace.ServerUnavailable, match="may have been done"):
            book.kv("n").append("log", 1)
        book.close()
    with commonplace.open(url) as straight:
        assert straight.kv("n").get("log") == [1]


def test_an_upload_that_breaks_is_not_sent_again_and_leaves_nothing_half(shelves: Shelves, tmp_path: Path) -> None:
    prefix = shelves.url(tmp_path).removeprefix(shelves.server.url)
    with wire(shelves.server.port) as cut, commonplace.open(cut.url + prefix) as book:
        book.remember("harbour", id="m")
        records = list(book.export())
        book.forget("m")
        cut.lose(1)
        with pytest.raises(commonplace.ServerUnavailable, match="may have been done"):
            book.load(iter(records))
        # The record was stored before the answer was lost, so loading again finds it.
        assert book.load(records) == 0
        assert book.get("m").content == "harbour"


@pytest.mark.slow
def test_an_export_that_breaks_off_is_told(shelves: Shelves, tmp_path: Path) -> None:
    prefix = shelves.url(tmp_path).removeprefix(shelves.server.url)
    with wire(shelves.server.port) as cut, commonplace.open(cut.url + prefix) as book:
        book.remember([Draft(content="harbour " * 2000, id=f"m{i}") for i in range(600)])
        records = book.export()
        assert next(records)["type"] == "header"
        cut.lose(1)
        with pytest.raises(commonplace.ServerUnavailable):
            list(records)


@pytest.mark.slow
def test_a_server_that_is_started_anew_is_found_again(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        port = server.port
        book = commonplace.open(server.url)
        book.remember("before", id="before")
    done: list[object] = []
    calls = [
        threading.Thread(target=lambda: done.append(book.remember("meanwhile", id="meanwhile"))),
        threading.Thread(target=lambda: done.append(book.get("before"))),
    ]
    for call in calls:
        call.start()
    time.sleep(0.3)
    assert done == []
    with serving(tmp_path, port=port):
        for call in calls:
            call.join(60)
        assert len(done) == 2
        assert {memory.id for memory in book.list()} == {"before", "meanwhile"}
    book.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def test_a_wrong_address_is_told_in_time() -> None:
    started = time.monotonic()
    book = commonplace.open(f"http://127.0.0.1:{free_port()}", timeout=0.5)
    with pytest.raises(commonplace.ServerUnavailable, match=r"cannot be reached.*is the server running"):
        book.get("m")
    assert time.monotonic() - started < 8


def test_a_name_that_nobody_has_is_told() -> None:
    book = commonplace.open("http://nobody.invalid", timeout=1)
    with pytest.raises(commonplace.ServerUnavailable, match="cannot be reached"):
        book.get("m")


STATS = '{"space": "default", "memories": 3, "versions": 3, "by_kind": {}, "entries": 0, "files": 0, "messages": 0,'
STATS += ' "jobs": 0, "embedder": "x", "dimension": 8, "bytes": 1, "engine": "x"}'
FINE = answer("200 OK", STATS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "match"),
    [
        (answer("200 OK", "<html>\n<title>Welcome</title>" + "x" * 500, kind="text/html"), r"200 .*Welcome.*…"),
        (answer("404 Not Found", '{"detail": "Not Found"}'), r"404 .*Not Found"),
        (answer("500 Oops", "oops", kind="text/plain"), r"500 .*oops"),
        (
            answer("200 OK", b"\xff\xfe\0", kind="image/png"),
            "not commonplace's, 200: is the address right",
        ),
        (answer("301 Moved", "", "Location: https://elsewhere"), "redirects to another address"),
        (answer("200 OK", "[1, 2]"), "cannot read"),
        (answer("200 OK", '{"memories": 3}'), "cannot read"),
        (answer("404 No", "not JSON", kind="application/problem+json"), "404"),
        (answer("404 No", "[]", kind="application/problem+json"), "404"),
        (problem("from_the_future", "418 Teapot"), "unknown error, 'from_the_future': told so"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "broke"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value[:20]),
)
def test_a_stranger_is_recognised(said: bytes, match: str) -> None:
    strange = (commonplace.ServerFailed, commonplace.ServerUnavailable)
    with stranger(said, timeout=1) as (_, book), pytest.raises(strange, match=match) as caught:
        book.stats()
    assert len(str(caught.value)) < 400
    assert "cp_secret" not in str(caught.value)


@pytest.mark.parametrize(
    "first",
    [
        answer("502 Bad Gateway", "<h1>Bad Gateway</h1>", kind="text/html"),
        answer("503 Unavailable", ""),
        answer("504 Timeout", ""),
        problem("store_busy", "503 Busy"),
        problem("queue_full", "429 Many"),
        problem("rate_limited", "429 Many", retry_after=0.1),
        answer("503 Unavailable", "", "Retry-After: 0"),
        answer("503 Unavailable", "", "Retry-After: Mon, 01 Jan 2024 00:00:00 GMT"),
        answer("503 Unavailable", "", "Retry-After: soon"),
        b"",
    ],
    ids=lambda said: repr(said[9:40]),
)
def test_what_may_pass_is_tried_again(first: bytes) -> None:
    with stranger(first, FINE) as (other, book):
        assert book.stats().memories == 3
        assert len(other.heard) == 2


def test_every_try_of_a_write_carries_the_same_name_and_every_write_another() -> None:
    done = answer("200 OK", '{"memories": 1}')
    with stranger(problem("store_busy", "503 Busy"), done, done) as (other, book):
        book.feedback("m", "used")
        book.feedback("m", "used")
        names = [line for said in other.heard for line in said.split(b"\r\n") if line.startswith(b"Idempotency-Key: ")]
    assert len(names) == 3
    assert names[0] == names[1] != names[2]
    assert all(b"Authorization: Bearer cp_secret" in said for said in other.heard)


@pytest.mark.parametrize(
    "first",
    [problem("quota_exceeded", "429 Many", retry_after=86400), problem("forbidden", "403 No")],
    ids=["quota", "no"],
)
def test_what_will_not_pass_is_raised_at_once(first: bytes) -> None:
    with stranger(first, FINE, timeout=30) as (other, book):
        started = time.monotonic()
        with pytest.raises((commonplace.QuotaExceeded, commonplace.Forbidden), match="told so"):
            book.stats()
        assert time.monotonic() - started < 20
        assert len(other.heard) == 1


@pytest.mark.slow
def test_tries_end_in_time_with_the_last_error() -> None:
    with stranger(problem("store_busy", "503 Busy"), timeout=2) as (other, book):
        started = time.monotonic()
        with pytest.raises(commonplace.StoreBusy, match="told so"):
            book.stats()
        assert time.monotonic() - started < 20
        assert 2 <= len(other.heard) <= 40


@pytest.mark.slow
def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        book = commonplace.open(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.3)
        started = time.monotonic()
        with pytest.raises(commonplace.ServerUnavailable, match=r"gave no answer in time$"):
            book.get("m")
        with pytest.raises(commonplace.ServerUnavailable, match="may have been done"):
            book.remember("x")
        assert time.monotonic() - started < 20
        book.close()


def test_a_compressed_answer_is_read() -> None:
    with stranger(answer("200 OK", gzip.compress(STATS.encode()), "Content-Encoding: gzip")) as (other, book):
        assert book.stats().memories == 3
        assert b"Accept-Encoding: gzip" in other.heard[0]


def test_an_address_may_have_a_prefix() -> None:
    opened = Stranger(FINE)
    with commonplace.open(f"{opened.url}/team/memory/", space="a/b") as book:
        book.stats()
    opened.close()
    assert opened.heard[0].startswith(b"GET /team/memory/v1/spaces/a%2Fb/stats HTTP/1.1")


@pytest.mark.slow
def test_closing_ends_a_wait_for_the_next_try() -> None:
    book = commonplace.open(f"http://127.0.0.1:{free_port()}")
    raised: list[BaseException] = []

    def call() -> None:
        try:
            book.get("m")
        except commonplace.CommonplaceError as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    time.sleep(0.5)
    book.close()
    thread.join(60)
    assert [type(error) for error in raised] == [commonplace.StoreClosed]


@pytest.mark.slow
def test_32_calls_at_once_are_all_answered(shelves: Shelves, tmp_path: Path) -> None:
    url = shelves.url(tmp_path)

    async def story() -> None:
        async with await commonplace.open_async(url, timeout=60) as book:
            await asyncio.gather(*(book.kv("n").append("log", i) for i in range(32)))
            await asyncio.gather(*(book.remember(f"harbour {i}", id=f"m{i}") for i in range(32)))
            assert sorted(await book.kv("n").get("log")) == list(range(32))  # type: ignore[arg-type, type-var]
            answers = await asyncio.gather(*(book.recall(f"harbour {i}", threshold=0, k=1) for i in range(32)))
            assert all(len(answer) == 1 for answer in answers)
            records = [record async for record in book.export()]
            assert sum(record["type"] == "memory" for record in records) == 32

    asyncio.run(story())


def test_connections_are_kept(shelves: Shelves, tmp_path: Path) -> None:
    with commonplace.open(shelves.url(tmp_path)) as book:
        for i in range(20):
            book.kv("n").set("k", i)
        assert book._transport._servers[0].pool.num_connections == 1  # type: ignore[attr-defined]


FORK = """
import os, signal, sys, commonplace
book = commonplace.open(sys.argv[1])
book.remember("Before the fork", id="before")
child = os.fork()
if child == 0:
    signal.alarm(20)
    status = 1
    try:
        book.get("before")
    except commonplace.StoreClosed as error:
        status = 0 if "open it again" in str(error) else 2
    book.close()
    with commonplace.open(sys.argv[1]) as own:
        own.remember("From the child", id="child")
    os._exit(status)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
book.remember("After the fork", id="after")
print(sorted(memory.id for memory in book.list()))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_told_to_open_the_book_itself(shelves: Shelves, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, shelves.url(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.splitlines(), done.stderr) == (["0", "['after', 'before', 'child']"], "")


def test_a_backup_is_a_book(shelves: Shelves, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    target = tmp_path / "copy.db"
    with commonplace.open(shelves.url(tmp_path / "served")) as book:
        book.remember("harbour", id="m")
        book.in_space("other").remember("pier", id="p")
        book.backup(target)
        before = target.read_bytes()
        with pytest.raises(commonplace.InvalidInput, match="never overwrites"):
            book.backup(target)
        with pytest.raises(commonplace.StoreUnavailable, match="cannot be written"):
            book.backup(tmp_path / "no directory" / "copy.db")
    assert target.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "served"]
    with commonplace.open(target, embedder=EMBEDDER) as copy:
        assert copy.get("m").content == "harbour"
        assert copy.in_space("other").get("p").content == "pier"
        assert copy.check(deep=True).ok


def test_a_backup_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    half = answer("200 OK", b"x" * 1000, kind="application/octet-stream").replace(b": 1000", b": 9999")
    with stranger(half) as (_, book), pytest.raises(commonplace.ServerUnavailable):
        book.backup(tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_at_the_end(shelves: Shelves, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with commonplace.open(shelves.url(tmp_path)) as book:
        book.learn(["ada: I prefer tea.", "bob: I prefer coffee."], wait=True, progress=lambda *n: told.append(n))
    assert told == [(2, 2)]


def test_what_a_callers_own_records_raise_is_raised(shelves: Shelves, tmp_path: Path) -> None:
    def records() -> Iterator[dict[str, commonplace.Json]]:  # type: ignore[valid-type]
        yield {"type": "header", "commonplace": 1}
        raise OSError("the file went away")

    with commonplace.open(shelves.url(tmp_path)) as book:
        with pytest.raises(OSError, match="the file went away"):
            book.load(records())
        assert book.stats().memories == 0
