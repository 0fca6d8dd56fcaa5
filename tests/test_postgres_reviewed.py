"""Small ways to go wrong with a server that were found once and must not come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import commonplace
from commonplace import NotFound, Settings, StoreError
from commonplace.location import compare, copy
from commonplace.store.postgres.address import parse
from commonplace.testing import HashEmbedder
from tests.postgres import SCHEMAS, server, with_options

EMBEDDER = HashEmbedder()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield SCHEMAS.url(tmp_path)
    SCHEMAS.release()


def schemas() -> set[str]:
    with psycopg.connect(server().url) as connection:
        return {name for (name,) in connection.execute("SELECT nspname FROM pg_namespace")}


def test_one_connection_is_enough_for_every_verb(url: str, tmp_path: Path) -> None:
    narrow = Settings(pool_size=1, busy_timeout=5)
    with commonplace.open(url, embedder=EMBEDDER, settings=narrow) as book:
        book.remember("The lamp burns", id="lamp")
        assert book.stats().memories == 1
        assert book.check(deep=True).ok
        book.revise("lamp", "The lamp is out")
        assert len(list(book.export())) == 3
        book.backup(tmp_path / "backup.db")
        book.forget("lamp")


@pytest.mark.parametrize("word", ["se/cret", "se#cret", "se?cret", "se@cret", "100%secret", "se\u2100cret"])
def test_no_message_holds_a_password_however_it_is_written(word: str) -> None:
    where = f"postgresql://user:{word}@127.0.0.1:1/nowhere"
    with pytest.raises(commonplace.CommonplaceError) as caught:
        commonplace.open(where, embedder=EMBEDDER, settings=Settings(busy_timeout=1))
    shown: list[BaseException | None] = [caught.value]
    while shown[-1] is not None:
        assert "cret" not in str(shown[-1])
        shown.append(shown[-1].__cause__)


def test_a_copy_from_nowhere_makes_no_book_there(url: str, tmp_path: Path) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        book.remember("The lamp burns")
    nowhere = with_options(server().url, schema="mistyped")
    with pytest.raises(NotFound, match="no book"):
        copy(nowhere, tmp_path / "copy.db")
    with pytest.raises(NotFound, match="no book"):
        compare(url, nowhere)
    assert "mistyped" not in schemas()
    assert not (tmp_path / "copy.db").exists()


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
    space = book._place.find()
    sql = "SELECT seq FROM memory WHERE space = :space ORDER BY seq"
    return [seq for (seq,) in book._store.read(lambda tx: tx.run(sql, {"space": space}), space)]


def test_a_space_that_comes_back_is_not_given_the_number_of_a_lost_one(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        numbers = [book.in_space(f"space {i}")._place.make() for i in range(20)]
    assert len(set(numbers)) == 20
    assert sorted(numbers) != list(range(min(numbers), min(numbers) + 20))


def test_a_schema_that_the_role_was_given_need_not_be_made(url: str) -> None:
    role = "given"
    with psycopg.connect(server().url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'given'")
        connection.execute(f"CREATE SCHEMA given_schema AUTHORIZATION {role}")
    try:
        where = f"postgresql://{role}:given@127.0.0.1:{server().port}/postgres?schema=given_schema&partitions=1"
        with commonplace.open(where, embedder=EMBEDDER) as book:
            book.remember("The lamp burns")
            assert len(book.recall("what burns?")) == 1
    finally:
        with psycopg.connect(server().url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA given_schema CASCADE")
            connection.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("postgresql://me:secret@host/db?sslmode=require", "postgresql://host/db"),
        ("postgresql://host/db?user=me@corp.example&password=secret", "postgresql://…"),
        ("postgresql://me:sec?ret@host/db", "postgresql://…"),
        ("postgresql://me:sec/ret@host/db", "postgresql://host/db"),
        ("postgresql://one:5432,two:5433/db?target_session_attrs=read-write", "postgresql://one:5432,two:5433/db"),
    ],
)
def test_a_place_is_shown_without_what_may_be_a_password(where: str, shown: str) -> None:
    assert parse(where).shown == shown


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
        assert "spaces that are not there" in book.check().problems[0]


def test_work_on_the_whole_book_may_take_longer_than_a_statement(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        book.remember([f"Crate {i} holds lamps" for i in range(300)])
    hasty = Settings(statement_timeout=0.001)
    assert commonplace.reindex(url, embedder=HashEmbedder(dimension=32), settings=hasty) == 300


@pytest.mark.parametrize("size", [0.5, float("inf"), float("nan")])
def test_a_pool_has_a_whole_number_of_connections(size: float) -> None:
    with pytest.raises(commonplace.InvalidInput, match="pool_size"):
        Settings(pool_size=size)  # type: ignore[arg-type]


def test_many_large_rows_are_sent_one_by_one(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        drafts = [commonplace.Draft(content=bytes(300_000), text=f"Crate {i}") for i in range(45)]
        stored = book.remember(drafts)
        assert {len(book.get(memory.id).content) for memory in stored} == {300_000}  # type: ignore[arg-type]
