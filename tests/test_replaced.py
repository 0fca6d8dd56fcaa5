"""A file that was deleted, moved, replaced or linked under an open book is noticed, and no two books are mixed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import commonplace
from commonplace.book import Book
from commonplace.testing import HashEmbedder


def opened(path: Path) -> Book:
    return commonplace.open(path, embedder=HashEmbedder(), reader=None)


def texts(path: Path) -> list[str]:
    with opened(path) as book:
        assert book.check(deep=True).ok
        return sorted(memory.text for memory in book.list())


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replace(path: Path) -> None:
    os.replace(path.with_name("other.db"), path)


VERBS: dict[str, Callable[[Book], object]] = {
    "remember": lambda book: book.remember("Lost"),
    "kv": lambda book: book.kv("n").set("k", "Lost"),
    "transcript": lambda book: book.transcript("t").append("Lost"),
    "recall": lambda book: book.recall("first"),
    "list": lambda book: book.list(),
    "check": lambda book: book.check(),
}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with opened(tmp_path / "other.db") as other:
        other.remember(["Another book", "Its second memory"])
    with opened(tmp_path / "book.db") as book:
        book.remember("A first memory")
        yield book


@pytest.mark.parametrize("lose", [delete, move, replace])
@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_lost_its_name_is_neither_written_nor_read(
    book: Book, tmp_path: Path, lose: Callable[[Path], None], verb: str
) -> None:
    lose(tmp_path / "book.db")
    with pytest.raises(commonplace.StoreReplaced, match="replaced" if lose is replace else "deleted or moved"):
        VERBS[verb](book)
    for other in VERBS.values():
        with pytest.raises(commonplace.StoreReplaced):
            other(book)


@pytest.mark.parametrize("noticed", [True, False])
def test_a_book_put_in_the_place_of_an_open_one_stays_what_it_is(book: Book, tmp_path: Path, noticed: bool) -> None:
    replace(tmp_path / "book.db")
    if noticed:
        with pytest.raises(commonplace.StoreReplaced):
            book.recall("first")
    else:
        book.close()
    assert texts(tmp_path / "book.db") == ["Another book", "Its second memory"]
    book.close()
    assert texts(tmp_path / "book.db") == ["Another book", "Its second memory"]


def test_a_log_that_belongs_to_another_file_is_left_alone(book: Book, tmp_path: Path) -> None:
    for name in ("book.db", "book.db-wal", "book.db-shm"):
        (tmp_path / name).unlink()
    with opened(tmp_path / "book.db") as other:
        other.remember("A new book")
        with pytest.raises(commonplace.StoreReplaced):
            book.remember("Lost")
        book.close()
        other.remember("Its second memory")
    assert texts(tmp_path / "book.db") == ["A new book", "Its second memory"]


def test_a_moved_book_keeps_what_was_acknowledged(book: Book, tmp_path: Path) -> None:
    move(tmp_path / "book.db")
    book.close()
    assert texts(tmp_path / "moved.db") == ["A first memory"]


def test_a_deleted_log_is_named_and_loses_nothing(book: Book, tmp_path: Path) -> None:
    (tmp_path / "book.db-wal").unlink()
    with pytest.raises(commonplace.StoreReplaced, match=r"book\.db-wal, the log .* was deleted"):
        book.remember("Lost")
    book.close()
    assert "A first memory" in texts(tmp_path / "book.db")


def test_every_writer_of_a_group_is_told(book: Book, tmp_path: Path) -> None:
    told: list[BaseException] = []
    acknowledged: list[str] = []
    ready = threading.Barrier(5)

    def write() -> None:
        ready.wait(60)
        try:
            acknowledged.append(book.remember("Lost").id)
        except commonplace.CommonplaceError as error:
            told.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    delete(tmp_path / "book.db")
    ready.wait(60)
    for thread in threads:
        thread.join(60)
    assert acknowledged == []
    assert [type(error) for error in told] == [commonplace.StoreReplaced] * 4


def test_a_file_with_several_names_is_not_opened(book: Book, tmp_path: Path) -> None:
    book.close()
    os.link(tmp_path / "book.db", tmp_path / "same.db")
    with pytest.raises(commonplace.StoreUnavailable, match="2 names"):
        opened(tmp_path / "same.db")
    (tmp_path / "book.db").unlink()
    assert texts(tmp_path / "same.db") == ["A first memory"]


def test_a_symbolic_link_and_another_directory_are_no_reason(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link.db").symlink_to(tmp_path / "book.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    with opened(Path("link.db")) as linked:
        monkeypatch.chdir(tmp_path)
        linked.remember("Through a link")
        assert len(linked.list()) == len(book.list()) == 2
        assert linked.check().ok
