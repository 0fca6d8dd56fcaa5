"""Numbers in PostgreSQL: memories are counted by space, and no number of a deleted space or memory is used again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import commonplace
from commonplace import StoreError
from commonplace.store.postgres.address import parse
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS

EMBEDDER = HashEmbedder()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield SCHEMAS.url(tmp_path)
    SCHEMAS.release()


def test_numbers_follow_each_other_whichever_connection_writes_and_none_comes_back(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as one, commonplace.open(url, embedder=EMBEDDER) as two:
        other = one.in_space("other")
        for number, book in enumerate((one, other, two, other, one)):
            book.remember("The harbour freezes in January", id=f"m{number}")
        one.forget("m4")
        two.remember("The harbour freezes again", id="m5")
        assert _numbers(one) == [1, 2, 4]
        one.forget(["m0", "m2", "m5"])
        two.remember("The harbour thaws", id="m6")
        assert _numbers(one) == [5]
        assert _numbers(other) == [1, 2]


def _numbers(book: commonplace.Book) -> list[int]:
    space = book._place.find()  # type: ignore[attr-defined]
    sql = "SELECT seq FROM memory WHERE space = :space ORDER BY seq"
    return [seq for (seq,) in book._store.read(lambda tx: tx.run(sql, {"space": space}), space)]  # type: ignore[attr-defined]


def test_a_space_that_comes_back_is_not_given_the_number_of_a_lost_one(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        numbers = [book.in_space(f"space {i}")._place.make() for i in range(20)]  # type: ignore[attr-defined]
    assert len(set(numbers)) == 20
    assert sorted(numbers) != list(range(min(numbers), min(numbers) + 20))


def test_a_space_that_a_restore_has_undone_is_said_to_be_gone(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER, space="young") as book:
        book.remember("The lamp burns")
        place = parse(url)
        with psycopg.connect(place.url, autocommit=True) as connection:
            gone = sql.SQL("DELETE FROM {}.space WHERE name = 'young'").format(sql.Identifier(place.schema))
            connection.execute(gone)
        with pytest.raises(StoreError, match="open the book again"):
            book.remember("Written to nobody's space")
        with pytest.raises(StoreError, match="open the book again"):
            book.recall("what burns?")
        assert "spaces that do not exist" in book.check().problems[0]
