"""The embedded store agrees with a simple model after any operations in any order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import commonplace
from commonplace.testing import HashEmbedder, machine_for

EMBEDDER = HashEmbedder()


def open_book(place: Path) -> commonplace.Book:
    # What a power cut would take is no subject here, and thousands of writes are quicker without it.
    quick = commonplace.Settings(durability="normal")
    return commonplace.open(place / "book.db", embedder=EMBEDDER, settings=quick)


pytestmark = pytest.mark.slow
TestSqliteMachine = machine_for(open_book).TestCase
TestSqliteMachine.settings = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
