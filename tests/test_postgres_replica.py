"""A replica answers recalls and includes everything that the same process wrote; without it the primary answers."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import commonplace
from commonplace import Book, Settings
from commonplace.store.postgres.local import LocalPostgres
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS, server

EMBEDDER = HashEmbedder()
LIMIT = 30.0


@pytest.fixture(scope="module")
def standby() -> Iterator[LocalPostgres]:
    """A server that follows the tests' own."""
    place = Path(tempfile.mkdtemp(prefix="commonplace-standby-"))
    place.chmod(0o711)
    following = server().standby(place / "data")
    yield following
    following.stop()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(autouse=True)
def _emptied(standby: LocalPostgres) -> Iterator[None]:
    yield
    standby.start()
    resume(standby)
    SCHEMAS.release()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Book]:
    """The book without a replica."""
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER) as book:
        book.remember("The tide turns at noon", id="tide")
        yield book


@pytest.fixture
def reader(tmp_path: Path, writer: Book, standby: LocalPostgres) -> Iterator[Book]:
    """The same book with one, which has seen everything so far."""
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER, read_url=standby.url) as book:
        assert recalled(book) == {"tide"}
        catch_up(standby)
        yield book


def recalled(book: Book) -> set[str]:
    return {hit.memory.id for hit in book.recall("tide at noon", k=100, max_tokens=None, threshold=0)}


def asked(where: LocalPostgres, statement: str) -> Any:
    with psycopg.connect(where.url, autocommit=True) as connection:
        row = connection.execute(statement.encode()).fetchone()
        return None if row is None else row[0]


def pause(standby: LocalPostgres) -> None:
    """Stop the replay of the replica."""
    catch_up(standby)
    asked(standby, "SELECT pg_wal_replay_pause()")
    wait_for(lambda: asked(standby, "SELECT pg_get_wal_replay_pause_state()") == "paused")


def resume(standby: LocalPostgres) -> None:
    asked(standby, "SELECT pg_wal_replay_resume()")


def catch_up(standby: LocalPostgres) -> None:
    """Until the replica has seen all that the primary has now."""
    position = asked(server(), "SELECT CAST(pg_current_wal_insert_lsn() AS text)")
    behind = f"SELECT pg_last_wal_replay_lsn() < CAST('{position}' AS pg_lsn)"
    wait_for(lambda: not asked(standby, behind))


def wait_for(true: Any) -> None:
    deadline = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def test_the_replica_answers_a_process_that_wrote_nothing(writer: Book, reader: Book, standby: LocalPostgres) -> None:
    pause(standby)
    writer.remember("The tide turns at midnight too", id="later")
    # The primary would know better: what is missing shows who answered.
    assert recalled(reader) == {"tide"}
    assert recalled(writer) == {"tide", "later"}
    resume(standby)
    wait_for(lambda: recalled(reader) == {"tide", "later"})


def test_a_process_reads_its_own_writes_however_far_behind_the_replica_is(reader: Book, standby: LocalPostgres) -> None:
    pause(standby)
    reader.remember("The tide turns at midnight too", id="mine")
    assert recalled(reader) == {"tide", "mine"}
    reader.revise("mine", "The tide at noon is the higher one")
    reader.forget("tide")
    assert recalled(reader) == {"mine"}
    resume(standby)
    catch_up(standby)
    assert recalled(reader) == {"mine"}


def test_a_write_to_one_space_leaves_the_recalls_of_others_to_the_replica(
    writer: Book, reader: Book, standby: LocalPostgres
) -> None:
    other = reader.in_space("other")
    other.kv("state").set("ready", True)
    pause(standby)
    writer.remember("The tide turns at midnight too", id="later")
    other.remember("The tide of another shore, at noon", id="shore")
    assert recalled(other) == {"shore"}
    assert recalled(reader) == {"tide"}, "the replica was asked, since nobody here wrote to this space"


def test_every_write_is_recalled_at_once_while_the_replica_follows(reader: Book) -> None:
    for number in range(30):
        reader.remember(f"Buoy {number} was seen at noon", id=f"buoy {number}")
        assert recalled(reader) == {"tide", *(f"buoy {n}" for n in range(number + 1))}


def test_only_recall_asks_the_replica(writer: Book, reader: Book, standby: LocalPostgres) -> None:
    pause(standby)
    writer.remember("The tide turns at midnight too", id="later")
    assert reader.get("later").version == 1
    assert {memory.id for memory in reader.list()} == {"tide", "later"}


def test_a_book_opened_while_the_replica_is_behind_is_asked_of_the_primary(
    tmp_path: Path, standby: LocalPostgres
) -> None:
    pause(standby)
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER) as book:
        book.remember("The tide turns at noon", id="tide")
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER, read_url=standby.url) as book:
        assert recalled(book) == {"tide"}


def test_a_book_that_was_re_embedded_is_recalled_while_the_replica_has_the_old_vectors(
    tmp_path: Path, writer: Book, reader: Book, standby: LocalPostgres
) -> None:
    pause(standby)
    other = HashEmbedder(dimension=32, name="other")
    commonplace.reindex(SCHEMAS.url(tmp_path), embedder=other)
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=other, read_url=standby.url) as book:
        assert recalled(book) == {"tide"}


def test_a_replica_that_dies_fails_no_recall(reader: Book, standby: LocalPostgres) -> None:
    assert recalled(reader) == {"tide"}
    standby.kill()
    for number in range(3):
        assert recalled(reader) == {"tide", *(f"buoy {n}" for n in range(number))}
        reader.remember(f"Buoy {number} was seen at noon", id=f"buoy {number}")


def test_a_replica_that_was_never_there_fails_no_recall(tmp_path: Path, writer: Book) -> None:
    nowhere = "postgresql://postgres@127.0.0.1:1/postgres"
    quick = Settings(busy_timeout=5)
    with commonplace.open(SCHEMAS.url(tmp_path), embedder=EMBEDDER, read_url=nowhere, settings=quick) as book:
        started = time.monotonic()
        assert recalled(book) == {"tide"}
        assert recalled(book) == {"tide"}
        assert time.monotonic() - started < LIMIT / 2


def test_writes_given_to_a_replica_are_refused_with_the_reason(
    tmp_path: Path, writer: Book, standby: LocalPostgres
) -> None:
    catch_up(standby)
    url = SCHEMAS.url(tmp_path).replace(f":{server().port}/", f":{standby.port}/")
    with commonplace.open(url, embedder=EMBEDDER, settings=Settings(busy_timeout=1)) as book:
        assert book.get("tide").version == 1
        with pytest.raises(commonplace.StoreReadOnly, match="read_url"):
            book.kv("state").set("turn", 1)


def test_a_url_of_two_servers_leads_to_the_one_that_takes_writes(
    tmp_path: Path, writer: Book, standby: LocalPostgres
) -> None:
    both = f"127.0.0.1:{standby.port},127.0.0.1:{server().port}"
    url = SCHEMAS.url(tmp_path).replace(f"127.0.0.1:{server().port}", both)
    with commonplace.open(f"{url}&target_session_attrs=read-write", embedder=EMBEDDER) as book:
        assert book.kv("state").set("turn", 1).version == 1
        assert recalled(book) == {"tide"}
