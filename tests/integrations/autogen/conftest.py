"""A book for each test, and AutoGen's own memories, whose packages `make` installs separately."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import commonplace
from tests.services.serving import CLIENTS

os.environ["MEM0_TELEMETRY"] = os.environ["ANONYMIZED_TELEMETRY"] = "False"
# At the end: what the development environment has, it has.
sys.path.append(str(CLIENTS / "autogen-memories"))


@pytest.fixture
def book(tmp_path: Path) -> Iterator[commonplace.Book]:
    with commonplace.open(tmp_path / "team.db") as opened:
        yield opened
