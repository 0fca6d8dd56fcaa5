"""A book of an older schema is migrated when it is opened, once, completely or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path

import apsw
import pytest

import commonplace
from commonplace.store import schema
from commonplace.store.base import Tx
from commonplace.store.schema import Types
from commonplace.testing import HashEmbedder
from tests.support.postgres import server, with_options


def make_book(path: Path) -> str:
    with commonplace.open(path, embedder=HashEmbedder()) as book:
        return book.remember("written by the older version").id


def version(path: Path) -> int:
    connection = apsw.Connection(str(path))
    try:
        return int(connection.pragma("user_version"))
    finally:
        connection.close()


def add_column(tx: Tx, types: Types) -> None:
    tx.run(f"ALTER TABLE feedback ADD COLUMN note {types.integer}")


def test_every_version_has_its_migration() -> None:
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.VERSION + 1))


def test_a_new_book_is_at_the_current_version(tmp_path: Path) -> None:
    make_book(tmp_path / "book.db")
    assert version(tmp_path / "book.db") == schema.VERSION


def test_an_older_book_is_migrated_with_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    id = make_book(tmp_path / "book.db")
    newer = schema.VERSION + 1
    monkeypatch.setattr(schema, "VERSION", newer)
    monkeypatch.setitem(schema.MIGRATIONS, newer, add_column)
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as book:
        assert book.get(id).content == "written by the older version"
    assert version(tmp_path / "book.db") == newer


def test_a_failed_migration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    id = make_book(tmp_path / "book.db")
    before = version(tmp_path / "book.db")

    def fail(tx: Tx, types: Types) -> None:
        add_column(tx, types)
        tx.run("THIS IS NO SQL")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "VERSION", before + 1)
        patched.setitem(schema.MIGRATIONS, before + 1, fail)
        with pytest.raises(commonplace.StoreError):
            commonplace.open(tmp_path / "book.db", embedder=HashEmbedder())
    assert version(tmp_path / "book.db") == before
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as book:
        assert book.get(id).content == "written by the older version"


def test_a_newer_book_is_refused_and_left_alone(tmp_path: Path) -> None:
    make_book(tmp_path / "book.db")
    connection = apsw.Connection(str(tmp_path / "book.db"))
    connection.pragma("user_version", schema.VERSION + 1)
    connection.execute("UPDATE book SET value = ? WHERE name = 'oldest'", (str(schema.VERSION + 1),))
    connection.close()
    with pytest.raises(commonplace.BookTooNew, match="upgrade"):
        commonplace.open(tmp_path / "book.db", embedder=HashEmbedder())
    assert version(tmp_path / "book.db") == schema.VERSION + 1


def test_an_older_program_goes_on_with_a_book_that_a_newer_one_has_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = make_book(tmp_path / "book.db")
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as running:
        with monkeypatch.context() as upgraded:
            upgraded.setattr(schema, "VERSION", schema.VERSION + 1)
            upgraded.setitem(schema.MIGRATIONS, schema.VERSION, add_column)
            with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as newer:
                newer.feedback(id, "used")
                theirs = newer.remember("written by the newer version").id
        running.feedback(id, "used")
        assert running.get(theirs).content == "written by the newer version"
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as restarted:
        assert restarted.get(id).content == "written by the older version"
        assert restarted.check(deep=True).ok


# -- version 2: owners and receipts ----------------------------------------------------------------------

_OLD_ROWS = (
    """INSERT INTO entry (space, namespace, key, version, value, updated_at)
    SELECT number, 'n', 'k', 3, '[1]', 5 FROM space WHERE name = 'default'""",
    """INSERT INTO file (space, canvas, path, revision, author, at, content)
    SELECT number, 'c', 'a.md', 1, 'ada', 5, 'text' FROM space WHERE name = 'default'""",
    """INSERT INTO message (space, session, number, role, said_at, created_at, metadata, content)
    SELECT number, 's', 1, 'user', 5, 5, '{}', '"hello"' FROM space WHERE name = 'default'""",
)


def make_version_1(place: str | Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        older.setattr(schema, "VERSION", 1)
        with commonplace.open(place, embedder=HashEmbedder(), reader=None) as book:
            book.remember("of ada", scope=commonplace.Scope(user="ada"))
            space = book._place.find()  # type: ignore[attr-defined]
            for statement in _OLD_ROWS:
                book._store.write(lambda tx, sql=statement: tx.run(sql), space)  # type: ignore[attr-defined]


def ensure_migrated(place: str | Path) -> None:
    """What was there has no owner, gets one when it is written again, and is erased with its person."""
    with commonplace.open(place, embedder=HashEmbedder(), reader=None) as book:
        assert book.users() == [commonplace.User(name="ada", memories=1, entries=0, files=0, messages=0)]
        entry = book.kv("n").entry("k")
        assert entry is not None
        assert (entry.value, entry.version, entry.scope) == ([1], 3, commonplace.Scope())
        assert book.canvas("c").file("a.md").scope == commonplace.Scope()
        assert book.transcript("s").read()[0].scope == commonplace.Scope()
        ada = commonplace.Scope(user="ada")
        book.kv("n").set("k", 2, scope=ada)
        book.canvas("c").write("a.md", "more", scope=ada)
        book.transcript("s").append("mine", scope=ada)
        gone = book.forget(user="ada")
        assert (gone.memories, gone.entries, gone.files, gone.messages) == (1, 1, 1, 1)
        assert [message.content for message in book.transcript("s").read()] == ["hello"]
        assert book.verify_receipts().ok
        assert book.check(deep=True).ok


def test_a_file_of_version_1_gets_owners_and_receipts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_version_1(tmp_path / "book.db", monkeypatch)
    assert version(tmp_path / "book.db") == 1
    ensure_migrated(tmp_path / "book.db")
    assert version(tmp_path / "book.db") == schema.VERSION


def test_a_postgres_book_of_version_1_gets_owners_and_receipts(monkeypatch: pytest.MonkeyPatch) -> None:
    url = with_options(server().url, schema=f"older_{secrets.token_hex(4)}", partitions=2)
    make_version_1(url, monkeypatch)
    ensure_migrated(url)
