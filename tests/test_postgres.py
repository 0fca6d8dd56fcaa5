"""Properties of a book in PostgreSQL only: its schema, row-level security, order and errors."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import commonplace
from commonplace import BookTooNew, NotABook, Settings, StoreError, StoreUnavailable
from commonplace.store.postgres.address import parse
from commonplace.store.postgres.connections import PostgresConnection
from commonplace.store.postgres.wire import Wire
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS, server, with_options

EMBEDDER = HashEmbedder()
PASSWORD = secrets.token_hex(8)


@dataclass(frozen=True)
class Database:
    """A database of a test's own, and an ordinary role that may create in it."""

    name: str

    @property
    def url(self) -> str:
        """As the administrator."""
        return server().url.replace("/postgres?", f"/{self.name}?")

    @property
    def plain(self) -> str:
        """As the ordinary role."""
        return f"postgresql://{self.name}:{PASSWORD}@127.0.0.1:{server().port}/{self.name}"


def administer(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def asked(url: str, statement: str, *names: str, space: object = None) -> list[tuple[Any, ...]]:
    """Run raw SQL, with the setting for row-level security if a space is given."""
    with psycopg.connect(url, options="-c search_path=commonplace") as connection:
        if space is not None:
            connection.execute("SELECT set_config('commonplace.space', %s, TRUE)", [str(space)])
        return connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names))).fetchall()


def made(options: str = "") -> Iterator[Database]:
    database = Database(f"test_{secrets.token_hex(4)}")
    administer(
        server().url,
        f"CREATE DATABASE {database.name} TEMPLATE template0 {options}",
        f"CREATE ROLE {database.name} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT CREATE ON DATABASE {database.name} TO {database.name}",
    )
    yield database
    administer(server().url, f"DROP DATABASE {database.name} WITH (FORCE)", f"DROP ROLE {database.name}")


@pytest.fixture
def database() -> Iterator[Database]:
    yield from made()


def opened(url: str, **options: Any) -> commonplace.Book:
    return commonplace.open(url, embedder=EMBEDDER, **options)


# -- row-level security -------------------------------------------------------------------------------------


@pytest.fixture
def walled(database: Database) -> Database:
    """A book of an ordinary role with two spaces."""
    administer(database.url, "CREATE EXTENSION vector")
    for space in ("left", "right"):
        with opened(database.plain, space=space) as book:
            book.remember(f"The {space} lamp burns", id="lamp")
            book.kv("state").set("side", space)
            book.canvas("plan").write("side.txt", space)
            book.transcript("talk").append(space)
    return database


TABLES = ("memory", "trace", "posting", "entry", "file", "message", "census")


def test_raw_sql_of_the_owner_sees_no_row_until_it_names_a_space(walled: Database) -> None:
    numbers = dict(asked(walled.plain, "SELECT name, number FROM space"))
    for table in TABLES:
        assert asked(walled.plain, "SELECT * FROM {}", table) == []
        assert asked(walled.plain, "SELECT * FROM {}", table, space="") == []
        for space in ("left", "right"):
            found = asked(walled.plain, "SELECT DISTINCT space FROM {}", table, space=numbers[space])
            assert found == [(numbers[space],)]


def test_a_part_of_a_table_shows_no_more_than_the_table(walled: Database) -> None:
    parts = [
        name for (name,) in asked(walled.plain, "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'")
    ]
    assert len(parts) > len(TABLES)
    assert [part for part in parts if asked(walled.plain, "SELECT 1 FROM {}", part)] == []


def test_raw_sql_cannot_write_through_the_wall(walled: Database) -> None:
    left, right = (dict(asked(walled.plain, "SELECT name, number FROM space"))[name] for name in ("left", "right"))
    with psycopg.connect(walled.plain, options=f"-c search_path=commonplace -c commonplace.space={left}") as connection:
        assert connection.execute("DELETE FROM memory WHERE space = %s", [right]).rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("UPDATE entry SET space = %s", [right])
    with opened(walled.plain, space="right") as book:
        assert book.get("lamp").text == "The right lamp burns"


def test_a_book_of_an_ordinary_role_works_in_full(walled: Database, tmp_path: Path) -> None:
    with opened(walled.plain, space="left") as book:
        book.revise("lamp", "The left lamp is out")
        assert [hit.memory.text for hit in book.recall("left lamp", threshold=0)] == ["The left lamp is out"]
        assert book.kv("state").get("side") == "left"
        assert book.check(deep=True).problems == ()
        assert book.stats().memories == 1
        book.backup(tmp_path / "copy.db")
        book.forget(everything=True)
    with opened(str(tmp_path / "copy.db"), space="right") as book:
        assert book.get("lamp").text == "The right lamp burns"


# -- schemas --------------------------------------------------------------------------------------


