"""A fact that was closed does not survive as the message that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import commonplace
from commonplace import Book
from commonplace.testing import HashEmbedder
from commonplace.values.extraction import Finding, Utterance

PORT = "The staging server listens on port {}."
SOUP = "The cafeteria serves onion soup with bread on Mondays."


class Ports:
    """An extractor that keeps the sentence about the port."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        return [[*self._find(message.text)] for message in messages]

    def _find(self, text: str) -> Iterator[Finding]:
        start = text.find("The staging")
        if start >= 0:
            end = text.index(".", start) + 1
            yield Finding(text=text[start:end], kind="fact", start=start, end=end, rule="script")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with commonplace.open(tmp_path / "b.db", embedder=HashEmbedder(), extractor=Ports(), reader=None) as opened:
        yield opened


def say(book: Book, text: str) -> None:
    book.learn([{"content": text, "name": "Ann"}], wait=True)


def test_the_part_that_no_longer_holds_is_left_out_of_a_message(book: Book) -> None:
    say(book, f"{SOUP} {PORT.format(8081)} The crane in the harbour is painted red.")
    assert "8081" in book.recall("What soup does the cafeteria serve on Mondays?").text
    say(book, PORT.format(9090))
    found = book.recall("What soup does the cafeteria serve on Mondays?")
    assert found.hits[0].memory.text == f"{SOUP} […] The crane in the harbour is painted red."
    assert "8081" not in found.text
    assert "8081" in book.get(found.hits[0].memory.id).text


def test_a_message_is_not_found_by_the_part_that_no_longer_holds(book: Book) -> None:
    say(book, f"{SOUP} {PORT.format(8081)} The crane in the harbour is painted red.")
    say(book, PORT.format(9090))
    found = book.recall("Which port does the staging server listen on?")
    assert [hit.memory.text for hit in found.hits] == [PORT.format(9090)]


def test_a_message_of_which_hardly_anything_holds_is_not_found(book: Book) -> None:
    say(book, f"And so it is with that of ours at the cafeteria, as it was: {PORT.format(8081)}")
    say(book, PORT.format(9090))
    assert "8081" not in book.recall("What about the cafeteria?").text


def test_the_past_is_shown_as_it_was(book: Book) -> None:
    say(book, f"{SOUP} {PORT.format(8081)} The crane in the harbour is painted red.")
    say(book, PORT.format(9090))
    assert "8081" in book.recall("What soup does the cafeteria serve on Mondays?", superseded=True).text


def test_what_was_reopened_is_shown_again(book: Book) -> None:
    say(book, f"{SOUP} {PORT.format(8081)} The crane in the harbour is painted red.")
    say(book, PORT.format(9090))
    (new,) = book.list(kinds=["fact"])
    (old,) = [each for each in book.list(kinds=["fact"], superseded=True) if each.id != new.id]
    book.undo(new.id, old.id)
    assert "8081" in book.recall("What soup does the cafeteria serve on Mondays?").text
