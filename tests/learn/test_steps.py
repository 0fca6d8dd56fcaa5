"""A learning job is written in short steps, each of which takes effect once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace import Book
from commonplace.learn import jobs as working
from commonplace.learn import steps
from commonplace.reconcile import plan as planning
from commonplace.store.sqlite.store import SqliteStore
from commonplace.store.tables import jobs
from commonplace.testing import HashEmbedder
from commonplace.values import times
from commonplace.values.extraction import Finding, Utterance

MOST_CHANGES = 800
"""Rows of all tables that a step may write: a memory takes about seven."""
MANY = 250
TALK = " ".join(f"The rack{i} is called unit{i}." for i in range(MANY))


class Sentences:
    """An extractor that takes each sentence for a fact, or for a request to forget if it begins with that word."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        return [[] if message.context else [*self._find(message.text)] for message in messages]

    def _find(self, text: str) -> Iterator[Finding]:
        at = 0
        for sentence in text.split(". "):
            subject = sentence.removeprefix("Forget ")
            act: Any = "keep" if subject == sentence else "forget"
            yield Finding(text=subject, kind="fact", act=act, start=at, end=at + len(sentence), rule="script")
            at += len(sentence) + 2


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Book]]:
    books: list[Book] = []

    def open_book() -> Book:
        book = commonplace.open(tmp_path / "book.db", embedder=HashEmbedder(), extractor=Sentences(), reader=None)
        book.core.wake = lambda: None  # type: ignore[attr-defined]  # the jobs are run by the tests
        books.append(book)
        return book

    yield open_book
    for book in books:
        book.close()


def facts(book: Book) -> list[str]:
    return sorted(memory.text.rstrip(".") for memory in book.list(kinds=["fact"], limit=10_000))


def racks(count: int = MANY) -> list[str]:
    return sorted(f"The rack{i} is called unit{i}" for i in range(count))


def links_of(book: Book) -> list[tuple[str, str, str]]:
    made = [link for memory in book.list(kinds=["fact"], limit=10_000) for link in book.links(memory.id)]
    return [(link.id, link.relation, link.other) for link in made if link.relation in ("learned from", "repeats")]


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    later = times.now() + int(seconds * 1e6)
    monkeypatch.setattr(times, "now", lambda: later)


def test_no_transaction_of_a_job_writes_much(opened: Callable[[], Book], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    transact = SqliteStore._transact

    def watched(store: Any, tasks: Any) -> None:
        before = store._writer.raw.total_changes()
        transact(store, tasks)
        written.append(store._writer.raw.total_changes() - before)

    book = opened()
    book.learn([{"content": TALK, "name": "Ann"}])
    monkeypatch.setattr(SqliteStore, "_transact", watched)
    book.work()
    assert facts(book) == racks()
    assert sum(written) > MOST_CHANGES
    assert max(written) < MOST_CHANGES


def test_a_job_that_is_cut_between_two_steps_goes_on_behind_the_last(
    opened: Callable[[], Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = opened()
    book.learn([{"content": TALK, "name": "Ann"}, {"content": "The cellar is called dungeon", "name": "Ann"}])
    advance, left = jobs.advance, [2, 2, 1]

    def cut(*given: Any, **named: Any) -> None:
        if not left[0]:
            left.pop(0)
            raise RuntimeError("the power went")
        left[0] -= 1
        advance(*given, **named)

    monkeypatch.setattr(jobs, "advance", cut)
    for _ in range(3):
        book.work()
        (job,) = book.jobs()
        assert "the power went" in str(job.error)
        assert 0 < len(facts(book)) < MANY
        pass_time(monkeypatch, 10_000)
    monkeypatch.setattr(jobs, "advance", advance)
    book.work()
    assert (book.jobs(), facts(book)) == ([], ["The cellar is called dungeon", *racks()])
    assert sorted(relation for _, relation, _ in links_of(book)) == ["learned from"] * (MANY + 1)


def test_a_worker_that_loses_the_job_between_two_steps_stops(
    opened: Callable[[], Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    book, other = opened(), opened()
    book.learn([{"content": TALK, "name": "Ann"}])
    plan, done = planning.make_plan, [0]

    def overtaken(*given: Any, **named: Any) -> Any:
        done[0] += 1
        if done[0] == 3:
            pass_time(monkeypatch, working.LEASE + 1)
            assert other.work() == 1
        return plan(*given, **named)

    monkeypatch.setattr(steps, "make_plan", overtaken)
    book.work()
    assert (book.jobs(), facts(book)) == ([], racks())
    assert [relation for _, relation, _ in links_of(book)] == ["learned from"] * MANY


def test_each_step_holds_the_job_for_another_lease(opened: Callable[[], Book], monkeypatch: pytest.MonkeyPatch) -> None:
    book, other = opened(), opened()
    book.learn([{"content": TALK, "name": "Ann"}])
    plan = planning.make_plan

    def slow(*given: Any, **named: Any) -> Any:
        pass_time(monkeypatch, working.LEASE / 2)
        assert other.work() == 0
        return plan(*given, **named)

    monkeypatch.setattr(steps, "make_plan", slow)
    assert book.work() == 1
    assert facts(book) == racks()


def test_requests_to_forget_are_done_after_everything_else(
    opened: Callable[[], Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = opened()
    text = f"Forget The rack3 is called unit3. {TALK} Forget The rack140 is called unit140"
    book.learn([{"content": text, "name": "Ann"}])
    withdraw, left = steps._withdraw, [1]

    def cut(*given: Any) -> Any:
        if left:
            left.pop()
            raise RuntimeError("the power went")
        return withdraw(*given)

    monkeypatch.setattr(steps, "_withdraw", cut)
    book.work()
    assert facts(book) == racks()
    pass_time(monkeypatch, 10_000)
    book.work()
    assert book.jobs() == []
    assert set(racks()) - set(facts(book)) == {f"The rack{i} is called unit{i}" for i in (3, 140)}


def test_a_copy_takes_along_how_far_a_job_is(
    opened: Callable[[], Book], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    book = opened()
    book.learn([{"content": TALK, "name": "Ann"}, {"content": "The cellar is called dungeon", "name": "Ann"}])
    advance, left = jobs.advance, [2]

    def cut(*given: Any, **named: Any) -> None:
        if not left[0]:
            raise RuntimeError("the power went")
        left[0] -= 1
        advance(*given, **named)

    monkeypatch.setattr(jobs, "advance", cut)
    book.work()
    monkeypatch.setattr(jobs, "advance", advance)
    with commonplace.open(
        tmp_path / "loaded.db", embedder=HashEmbedder(), extractor=Sentences(), reader=None
    ) as loaded:
        loaded.core.wake = lambda: None  # type: ignore[attr-defined]
        loaded.load(book.export())
        pass_time(monkeypatch, 10_000)
        loaded.work()
        assert facts(loaded) == ["The cellar is called dungeon", *racks()]
        assert [relation for _, relation, _ in links_of(loaded)] == ["learned from"] * (MANY + 1)
