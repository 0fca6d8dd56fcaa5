"""Contents that exceed a limit are rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonplace
from commonplace import Settings, TooLarge
from commonplace.testing import HashEmbedder

NORMAL = Settings(durability="normal")


def opened(path: Path, settings: Settings = NORMAL) -> commonplace.Book:
    return commonplace.open(path, embedder=HashEmbedder(), settings=settings)


def test_a_json_object_that_reads_as_too_much_text_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db") as book:
        with pytest.raises(TooLarge):
            book.remember({"k" * 2000: [0] * 5000})
        assert len(book.list()) == 0


def test_a_patch_cannot_grow_a_file_beyond_the_limit(tmp_path: Path) -> None:
    with opened(tmp_path / "book.db", Settings(max_content_bytes=1000)) as book:
        canvas = book.canvas("c")
        canvas.write("a.txt", "line\n" * 190)
        lines = "".join(f"+{'x' * 100}\n" for _ in range(2))
        with pytest.raises(TooLarge):
            canvas.apply(f"--- a/a.txt\n+++ b/a.txt\n@@ -190,1 +190,3 @@\n line\n{lines}")
        assert canvas.file("a.txt").revision == 1
