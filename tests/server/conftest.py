"""One server for all tests of a worker process; each test has its own space."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from importlib.util import find_spec

import httpx
import pytest

from tests.server.server_harness import Running, start

# Schemathesis has no release for Python 3.10.
collect_ignore = [] if find_spec("schemathesis") else ["test_schema.py"]


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    served = start(tmp_path_factory.mktemp("server") / "book.db")
    yield served
    served.stop()


@pytest.fixture
def http(running: Running) -> Iterator[httpx.Client]:
    """A client of a space of the test's own."""
    with httpx.Client(base_url=f"{running.url}/v1/spaces/{uuid.uuid4().hex}", timeout=30) as client:
        yield client
