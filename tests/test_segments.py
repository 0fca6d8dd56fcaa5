"""Large spaces: the HNSW segment finds what an exact scan finds, follows every change, and may be deleted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import commonplace
from commonplace import Draft, Settings
from commonplace.testing import HashEmbedder

pytestmark = pytest.mark.slow

DIMENSION = 32
ROWS = 1500
SETTINGS = Settings(segment_rows=500, durability="normal")


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    rows = np.random.default_rng(7).standard_normal((ROWS, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)  # type: ignore[no-any-return]


@pytest.fixture
def path(tmp_path: Path, vectors: np.ndarray) -> Path:
    place = tmp_path / "large.db"
    with opened(place) as book:
        book.remember([Draft(content=f"entry {i}", id=str(i), vector=row) for i, row in enumerate(vectors)])
        ids(book, vectors[0])
        wait_for_segment(place)
    return place


def opened(path: Path, settings: Settings = SETTINGS) -> commonplace.Book:
    return commonplace.open(path, embedder=HashEmbedder(DIMENSION), settings=settings)


def ids(book: commonplace.Book, vector: np.ndarray, k: int = 10) -> list[str]:
    return [hit.memory.id for hit in book.recall("", vector=vector, k=k, threshold=0, max_tokens=None)]


def wait_for_segment(path: Path) -> Path:
    pytest.importorskip("usearch")
    for _ in range(600):
        found = list(Path(f"{path}-hnsw").glob("*.hnsw"))
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no segment was built within 30 seconds")


def uses_segment(book: commonplace.Book) -> bool:
    return bool(book._store._segments._open)  # type: ignore[attr-defined]


def test_the_segment_finds_what_an_exact_scan_finds(path: Path, vectors: np.ndarray) -> None:
    exact = Settings(segment_rows=10**9)
    with opened(path) as book, opened(path, exact) as plain:
        found = [len(set(ids(book, row)) & set(ids(plain, row))) for row in vectors[:50]]
        assert uses_segment(book)
        assert not uses_segment(plain)
    assert sum(found) >= 0.95 * 10 * len(found)


def test_what_is_remembered_after_the_segment_is_found_at_once(path: Path, vectors: np.ndarray) -> None:
    with opened(path) as book:
        new = book.remember(Draft(content="the newest entry", vector=-vectors[3]))
        assert ids(book, -vectors[3], k=1) == [new.id]
        assert uses_segment(book)


def test_what_is_forgotten_is_not_found_by_the_segment(path: Path, vectors: np.ndarray) -> None:
    with opened(path) as book:
        assert ids(book, vectors[3], k=1) == ["3"]
        book.forget("3")
        assert "3" not in ids(book, vectors[3], k=50)


def test_a_revised_memory_is_found_by_its_new_vector_only(path: Path, vectors: np.ndarray) -> None:
    with opened(path) as book:
        book.revise("3", vector=-vectors[3])
        assert ids(book, -vectors[3], k=1) == ["3"]
        assert "3" not in ids(book, vectors[3], k=10)


def test_a_narrowed_search_is_exact(path: Path, vectors: np.ndarray) -> None:
    with opened(path) as book:
        book.remember(Draft(content="tagged", id="tagged", tags=["rare"], vector=vectors[9]))
        hits = book.recall("", vector=vectors[5], tags=["rare"], threshold=0)
        assert [hit.memory.id for hit in hits] == ["tagged"]


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_or_missing_segment_changes_no_answer(path: Path, vectors: np.ndarray, damage: bytes | None) -> None:
    segment = wait_for_segment(path)
    if damage is None:
        segment.unlink()
    else:
        segment.write_bytes(damage)
    with opened(path) as book:
        assert ids(book, vectors[3], k=1) == ["3"]


def test_emptying_the_space_leaves_nothing_in_the_segment(path: Path, vectors: np.ndarray) -> None:
    with opened(path) as book:
        book.forget(everything=True)
        assert ids(book, vectors[3]) == []


@pytest.mark.slow
def test_a_program_may_end_while_a_graph_is_built(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    program = f"""
import numpy as np, sys, time, commonplace
from commonplace import Draft, Settings
from commonplace.testing import HashEmbedder
settings = Settings(segment_rows=1000, durability="normal")
book = commonplace.open({str(tmp_path / "large.db")!r}, embedder=HashEmbedder(64), settings=settings)
rows = np.random.default_rng(1).standard_normal((6000, 64)).astype(np.float32)
book.remember([Draft(content=f"entry {{i}}", vector=row) for i, row in enumerate(rows)])
book.recall("", vector=rows[0], threshold=0)
time.sleep(0.2)
if "close" in sys.argv:
    book.close()
"""
    for argument in ("close", "leave"):
        done = subprocess.run([sys.executable, "-c", program, argument], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), argument


def test_a_graph_beside_a_restored_book_is_not_believed(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    path, rng = tmp_path / "book.db", np.random.default_rng(3)
    settings = Settings(segment_rows=300, durability="normal")
    with opened(path, settings) as book:
        book.remember(
            [Draft(content=f"old {i}", vector=v) for i, v in enumerate(rng.standard_normal((200, DIMENSION)))]
        )
        book.backup(tmp_path / "backup.db")
        book.remember(
            [Draft(content=f"lost {i}", vector=v) for i, v in enumerate(rng.standard_normal((400, DIMENSION)))]
        )
        book.recall("", vector=rng.standard_normal(DIMENSION), threshold=0)  # type: ignore[arg-type]
        for _ in range(200):
            if list(Path(f"{path}-hnsw").glob("*.hnsw")):
                break
            time.sleep(0.05)
    for part in ("", "-wal", "-shm"):
        Path(f"{path}{part}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", path)
    with opened(path, settings) as book:
        new = rng.standard_normal((400, DIMENSION))
        made = book.remember([Draft(content=f"new {i}", vector=v) for i, v in enumerate(new)])
        for memory, vector in list(zip(made, new, strict=True))[:50]:
            hits = book.recall("", vector=vector, k=3, threshold=0).hits
            assert memory.id in {hit.memory.id for hit in hits}
