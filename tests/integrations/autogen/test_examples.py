"""The examples for AutoGen run as a reader runs them, and again on the same book."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAYS = {
    "autogen_memory.py": "newcomer: FastAPI, because of async support.",
    "autogen_team.py": "messages were on disk before",
    "autogen_canvas.py": "by editor: A hare met a sunflower called Sunny.",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SAYS))
def test_an_example_runs_without_a_model(tmp_path: Path, name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", str(ROOT / "examples" / name), "team.db"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert SAYS[name] in done.stdout
        assert "For a real model change" in (ROOT / "examples" / name).read_text("utf-8")


def test_every_example_is_run_here() -> None:
    found = {path.name for path in (ROOT / "examples").glob("autogen_*.py")}
    assert {name for name in found if not name.startswith("autogen_classic_")} == set(SAYS)
