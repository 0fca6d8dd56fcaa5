"""The effect of a reranker on a recall: order, relevance, time, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import commonplace
from commonplace import Book, RerankerFailed, Settings
from commonplace.errors import StoreBusy
from commonplace.recall import rerank

QUESTION = "Which colour is the door of the house?"
TEXTS = [f"The colour of the door of house {number} is a matter of taste" for number in range(40)]


class Scripted:
    """A reranker that gives what a function says, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, answer: Callable[[str], object] = lambda text: 0.0) -> None:
        self.answer = answer
        self.batches: list[list[str]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.batches.append(list(texts))
        return [self.answer(text) for text in texts]  # type: ignore[misc]  # wrong answers are tested, too

    @property
    def read(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


Opened = Callable[..., Book]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    books = []

    def open_book(reranker: object, **settings: float) -> Book:
        chosen = Settings(**settings)  # type: ignore[arg-type]
        books.append(commonplace.open(tmp_path / "book.db", reranker=reranker, reader=None, settings=chosen))  # type: ignore[arg-type]
        return books[-1]

    with commonplace.open(tmp_path / "book.db") as book:
        book.remember(TEXTS)
    yield open_book
    for book in books:
        book.close()


def told(answer: commonplace.Recall) -> list[object]:
    return [hit.memory.content for hit in answer]


def test_without_a_reranker_reread_is_none(opened: Opened) -> None:
    assert {hit.parts.reread for hit in opened(None).recall(QUESTION)} == {None}


def test_the_memory_that_the_reranker_prefers_comes_first(opened: Opened) -> None:
    before = told(opened(None).recall(QUESTION, k=30))
    favourite = before[20]
    scripted = Scripted(lambda text: 9.0 if text == favourite else -9.0)
    answer = opened(scripted, rerank_budget=60).recall(QUESTION, k=30, threshold=0)
    assert answer.hits[0].memory.content == favourite
    assert answer.hits[0].parts.reread == 9.0
    assert answer.hits[0].parts.relevance > answer.hits[1].parts.relevance


def test_at_most_the_first_are_read_the_best_first_and_each_once(opened: Opened) -> None:
    scripted = Scripted()
    answer = opened(scripted, rerank_budget=60).recall(QUESTION, k=40, threshold=0)
    assert len(scripted.read) == len(set(scripted.read)) == rerank.FIRST
    assert scripted.read[:10] == told(opened(None).recall(QUESTION))[:10]
    assert [hit.parts.reread for hit in answer].count(None) == len(TEXTS) - rerank.FIRST


def test_the_source_is_read_with_the_text(opened: Opened) -> None:
    scripted = Scripted()
    book = opened(scripted)
    book.remember("Green, with a brass knob: the colour of the door of the house", source="Ada")
    book.recall(QUESTION)
    assert "Ada: Green, with a brass knob: the colour of the door of the house" in scripted.read


def test_expected_scores_leave_the_evidence_unchanged() -> None:
    evidence = np.array([-20, -3, 0, 4, 30], np.float32)
    assert not rerank.weigh_scores(evidence, rerank.expect_scores(evidence)).any()


def test_a_reranker_that_finds_nothing_empties_the_answer(opened: Opened) -> None:
    assert len(opened(None).recall(QUESTION)) > 0
    answer = opened(Scripted(lambda text: -60.0), rerank_budget=60).recall(QUESTION)
    assert (len(answer), answer.coverage) == (0, "unknown")


class Clock:
    """Time that passes only while the reranker reads."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("each", "batches"), [(0.01, 8), (0.1, 5), (0.2, 2), (0.4, 1), (9.0, 1)])
def test_no_batch_starts_that_would_exceed_the_budget(each: float, batches: int) -> None:
    clock, scripted = Clock(), Scripted()

    class Slow(Scripted):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            clock.now += each
            return scripted.score(query, texts)

    scores = rerank.read_scores(Slow(), QUESTION, TEXTS[: rerank.FIRST], 0.5, clock)
    assert len(scripted.batches) == batches
    assert scripted.read == TEXTS[: len(scores)]


def test_memories_that_were_not_read_in_time_are_still_found(opened: Opened) -> None:
    scripted = Scripted(lambda text: -9.0)
    answer = opened(scripted, rerank_budget=1e-9).recall(QUESTION, k=40, threshold=0)
    assert len(scripted.batches) == 1
    assert len(answer) == len(TEXTS)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda text: float("nan"), "not finite"),
        (lambda text: "good", "scripted failed: ValueError"),
        (lambda text: [1.0, 2.0], r"shape \(4, 2\) for 4 texts"),
        (lambda text: 1 // 0, "scripted failed: ZeroDivisionError"),
    ],
)
def test_a_malformed_answer_raises_reranker_failed(
    opened: Opened, answer: Callable[[str], object], complaint: str
) -> None:
    with pytest.raises(RerankerFailed, match=complaint):
        opened(Scripted(answer)).recall(QUESTION)


def test_our_own_errors_pass_unchanged(opened: Opened) -> None:
    def busy(text: str) -> float:
        raise StoreBusy("another store")

    with pytest.raises(StoreBusy):
        opened(Scripted(busy)).recall(QUESTION)


def test_the_book_can_be_written_while_the_reranker_reads(opened: Opened) -> None:
    writer = opened(None)
    seen = []  # type: ignore[var-annotated]

    def write(text: str) -> float:
        seen.append(writer.remember(f"written meanwhile: {len(seen)}"))
        return 0.0

    opened(Scripted(write), busy_timeout=1.0).recall(QUESTION)
    assert seen


def test_an_empty_book_asks_no_reranker(tmp_path: Path) -> None:
    scripted = Scripted()
    with commonplace.open(tmp_path / "empty.db", reranker=scripted) as book:
        assert len(book.recall(QUESTION)) == 0
    assert scripted.batches == []


def test_a_book_in_another_space_has_the_same_reranker(opened: Opened) -> None:
    scripted = Scripted()
    book = opened(scripted).in_space("other")
    book.remember(TEXTS[0])
    book.recall(QUESTION)
    assert scripted.read == [TEXTS[0]]
