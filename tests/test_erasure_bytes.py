"""After an erasure no byte of a person is left: not in the file, its log and its free pages, nor in PostgreSQL's."""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import psycopg
import pytest

import commonplace
from commonplace import Draft, Scope, Settings
from commonplace.location import probe
from commonplace.server.idempotency import IdempotencyRecord, RequestStore
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS, server

EMBEDDER = HashEmbedder()
SARAH = Scope(user="sarahuser")
PLACES = (
    "memory", "version", "learned", "message", "transcript", "tag", "key", "value", "revision", "detail", "job",
    "answer", "feedback", "index", "segment",
)  # fmt: skip
MARKS = {place: f"Qzx{place}Qzx" for place in PLACES}
"""One mark for each place, so that a failure names it."""


def fill(book: commonplace.Book) -> None:
    """Write each mark of one person into its place, and much of others around it."""
    m = MARKS
    others = random.Random(7)
    for n in range(6):
        book.remember(
            [
                Draft(content=" ".join(f"word{others.randrange(900)}" for _ in range(others.randrange(5, 120))))
                for _ in range(30)
            ]
        )
        text = f"{m['memory']} {m['index']} " + " ".join(f"word{others.randrange(900)}" for _ in range(80))
        book.remember(text, id=f"{m['feedback']}-{n}", scope=SARAH, tags=[f"{m['tag']}-{n}"])
        book.kv(f"team {n}").set("k", "v" * others.randrange(2000))
        book.kv(f"{m['key']}-{n}").set(m["key"], m["value"] * others.randrange(1, 400), scope=SARAH)
        book.canvas("shared").write(f"{n}.md", "x" * others.randrange(6000))
        book.canvas("hers").write(f"{n}.md", m["revision"] * others.randrange(1, 600), author="S", scope=SARAH)
        book.canvas("hers").write(f"{n}.md", "the next revision")
    id = f"{m['feedback']}-0"
    book.revise(id, f"{m['version']} and more", reason=m["version"])
    book.feedback(id, "used")
    said = [{"name": "Sarah", "content": f"I prefer {m['learned']} to coffee. {m['message']}"}]
    book.learn(said, session="chat", scope=SARAH, wait=True)
    book.learn(said, session="chat", scope=SARAH, wait=True)  # the repetition keeps its words in a link's detail
    said = [{"name": "Sarah", "content": f"I prefer {m['detail']} to coffee."}]
    book.learn(said, session="chat", scope=SARAH, wait=True)
    book.learn(said, session="other chat", scope=SARAH, wait=True)
    book.learn(said, session="chat", scope=SARAH, tags=[m["job"]], every=9)
    book.transcript("chat").append(f"word for word {m['transcript']}", scope=SARAH)
    book.transcript("standup").append("good morning")
    store = RequestStore(book._store, None, IdempotencyRecord("key:1", "digest"))  # type: ignore[attr-defined]
    book.over(store.as_store).remember(m["answer"], scope=SARAH)  # type: ignore[attr-defined]


def files_with(root: Path, marks: dict[str, str]) -> list[str]:
    """The files below a directory that hold a mark, each with its mark."""
    found = []
    for path in root.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            found += [f"{path.name}: {place}" for place, mark in marks.items() if mark.encode() in held]
    return found


def texts() -> list[str]:
    return list(MARKS.values())


# -- SQLite --------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


def opened(path: Path, **options: object) -> commonplace.Book:
    return commonplace.open(path, embedder=EMBEDDER, reader=None, settings=Settings(durability="normal", **options))  # type: ignore[arg-type]


def test_no_byte_of_an_erased_person_is_left_in_a_file(path: Path) -> None:
    with opened(path) as book:
        fill(book)
        there = {each.rpartition(": ")[2] for each in files_with(path.parent, MARKS)}
        assert there == {*PLACES} - {"segment"}  # another test has one
        before = probe(path, "sarahuser", texts())
        assert {"memory.text", "memory.tags", "entry.value", "file.content", "link.detail", "job.payload"} <= {
            each.where for each in before.found
        }
        receipt = book.forget(user="sarahuser").receipt
        assert receipt is not None
        assert receipt.settled_at is not None
        assert files_with(path.parent, {**MARKS, "name": "sarahuser"}) == []
        assert probe(path, "sarahuser", texts()).ok
        told = json.dumps([*book.export(vectors=True)])
        assert not any(mark in told for mark in texts())
        book.backup(path.with_name("backup.db"))
    assert files_with(path.parent, MARKS) == []


def test_a_receipt_says_not_yet_while_a_reader_is_open_and_gone_afterwards(path: Path) -> None:
    with opened(path) as book:
        fill(book)
        reader = apsw.Connection(str(path))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchall()
        receipt = book.forget(user="sarahuser").receipt
        assert receipt is not None
        assert receipt.settled_at is None
        assert book.settle_receipts()[0].settled_at is None
        assert files_with(path.parent, MARKS)
        reader.execute("ROLLBACK")
        reader.close()
        (settled,) = book.settle_receipts()
        assert settled.hash == receipt.hash
        assert settled.settled_at is not None
        assert files_with(path.parent, MARKS) == []
        assert book.verify_receipts([receipt]).ok


