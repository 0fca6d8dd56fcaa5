"""What a book in a file leaves on disk: files for its owner only, and no bytes of values that were replaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import commonplace
from commonplace.book import Book
from commonplace.cli import main
from commonplace.testing import HashEmbedder

MARK = "quetzal-4711"


def opened(path: Path) -> Book:
    return commonplace.open(path, embedder=HashEmbedder(), reader=None)


@pytest.fixture
def open_mask() -> Iterator[None]:
    """Let new files be readable by everybody, unless their maker says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(directory: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


@pytest.mark.usefixtures("open_mask")
def test_new_files_are_for_their_owner_only(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "book.db", reader=None) as book:
        book.remember("A secret of ours")
        book.backup(tmp_path / "backup.db")
        assert {name: oct(mode) for name, mode in modes(tmp_path).items()} == dict.fromkeys(
            ("book.db", "book.db-wal", "book.db-shm", "backup.db"), "0o600"
        )
    assert main(["--book", str(tmp_path / "book.db"), "export", str(tmp_path / "export.jsonl")]) == 0
    assert modes(tmp_path)["export.jsonl"] == 0o600


@pytest.mark.usefixtures("open_mask")
def test_the_mode_of_a_file_that_exists_stays(tmp_path: Path) -> None:
    opened(tmp_path / "book.db").close()
    (tmp_path / "book.db").chmod(0o640)
    with opened(tmp_path / "book.db") as book:
        book.remember("For the group, too")
        assert set(modes(tmp_path).values()) == {0o640}


def bytes_on_disk(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.iterdir() if path.suffix != ".db-shm")


@pytest.mark.parametrize("value", [MARK, [MARK], {"a": MARK}, MARK * 5_000], ids=["text", "list", "object", "long"])
def test_a_value_that_was_deleted_or_replaced_leaves_no_bytes(tmp_path: Path, value: commonplace.values.Json) -> None:
    with opened(tmp_path / "book.db") as book:
        entries = book.kv("n")
        for key in ("deleted", "replaced"):
            entries.set(key, value)
        assert MARK.encode() in bytes_on_disk(tmp_path)
        entries.delete("deleted")
        entries.set("replaced", 1)
        assert MARK.encode() not in bytes_on_disk(tmp_path)
