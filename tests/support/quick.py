"""A directory in memory for tests that are not about the disk: a commit does not wait for it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = Path("/dev/shm")  # noqa: S108  # the tests create their own directories in it, as in /tmp
_ROOM = 1 << 30
"""Bytes that must be free there: containers often have 64 MB."""


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty directory, in memory where the system has room there. A killed process loses as little as on a disk."""
    if not _has_room():
        yield tmp_path_factory.mktemp("quick")
        return
    place = Path(tempfile.mkdtemp(prefix="commonplace-", dir=_MEMORY))
    yield place
    shutil.rmtree(place, ignore_errors=True)


def _has_room() -> bool:
    if not os.access(_MEMORY, os.W_OK):
        return False
    found = os.statvfs(_MEMORY)
    return found.f_bavail * found.f_frsize > _ROOM
