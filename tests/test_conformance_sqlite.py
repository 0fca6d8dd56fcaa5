"""The embedded store keeps every promise of a Book."""

from __future__ import annotations

from pathlib import Path

import commonplace
from commonplace.testing import BookConformance, HashEmbedder


class TestSqlite(BookConformance):
    def open(self, place: Path) -> commonplace.Book:
        return commonplace.open(place / "book.db", embedder=HashEmbedder())
