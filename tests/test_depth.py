"""Limits on the files that a verb executes, and on the frames between the verb and its SQL."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHAPE = ROOT / "tools" / "shape.py"
ARCHITECTURE = ROOT / "docs" / "architecture.md"

pytestmark = pytest.mark.slow


# A recall reads with a model: six files are the reader, what it is shown, and the verdict on what it says.
MOST_FILES = {"remember": 14, "recall": 26, "recall over HTTP": 35, "AutoGen update_context": 32}
MOST_FRAMES = 7
"""Frames of ours from the verb to an SQL statement."""


@pytest.fixture(scope="module")
def executed() -> dict[str, dict[str, Any]]:
    """Run tools/shape.py in a process without other threads; each recall comes right after a write."""
    command = [sys.executable, "-W", "ignore", str(SHAPE), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)["executed"]
    return found


@pytest.mark.parametrize("verb", MOST_FILES)
def test_a_verb_executes_few_files(executed: dict[str, dict[str, Any]], verb: str) -> None:
    if verb not in executed:
        pytest.skip(f"a package that {verb} needs is not installed")
    assert executed[verb]["files"] <= MOST_FILES[verb], executed[verb]["which"]


@pytest.mark.parametrize("verb", ["remember", "recall"])
def test_a_verb_is_near_to_its_sql(executed: dict[str, dict[str, Any]], verb: str) -> None:
    assert 0 < executed[verb]["frames"] <= MOST_FRAMES


@pytest.mark.parametrize("verb", ["remember", "recall"])
def test_the_documented_walk_names_the_files_that_run(executed: dict[str, dict[str, Any]], verb: str) -> None:
    section = ARCHITECTURE.read_text("utf-8").split(f"\n## The walk of `{verb}`\n", 1)[1].split("\n## ", 1)[0]
    assert sorted(set(re.findall(r"`([a-z_/]+\.py)`", section))) == sorted(executed[verb]["which"])
