"""A book for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import commonplace


@pytest.fixture
def book(tmp_path: Path) -> Iterator[commonplace.Book]:
    with commonplace.open(tmp_path / "team.db") as opened:
        yield opened
