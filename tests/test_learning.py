"""Learning jobs fail, wait, die and are taken over, and take effect once."""

from __future__ import annotations

import itertools
import logging
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import commonplace
from commonplace import Book, Draft, QueueFull, Settings
from commonplace.learn import jobs as working
from commonplace.reconcile import neighbours
from commonplace.store.tables import jobs
from commonplace.testing import HashEmbedder
from commonplace.values import times
from commonplace.values.extraction import Finding, Utterance

CAT = "My cat is called Miso."


class Script:
    """An extractor that treats each message as a fact, after a function of the test."""

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        self.first = first
        self.calls = 0

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        self.calls += 1
        self.first()
        return [[Finding(text=m.text, kind="fact", start=0, end=len(m.text), rule="script")] for m in messages]


class Broken(Exception):
    """An error in these tests; its words must not be logged."""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Book]]:
    books: list[Book] = []

    def open_book(script: Script | None = None, **settings: int) -> Book:
        books.append(
            commonplace.open(
                tmp_path / "book.db",
                embedder=HashEmbedder(),
                extractor=script,
                settings=Settings(**settings),  # type: ignore[arg-type]
            )
        )
        return books[-1]

    yield open_book
    for book in books:
        book.close()


def facts(book: Book) -> list[str]:
    return sorted(memory.text for memory in book.list(kinds=["fact"], limit=10_000))


def failing(times: int) -> Callable[[], None]:
    left = [times]

    def first() -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise Broken("the cat is called Miso")

    return first


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the clock of the jobs run ahead."""
    later = times.now() + int(seconds * 1e6)
    monkeypatch.setattr(times, "now", lambda: later)


def test_learning_goes_on_in_the_background(opened: Callable[..., Book]) -> None:
    book = opened(Script())
    learned = book.learn([{"content": CAT}])
    assert len(learned.jobs) == 1
    deadline = time.monotonic() + 20
    while book.jobs() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert facts(book) == [CAT]


def test_a_job_that_fails_waits_longer_each_time_and_then_is_dead(
    opened: Callable[..., Book], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    book = opened(Script(failing(100)))
    with pytest.raises(Broken):
        book.learn([{"content": CAT}], wait=True)
    waits = []
    for attempt in range(2, working.ATTEMPTS + 1):
        (job,) = book.jobs()
        assert (job.state, job.attempts) == ("waiting", attempt - 1)
        assert job.error == "Broken: the cat is called Miso"
        assert book.work() == 0, "it is not due yet"
        waits.append(job.due_at.timestamp() - times.now() / 1e6)
        pass_time(monkeypatch, 10_000)
        assert book.work() == 1
    (job,) = book.jobs()
    assert (job.state, job.attempts) == ("dead", working.ATTEMPTS)
    assert book.work() == 0
    assert book.stats().jobs == 0
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    assert "Miso" not in caplog.text
    assert "Broken" in caplog.text


def test_a_dead_job_runs_again_when_it_is_retried(opened: Callable[..., Book], monkeypatch: pytest.MonkeyPatch) -> None:
    book = opened(Script(failing(working.ATTEMPTS)))
    with pytest.raises(Broken):
        book.learn([{"content": CAT}], wait=True)
    for ahead in range(1, working.ATTEMPTS):
        pass_time(monkeypatch, 10_000 * ahead)
        book.work()
    (job,) = book.jobs()
    assert job.state == "dead"
    assert book.retry(job.number) == 1
    book.work()
    deadline = time.monotonic() + 20
    while book.jobs() and time.monotonic() < deadline:  # the thread may have been quicker
        time.sleep(0.01)
    assert (book.jobs(), facts(book)) == ([], [CAT])


def test_a_full_queue_refuses_and_keeps_nothing(opened: Callable[..., Book]) -> None:
    gate = threading.Event()
    book = opened(Script(lambda: gate.wait(20) and None), max_jobs=1)  # type: ignore[arg-type]
    book.learn([{"content": CAT}], session="s")
    try:
        with pytest.raises(QueueFull, match="commonplace work"):
            book.learn([{"content": "More."}], session="t")
        assert book.transcripts() == ["s"]
        assert len(book.list()) == 1
    finally:
        gate.set()


def test_a_job_whose_owner_died_is_taken_over_and_takes_effect_once(
    opened: Callable[..., Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first worker sleeps past its time, another does the job, and what the first then brings is dropped."""
    second: list[int] = []

    def overtaken() -> None:
        if not second:
            second.append(0)
            pass_time(monkeypatch, working.LEASE + 1)
            second[0] = opened(Script()).work()

    book = opened(Script(overtaken))
    learned = book.learn([{"content": CAT}], wait=True)
    assert second == [1]
    assert learned.memories == ()
    assert (facts(book), book.jobs()) == ([CAT], [])


