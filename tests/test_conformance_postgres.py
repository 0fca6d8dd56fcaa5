"""The shared store passes the contract of a Book, on a real PostgreSQL with row-level security."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import commonplace
from commonplace.learn import StatementExtractor
from commonplace.testing import BookConformance, HashEmbedder
from tests.support.postgres import ORDINARY

EMBEDDER = HashEmbedder()
READING = StatementExtractor()


class TestPostgres(BookConformance):
    @pytest.fixture(autouse=True)
    def _emptied(self) -> Iterator[None]:
        yield
        ORDINARY.release()

    def open(self, place: Path) -> commonplace.Book:
        return commonplace.open(ORDINARY.url(place), embedder=EMBEDDER, reader=None, extractor=READING)
