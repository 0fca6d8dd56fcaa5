"""Books on both engines, and the processes that share them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.testing import HashEmbedder
from tests.access.keys_harness import Crew
from tests.support import postgres


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The place of an empty book, of each engine."""
    if request.param == "sqlite":
        yield str(tmp_path / "book.db")
        return
    # A role that row-level security binds.
    yield postgres.ORDINARY.url(tmp_path)
    postgres.ORDINARY.release()


@pytest.fixture
def core(where: str) -> Iterator[Core]:
    """The book, open as a server has it."""
    opened = open_core(where, embedder=HashEmbedder())
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def crew() -> Iterator[Crew]:
    """Four processes that do as they are told."""
    hired = Crew(4)
    yield hired
    hired.close()