def test_books_in_two_schemas_of_one_database_are_apart(database: Database) -> None:
    urls = [with_options(database.url, schema=schema) for schema in ("one", "two")]
    with opened(urls[0]) as one, opened(urls[1]) as two:
        one.remember("Only in the first", id="a")
        two.remember("Only in the second", id="b")
        assert [memory.id for memory in one.list()] == ["a"]
        assert [memory.id for memory in two.list()] == ["b"]
        one.forget(everything=True)
        assert two.stats().memories == 1


def test_a_new_book_has_as_many_parts_as_its_url_says(database: Database) -> None:
    counting = "SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('memory' AS regclass)"
    with opened(with_options(database.url, partitions=3)) as book:
        book.remember("In one of three", id="a")
    assert asked(database.url, counting) == [(3,)]
    with opened(with_options(database.url, partitions=5)) as book:  # made already
        assert book.get("a").text == "In one of three"
    assert asked(database.url, counting) == [(3,)]


def test_a_schema_with_tables_of_another_program_is_left_alone(database: Database) -> None:
    administer(database.url, "CREATE SCHEMA commonplace", "CREATE TABLE commonplace.invoice (number integer)")
    with pytest.raises(NotABook, match="another program"):
        opened(database.url)
    assert asked(
        database.url, "SELECT relname FROM pg_class WHERE relnamespace = CAST('commonplace' AS regnamespace)"
    ) == [("invoice",)]


def test_a_table_that_only_shares_its_name_with_a_book_is_no_book(database: Database) -> None:
    administer(database.url, "CREATE SCHEMA commonplace", "CREATE TABLE commonplace.book (title text, author text)")
    with pytest.raises(NotABook):
        opened(database.url)


def test_a_book_of_a_newer_commonplace_is_refused(database: Database) -> None:
    opened(database.url).close()
    administer(database.url, "UPDATE commonplace.book SET value = '999' WHERE name IN ('schema', 'oldest')")
    with pytest.raises(BookTooNew, match="upgrade"):
        opened(database.url)


def test_a_book_that_a_newer_commonplace_only_extended_is_used_as_before(database: Database) -> None:
    opened(database.url).close()
    administer(database.url, "UPDATE commonplace.book SET value = '999' WHERE name = 'schema'")
    with opened(database.url) as book:
        assert book.get(book.remember("still at work").id).content == "still at work"


@pytest.mark.parametrize("schema", ["user", "select", "public"])
def test_any_plain_word_may_name_a_schema(database: Database, schema: str) -> None:
    with opened(with_options(database.url, schema=schema)) as book:
        book.remember("Named as SQL names things", id="a")
        assert book.check(deep=True).problems == ()


