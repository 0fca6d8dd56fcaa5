"""The example runs as a reader runs it, and again on the same book."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_example_runs_twice_without_a_model(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    example = ROOT / "examples" / "tasks_learning.py"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", str(example), "team.db"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("learned: The right answer is '9'.") == 1
        assert "invoices are always numbered with the year first" in done.stdout
    assert "For a real model change" in example.read_text("utf-8")