def test_a_job_that_kills_whoever_tries_it_is_dead_in_the_end(
    opened: Callable[..., Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = opened(Script())
    book.core.wake = lambda: None  # type: ignore[attr-defined]
    book.learn([{"content": CAT}])
    space = book._place.find()  # type: ignore[attr-defined]
    for ahead in range(working.ATTEMPTS):
        pass_time(monkeypatch, 1_000 * (ahead + 1))
        assert book._store.write(lambda tx: jobs.claim(tx, space, "x", lease=1, attempts=working.ATTEMPTS), space)  # type: ignore[attr-defined]
    pass_time(monkeypatch, 10_000)
    assert book.work() == 0
    assert [job.state for job in book.jobs()] == ["dead"]


def test_an_error_whose_words_no_store_takes_is_kept_all_the_same(opened: Callable[..., Book]) -> None:
    def broken() -> None:
        raise Broken("\ud800 and \0")

    book = opened(Script(broken))
    with pytest.raises(Broken):
        book.learn([{"content": CAT}], wait=True)
    (job,) = book.jobs()
    assert job.error is not None


def test_what_is_forgotten_while_a_job_runs_is_not_learned(opened: Callable[..., Book]) -> None:
    def forget() -> None:
        opened().forget(kinds=["message"])

    book = opened(Script(forget))
    assert book.learn([{"content": CAT}], wait=True).memories == ()
    assert list(book.list(superseded=True)) == []


def test_what_is_put_in_quarantine_while_a_job_runs_is_not_learned(opened: Callable[..., Book]) -> None:
    def doubt() -> None:
        opened().quarantine(kinds=["message"], reason="forged")

    book = opened(Script(doubt))
    assert book.learn([{"content": CAT}], wait=True).memories == ()
    assert list(book.list()) == []


def test_two_writers_of_one_fact_do_not_miss_each_other(opened: Callable[..., Book]) -> None:
    """Both search before either writes; the second writer still sees the first."""
    both = threading.Barrier(2, timeout=20)
    books = [opened(Script(lambda: both.wait() and None)) for _ in range(2)]  # type: ignore[arg-type]
    threads = [
        threading.Thread(target=lambda book=book: book.learn([{"content": CAT, "name": "Ann"}], wait=True))
        for book in books
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert facts(books[0]) == [CAT]


@pytest.mark.slow
def test_a_long_list_is_not_compared_with_all_of_itself(
    opened: Callable[..., Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = itertools.count()
    compare = neighbours.relate  # type: ignore[attr-defined]
    monkeypatch.setattr(neighbours, "relate", lambda *given: (next(calls), compare(*given))[1])
    book, count = opened(), 300
    ports = [
        f"The rack{place} server listens on port {1000 + place + turn}" for turn in (0, 1) for place in range(count)
    ]
    book.remember([Draft(content=text, kind="fact") for text in ports], reconcile=True)
    assert next(calls) < 100 * 2 * count
    assert facts(book) == sorted(ports[count:])


def test_a_book_takes_back_its_own_export_of_texts_near_the_limit(opened: Callable[..., Book]) -> None:
    book = opened(max_text_bytes=2000)
    text = ("The harbour crane is red.\n" * 100)[:1999]
    for _ in range(2):
        book.remember(text, kind="fact", metadata={"note": "n" * 1900}, reconcile=True)
    marked = "password: hunter2secret " * 80
    book.remember(marked)
    told = list(book.export())
    assert [record for record in told if record.get("relation") == "repeats"]
    assert book.in_space("other").load(told) == 4


def test_messages_are_gathered_until_there_are_enough_or_it_is_the_end(opened: Callable[..., Book]) -> None:
    script = Script()
    book = opened(script)
    for number in range(5):
        book.learn([{"content": f"Fact number {number}."}], session="s", every=3, idle=600)
    deadline = time.monotonic() + 20
    while len(book.jobs()) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    (job,) = book.jobs()
    assert len(job.payload["ids"]) == 2  # type: ignore[arg-type]
    assert (script.calls, book.work()) == (1, 0)
    book.work(hurry=True)
    while book.jobs() and time.monotonic() < deadline:  # the thread may have been quicker
        time.sleep(0.01)
    assert (script.calls, book.jobs()) == (2, [])


WORKER = """
import os, signal, sys, time, commonplace
from commonplace.learn import jobs as working
from commonplace.testing import HashEmbedder
from commonplace.values.extraction import Finding

working.LEASE = 0.5

class Each:
    def extract(self, messages):
        found = [Finding(text=m.text, kind="fact", start=0, end=len(m.text), rule="script") for m in messages]
        return [[] if m.context else [each] for m, each in zip(messages, found)]

left = int(sys.argv[2])

def count(frame, event, argument):
    global left
    left -= event == "call"
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

with commonplace.open(f"{sys.argv[1]}.{os.getpid()}", embedder=HashEmbedder(), extractor=Each()) as other:
    other.core.wake = lambda: None
    other.learn([{"content": "The rack number 0 is called unit0.", "name": "Ann"}])
    other.work()  # what is done once for each process, imports above all, is no progress either
book = commonplace.open(sys.argv[1], embedder=HashEmbedder(), extractor=Each())
while book.jobs():
    before = left
    sys.setprofile(count)
    done = book.work()
    sys.setprofile(None)
    if not done:  # another's lease has to end first, which is no progress
        left = before
        time.sleep(0.02)
"""
"""Works until nothing is left, or until it has made so many calls of functions: no clock says when it dies."""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process unasked")
def test_workers_that_are_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    path, chance = tmp_path / "book.db", random.Random(5)
    count = 60
    with commonplace.open(path, embedder=HashEmbedder()) as book:
        book.core.wake = lambda: None  # type: ignore[attr-defined]  # the killed ones do the work
        for number in range(count):
            book.learn([{"content": f"The rack number {number} is called unit{number}.", "name": "Ann"}], session="s")
        ends = []
        while book.jobs():
            calls = chance.randrange(60_000)  # a job takes a few thousand
            worker = subprocess.run([sys.executable, "-c", WORKER, str(path), str(calls)], timeout=300, check=False)
            ends.append(worker.returncode)
            assert len(ends) < 200
        assert set(ends[:-1]) == {-signal.SIGKILL}
        assert len(ends) > 3
        learned = [memory.text for memory in book.list(limit=1000) if memory.kind != "message"]
        assert len(learned) == len(set(learned)) == count
        assert len(book.transcript("s").read()) == count
        assert book.check(deep=True).ok


def test_a_worker_ends_with_its_book(opened: Callable[..., Book], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    others = set(threading.enumerate())
    book = opened(Script())
    for number in range(20):
        book.learn([{"content": f"Fact number {number}."}])
    book.close()
    assert not [each for each in threading.enumerate() if each.name == "commonplace worker" and each not in others]
    again = opened(Script())
    again.work()
    assert len(facts(again)) == 20
    assert not caplog.records
