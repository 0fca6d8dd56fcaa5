"""The embedded store passes the contract of a Book."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import commonplace
from commonplace.learn import StatementExtractor
from commonplace.testing import BookConformance, HashEmbedder
from tests.support import quick

# One for all tests: it keeps the patterns of the words that it has seen.
EMBEDDER = HashEmbedder()
READING = StatementExtractor()
"""Recall does without its reader here, learning does not."""


class TestSqlite(BookConformance):
    tmp_path = quick.tmp_path

    def open(self, place: Path) -> commonplace.Book:
        return commonplace.open(place / "book.db", embedder=EMBEDDER, reader=None, extractor=READING)


def test_no_test_of_the_suite_hides_another() -> None:
    subjects = BookConformance.__mro__[1:]
    names = Counter(name for subject in subjects for name in vars(subject) if name.startswith("test_"))
    assert [name for name, times in names.items() if times > 1] == []
