"""The shared store agrees with a simple model after any operations in any order."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings

import commonplace
from commonplace.testing import HashEmbedder, machine_for
from tests.support.postgres import SCHEMAS

EMBEDDER = HashEmbedder()


def open_book(place: Path) -> commonplace.Book:
    return commonplace.open(SCHEMAS.url(place), embedder=EMBEDDER)


class Machine(machine_for(open_book)):  # type: ignore[misc]  # made when this file is read
    def teardown(self) -> None:
        super().teardown()
        SCHEMAS.release()


TestPostgresMachine = Machine.TestCase
TestPostgresMachine.settings = settings(
    max_examples=6,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
