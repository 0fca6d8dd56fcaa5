"""A book behind a server passes the contract of a Book, over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonplace
from commonplace.testing import BookConformance
from tests.remote.serving import Shelves


@pytest.mark.slow
class TestRemote(BookConformance):
    @pytest.fixture(autouse=True)
    def _served(self, shelves: Shelves) -> None:
        self._shelves = shelves

    def open(self, place: Path) -> commonplace.Book:
        return commonplace.open(self._shelves.url(place))
