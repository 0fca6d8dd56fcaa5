"""The embedded store keeps every promise of a Book."""

from __future__ import annotations

from pathlib import Path

import commonplace
from commonplace.testing import BookConformance, HashEmbedder

# One for all tests: it keeps the patterns of the words that it has seen.
EMBEDDER = HashEmbedder()


class TestSqlite(BookConformance):
    def open(self, place: Path) -> commonplace.Book:
        return commonplace.open(place / "book.db", embedder=EMBEDDER)
