"""One server for all tests of this directory: starting one takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.remote.serving import Shelves
from tests.support import quick

tmp_path = quick.tmp_path


@pytest.fixture(scope="session")
def all_shelves() -> Iterator[Shelves]:
    opened = Shelves()
    yield opened
    opened.release()
    opened.server.stop()


@pytest.fixture
def shelves(all_shelves: Shelves) -> Iterator[Shelves]:
    """Yield a server for as many stores as a test needs, and close them after it."""
    yield all_shelves
    all_shelves.release()