def test_a_deep_check_reads_the_words_of_every_space(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequence numbers repeat across spaces: a page that ends between two of the same number must lose neither."""
    monkeypatch.setattr("commonplace.store.schema.WORDS_PAGE", 1)
    with opened(database.url) as book:
        for space in ("one", "two", "three"):
            book.in_space(space).remember("The lamp burns")
        administer(database.url, "UPDATE commonplace.memory SET text = 'The lamp is out' WHERE text = 'The lamp burns'")
        assert [problem for problem in book.check(deep=True).problems if "3 memories" in problem]


# -- refusals -------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_url_is_said_without_its_password(database: Database) -> None:
    port = server().port
    wrong = {
        f"postgresql://{database.name}:{PASSWORD}wrong@127.0.0.1:{port}/{database.name}": "password authentication",
        database.plain.replace(f"/{database.name}", "/nowhere"): "nowhere",
        database.plain.replace(f":{port}/", ":1/"): "refused",
        database.plain.replace("127.0.0.1", "no-such-host.invalid"): "no-such-host.invalid",
    }
    for url, words in wrong.items():
        with pytest.raises(StoreUnavailable, match=words) as caught:
            opened(url)
        assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("where", ["user", "query"])
def test_a_book_never_shows_its_password(database: Database, where: str) -> None:
    administer(database.url, "CREATE EXTENSION vector")
    url = database.plain if where == "user" else f"{database.plain.replace(f':{PASSWORD}', '')}?password={PASSWORD}"
    with opened(url) as book:
        book.remember("Nothing secret")
        assert PASSWORD not in repr(book)
    with pytest.raises(commonplace.EmbedderMismatch) as caught:
        commonplace.open(url, embedder=HashEmbedder(name="other"))
    assert PASSWORD not in str(caught.value)


def test_a_database_without_pgvector_says_who_can_add_it(database: Database) -> None:
    administer(database.url, f"REVOKE CREATE ON DATABASE {database.name} FROM {database.name}")
    with pytest.raises(StoreUnavailable, match="administrator run CREATE EXTENSION vector"):
        opened(database.plain)


def test_a_role_that_may_not_create_is_told_so(database: Database) -> None:
    administer(
        database.url, "CREATE EXTENSION vector", f"REVOKE CREATE ON DATABASE {database.name} FROM {database.name}"
    )
    with pytest.raises(StoreError, match="permission denied for database"):
        opened(database.plain)


def test_options_of_the_driver_reach_it_as_they_were_written(database: Database) -> None:
    administer(database.url, "CREATE EXTENSION vector")
    options = "options=-c%20tcp_keepalives_count%3D7%20-c%20commonplace.note%3Da%2Bb"
    with opened(f"{database.plain}?{options}") as book:
        seen = book._store.read(lambda tx: tx.run("SHOW tcp_keepalives_count") + tx.run("SHOW commonplace.note"), None)  # type: ignore[attr-defined]
    assert seen == [("7",), ("a+b",)]


# -- order ----------------------------------------------------------------------------------------


LOCALES = (
    "LOCALE_PROVIDER builtin LOCALE 'C.UTF-8'",
    "LOCALE_PROVIDER libc LOCALE 'en_US.UTF-8'",
    "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'",
)
WORDS = ("Zebra", "ant", "Ärger", "zebra", "Ant", "z", "-", "_", "ä", "a b", "ab", "😀", "～", "9", "10")


@pytest.mark.parametrize("options", LOCALES)
def test_order_is_by_code_point_in_every_locale(options: str) -> None:
    try:
        databases = made(f"ENCODING 'UTF8' {options}")
        database = next(databases)
    except psycopg.Error as error:
        pytest.skip(f"this server has no such locale: {str(error).splitlines()[0]}")
    try:
        _ensure_ordered(database)
    finally:
        next(databases, None)


def _ensure_ordered(database: Database) -> None:
    said = datetime(2026, 3, 1, tzinfo=timezone.utc)
    with opened(database.url) as book:
        for word in WORDS:
            book.kv("words").set(word, 1)
            book.kv(word).set("key", 1)
            book.canvas("words").write(word.replace(" ", "/"), "text")
            book.remember(f"A word: {word}", id=word, said_at=said, metadata={"word": word})
        assert book.kv("words").keys() == sorted(WORDS)
        assert book.namespaces() == sorted([*WORDS, "words"])
        assert list(book.canvas("words").files()) == sorted(word.replace(" ", "/") for word in WORDS)
        assert [memory.id for memory in book.list(order="oldest")] == sorted(WORDS)
        for field in ("id", "metadata.word"):
            after = book.list(filter={field: {"$gt": "Zebra"}}, order="oldest")
            assert [memory.id for memory in after] == sorted(word for word in WORDS if word > "Zebra")


# -- connections and rows ---------------------------------------------------------------------------------


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield SCHEMAS.url(tmp_path)
    SCHEMAS.release()


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


@pytest.mark.skipif(sys.platform != "linux", reason="psycopg traces a connection on Linux only")
def test_nothing_is_sent_between_a_sync_and_its_answer(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message after the Sync that ends a transaction makes a pooler keep a server connection for an idle client."""
    trace = tmp_path / "trace"
    wire = PostgresConnection.wire

    @contextmanager
    def traced(connection: PostgresConnection) -> Iterator[Wire]:
        with trace.open("ab") as file:
            connection.pgconn.trace(file.fileno())
            try:
                with wire(connection) as opened:
                    yield opened
            finally:
                connection.pgconn.untrace()

    monkeypatch.setattr(PostgresConnection, "wire", traced)
    with commonplace.open(url, embedder=EMBEDDER) as book:
        book.remember("The lamp burns", id="lamp")
        assert book.recall("what burns?")
        book.kv("state").set("turn", 1)
        with pytest.raises(commonplace.CommonplaceError):
            book.revise("no such memory", "The lamp is out")
        book.forget("lamp")
    sent = [line.split("\t")[1:4:2] for line in trace.read_text("utf-8").splitlines()]
    after = [sent[i + 1 :] for i, each in enumerate(sent) if each == ["F", "Sync"]]
    assert len(after) >= 5
    for rest in after:
        assert next(name for side, name in rest if side == "F" or name == "ReadyForQuery") == "ReadyForQuery"


@pytest.mark.parametrize("word", ["se/cret", "se#cret", "se?cret", "se@cret", "100%secret", "se\u2100cret"])
def test_no_message_holds_a_password_however_it_is_written(word: str) -> None:
    where = f"postgresql://user:{word}@127.0.0.1:1/nowhere"
    with pytest.raises(commonplace.CommonplaceError) as caught:
        commonplace.open(where, embedder=EMBEDDER, settings=Settings(busy_timeout=1))
    shown: list[BaseException | None] = [caught.value]
    while shown[-1] is not None:
        assert "cret" not in str(shown[-1])
        shown.append(shown[-1].__cause__)


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


def test_work_on_the_whole_book_may_take_longer_than_a_statement(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        book.remember([f"Crate {i} holds lamps" for i in range(300)])
    hasty = Settings(statement_timeout=0.001)
    assert commonplace.reindex(url, embedder=HashEmbedder(dimension=32), settings=hasty) == 300


def test_many_large_rows_are_sent_one_by_one(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER) as book:
        drafts = [commonplace.Draft(content=bytes(300_000), text=f"Crate {i}") for i in range(45)]
        stored = book.remember(drafts)
        assert {len(book.get(memory.id).content) for memory in stored} == {300_000}
