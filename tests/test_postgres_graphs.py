"""Large spaces in PostgreSQL get a graph, which answers like the scan and is dropped when vectors change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import commonplace
from commonplace import Book, Settings
from commonplace.testing import HashEmbedder
from tests.support.postgres import ORDINARY, server

EMBEDDER = HashEmbedder()
LARGE = Settings(graph_rows=200)
PATIENCE = 60.0


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """With an ordinary role: row-level security must not hide the space from the process that builds."""
    yield ORDINARY.url(tmp_path)
    ORDINARY.release()


def fill(book: Book, count: int) -> None:
    book.remember([f"Crate {i} of shelf {i % 37} holds {i % 11} lamps and {i % 7} ropes" for i in range(count)])


def graphs() -> list[tuple[str, int]]:
    """Every graph that is ready, with how often it was asked."""
    with psycopg.connect(server().url) as connection:
        return connection.execute(
            "SELECT s.indexrelname, s.idx_scan FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid)"
            " WHERE s.indexrelname LIKE 'graph%' AND s.schemaname LIKE 'plain%' AND i.indisvalid"
        ).fetchall()


def wait_for_a_graph(book: Book) -> None:
    deadline = time.monotonic() + PATIENCE
    while not graphs():
        book.recall("which crate holds lamps?")  # a search of a large space sees to it that there will be one
        assert time.monotonic() < deadline, "no graph was built"
        time.sleep(0.1)


def wait_for_scans() -> None:
    """The server counts scans with a delay."""
    deadline = time.monotonic() + PATIENCE
    while sum(scans for _, scans in graphs()) == 0:
        assert time.monotonic() < deadline, "the graph was never asked"
        time.sleep(0.1)


def answers(book: Book) -> list[list[str]]:
    questions = [f"what does crate {i} of shelf {i % 37} hold?" for i in range(0, 300, 20)]
    return [[hit.memory.id for hit in book.recall(question, threshold=0).hits] for question in questions]


def test_a_large_space_is_asked_through_its_graph_and_answers_as_before(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER, settings=Settings(graph_rows=10_000)) as exact:
        fill(exact, 300)
        expected = answers(exact)
        assert graphs() == []
    with commonplace.open(url, embedder=EMBEDDER, settings=LARGE) as book:
        wait_for_a_graph(book)
        found = answers(book)
        wait_for_scans()
        same = sum(len(set(mine) & set(theirs)) for mine, theirs in zip(found, expected, strict=True))
        assert same >= 0.95 * sum(map(len, expected))
        book.remember("The lighthouse lens is kept in the cellar", id="new")
        assert book.recall("where is the lighthouse lens?").hits[0].memory.id == "new"
        book.forget("new")
        assert "new" not in [hit.memory.id for hit in book.recall("where is the lighthouse lens?", threshold=0).hits]
        assert book.check(deep=True).ok


def test_vectors_of_another_length_take_the_place_of_a_graph(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER, settings=LARGE) as book:
        fill(book, 250)
        wait_for_a_graph(book)
    other = HashEmbedder(dimension=32)
    assert commonplace.reindex(url, embedder=other) == 250
    assert graphs() == []
    with commonplace.open(url, embedder=other, settings=LARGE) as book:
        assert len(book.recall("what does crate 7 of shelf 7 hold?", threshold=0).hits) == 10