def test_a_large_file_is_written_anew_only_when_receipts_are_settled(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.store.sqlite.store.REWRITTEN_AT_ONCE", 0)
    with opened(path) as book:
        fill(book)
        receipt = book.forget(user="sarahuser").receipt
        assert receipt is not None
        assert receipt.settled_at is None
        assert book.settle_receipts()[0].settled_at is not None
        assert files_with(path.parent, MARKS) == []
        assert book.check(deep=True).ok


def test_an_erased_person_leaves_no_graph_of_vectors(path: Path) -> None:
    pytest.importorskip("usearch")
    rows = np.random.default_rng(7).standard_normal((600, 32)).astype(np.float32)
    settings = Settings(segment_rows=500, durability="normal")
    with commonplace.open(path, embedder=HashEmbedder(32), reader=None, settings=settings) as book:
        book.remember([Draft(content=f"entry {i}", vector=row, scope=SARAH) for i, row in enumerate(rows)])
        book.recall("", vector=rows[0])
        wait_for_graph(path)
        book.forget(user="sarahuser")
        assert graphs(path) == []
        assert probe(path, "sarahuser").ok


def graphs(path: Path) -> list[Path]:
    return list(Path(f"{path}-hnsw").glob("*.hnsw"))


def wait_for_graph(path: Path) -> None:
    for _ in range(1200):
        if graphs(path):
            return
        time.sleep(0.05)
    raise AssertionError("no graph was built within a minute")


def test_a_probe_finds_what_is_left_in_rows_in_free_pages_and_in_files(path: Path) -> None:
    with opened(path) as book:
        book.remember("about Qzxprobe", scope=Scope(agent="sarahuser"))
    rows = {each.where: each.count for each in probe(path, "sarahuser", ["Qzxprobe"]).found}
    assert rows["memory: of agent, space default"] == 1
    assert rows["memory.text"] == rows["memory.scope_agent"] == 1
    assert rows[str(path)] >= 2
    raw = apsw.Connection(str(path))
    raw.pragma("secure_delete", False)
    raw.execute("DELETE FROM memory WHERE text LIKE '%Qzx%'")
    raw.close()
    stray = Path(f"{path}-hnsw")
    stray.mkdir()
    (stray / "1-0-5-00000000.hnsw").write_bytes(b"vectors")
    left = [each.where for each in probe(path, "sarahuser", ["Qzxprobe"]).found]
    assert "trace: rows without their memory" in left
    assert str(path) in left  # the bytes are in a free page
    assert any("a graph that the book does not use" in each for each in left)


# -- PostgreSQL ----------------------------------------------------------------------------------------


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield SCHEMAS.url(tmp_path)
    SCHEMAS.release()


def relations_with(url: str) -> set[str]:
    """The tables and indexes of a book that hold a mark on the disk of the server, and the log if it does."""
    return {each.where for each in probe(url, "sarahuser", texts()).found if "." not in each.where}


def test_postgres_keeps_no_byte_of_an_erased_person_once_receipts_are_settled(url: str) -> None:
    with commonplace.open(url, embedder=EMBEDDER, reader=None) as book:
        fill(book)
        assert relations_with(url)
        receipt = book.forget(user="sarahuser").receipt
        assert receipt is not None
        assert receipt.settled_at is None
        assert {"write-ahead log", "replicas"} <= receipt.copies.keys()
        pages = {each for each in relations_with(url) if each.startswith(("memory_", "entry_", "file_", "pg_toast"))}
        assert pages, "deleted rows are expected to stay in their pages"
        (settled,) = book.settle_receipts()
        assert settled.settled_at is not None
        assert {each for each in relations_with(url) if not is_log(each)} == set()
        told = json.dumps([*book.export(vectors=True)])
        assert not any(mark in told for mark in texts())
        assert book.check(deep=True).ok
        assert book.verify_receipts([receipt]).ok


def is_log(name: str) -> bool:
    return len(name) == 24 and set(name) <= set("0123456789ABCDEF")


def test_postgres_says_not_yet_while_an_old_transaction_is_open(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.store.postgres.vacuum._LONGEST", 0.3)
    with commonplace.open(url, embedder=EMBEDDER, reader=None) as book:
        book.remember("Qzxmemory", scope=SARAH)
        with psycopg.connect(server().url) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1").fetchall()
            book.forget(user="sarahuser")
            assert book.settle_receipts()[0].settled_at is None
        assert book.settle_receipts()[0].settled_at is not None


def test_the_log_of_postgres_loses_the_bytes_when_segments_are_not_recycled(url: str) -> None:
    with psycopg.connect(server().url, autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET wal_recycle = off")
        admin.execute("ALTER SYSTEM SET wal_keep_size = 0")
        admin.execute("SELECT pg_reload_conf()")
        try:
            mark = f"Qzx{secrets.token_hex(8)}"
            with commonplace.open(url, embedder=EMBEDDER, reader=None) as book:
                book.remember(mark, scope=SARAH)
                assert any(is_log(each.where) for each in probe(url, mark).found)
                book.forget(user="sarahuser")
                book.settle_receipts()
            for _ in range(3):
                admin.execute("SELECT pg_switch_wal()")
                admin.execute("CHECKPOINT")
            assert probe(url, mark).ok
        finally:
            admin.execute("ALTER SYSTEM RESET wal_recycle")
            admin.execute("ALTER SYSTEM RESET wal_keep_size")
            admin.execute("SELECT pg_reload_conf()")


def test_a_probe_says_what_an_ordinary_role_cannot_see(tmp_path: Path) -> None:
    from tests.support.postgres import ORDINARY

    place = ORDINARY.url(tmp_path)
    try:
        with commonplace.open(place, embedder=EMBEDDER, reader=None) as book:
            book.remember("x", scope=SARAH)
        probed = probe(place, "sarahuser")
        assert "memory.scope_user" in {each.where for each in probed.found}
        assert any("pg_read_server_files" in each for each in probed.unseen)
    finally:
        ORDINARY.release()
