"""One server for the tests of each module; each test has its own space."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.services.serving import Served, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served") / "book.db") as running:
        yield running


@pytest.fixture
def space() -> str:
    return f"space-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def at(served: Served, space: str) -> str:
    return served.at(space)
