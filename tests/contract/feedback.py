"""Feedback and receipts: useful memories rank higher."""

from __future__ import annotations

import pytest
from commonplace.testing.contract.harness import Harness, Shelf, each, found, wrong

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import SIGNALS, Draft, Signal


class FeedbackConformance(Harness):
    """`feedback`, by id and by receipt."""

    @pytest.mark.parametrize("signal", SIGNALS)
    def test_each_signal_is_counted_and_kept(self, shelf: Shelf, signal: Signal) -> None:
        book = shelf.open()
        book.remember("x", id="m")
        assert [book.feedback("m", signal) for _ in range(3)] == [1, 1, 1]
        (record,) = [each for each in shelf.reopen().export() if each["type"] == "feedback"]
        assert {name: record[name] for name in SIGNALS} == {name: 3 * (name == signal) for name in SIGNALS}

    def test_use_lifts_and_error_lowers(self, book: Book) -> None:
        book.remember(
            [Draft(content="The harbour crane is red", id="a"), Draft(content="The harbour crane is tall", id="b")]
        )
        for _ in range(5):
            book.feedback("b", "used")
            book.feedback("a", "wrong")
        assert strengths(book)["b"] > 1 > strengths(book)["a"]
        assert found(book.recall("harbour crane", threshold=0)) == ["b", "a"]
        for _ in range(10):
            book.feedback("a", "used")
            book.feedback("b", "wrong")
        assert found(book.recall("harbour crane", threshold=0)) == ["a", "b"]

    def test_feedback_never_hides_the_only_relevant_memory(self, book: Book) -> None:
        book.remember("The harbour crane is red", id="m")
        for _ in range(20):
            book.feedback("m", "wrong")
        assert found(book.recall("The harbour crane is red")) == ["m"]

    def test_feedback_survives_a_revision(self, book: Book) -> None:
        book.remember("The harbour crane is red", id="m")
        for _ in range(5):
            book.feedback("m", "used")
        before = strengths(book)["m"]
        book.revise("m", "The harbour crane is blue")
        assert strengths(book)["m"] == before

    def test_a_receipt_stands_for_all_that_was_recalled(self, book: Book) -> None:
        book.remember(["The harbour crane", "The harbour pier", Draft(content="The harbour fell", kind="failure")])
        recall = book.recall("harbour", threshold=0)
        assert len(recall.hits) + len(recall.avoid) == 3
        assert book.feedback(recall.receipt, "used") == 3

    def test_a_receipt_is_good_in_another_process(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.remember("The harbour crane")
        receipt = book.recall("harbour", threshold=0).receipt
        assert shelf.reopen().feedback(receipt, "used") == 1

    def test_a_receipt_leaves_out_what_was_forgotten_meanwhile(self, book: Book) -> None:
        book.remember([Draft(content="The harbour crane", id="a"), Draft(content="The harbour pier", id="b")])
        receipt = book.recall("harbour", threshold=0).receipt
        book.forget("a")
        assert book.feedback(receipt, "used") == 1
        book.forget("b")
        assert book.feedback(receipt, "used") == 0

    def test_a_receipt_of_nothing_touches_nothing(self, book: Book) -> None:
        assert book.feedback(book.recall("harbour").receipt, "used") == 0

    def test_a_receipt_of_many_stands_for_many(self, book: Book) -> None:
        book.remember([f"harbour berth number{i}" for i in range(300)])
        recall = book.recall("harbour berth", k=300, max_tokens=None, threshold=0)
        assert book.feedback(recall.receipt, "ignored") == len(recall) == 300

    def test_a_receipt_that_is_not_whole_is_refused(self, book: Book) -> None:
        book.remember("The harbour crane")
        receipt = book.recall("harbour", threshold=0).receipt
        for bad in (receipt[:-1], receipt[:-4] + "AAAA", receipt[: len(receipt) // 2], receipt[:5], receipt + "é"):
            with pytest.raises(InvalidInput):
                book.feedback(bad, "used")

    def test_feedback_on_an_unknown_id_is_not_found(self, book: Book) -> None:
        with pytest.raises(NotFound):
            book.feedback("nobody", "used")

    @each("signal", ["liked", "", None, 5])
    def test_an_unknown_signal_is_refused(self, book: Book, signal: object) -> None:
        book.remember("x", id="m")
        with pytest.raises(InvalidInput):
            book.feedback("m", wrong(signal))

    @each("target", ["", " ", "\0", "\ud800", None, 5])
    def test_a_target_is_a_name(self, book: Book, target: object) -> None:
        with pytest.raises(InvalidInput):
            book.feedback(wrong(target), "used")


def strengths(book: Book) -> dict[str, float]:
    """The strength of each memory that a recall finds."""
    return {hit.memory.id: hit.parts.strength for hit in book.recall("harbour crane", threshold=0)}
