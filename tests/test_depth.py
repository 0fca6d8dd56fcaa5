"""How many of our files a verb executes, and how many of our frames lie between the verb and its SQL."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SHAPE = Path(__file__).resolve().parent.parent / "tools" / "shape.py"


class Limit(NamedTuple):
    """A limit that holds now, and the budget that it must fall to."""

    now: int
    budget: int


FILES = {
    "remember": Limit(now=14, budget=14),
    "recall": Limit(now=21, budget=20),
    "recall over HTTP": Limit(now=30, budget=30),
    "AutoGen update_context": Limit(now=28, budget=28),
}
FRAMES = {"remember": Limit(now=6, budget=6), "recall": Limit(now=6, budget=6)}


@pytest.fixture(scope="module")
def executed() -> dict[str, dict[str, Any]]:
    """What each verb executes on a book in use, each recall right after a write; in a process without other threads."""
    command = [sys.executable, "-W", "ignore", str(SHAPE), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)["executed"]
    return found


@pytest.mark.parametrize("verb", FILES)
def test_a_verb_executes_few_files(executed: dict[str, dict[str, Any]], verb: str) -> None:
    if verb not in executed:
        pytest.skip(f"a package that {verb} needs is not installed")
    assert executed[verb]["files"] <= max(FILES[verb]), executed[verb]["which"]


@pytest.mark.parametrize("verb", FRAMES)
def test_a_verb_is_near_to_its_sql(executed: dict[str, dict[str, Any]], verb: str) -> None:
    assert 0 < executed[verb]["frames"] <= max(FRAMES[verb])
