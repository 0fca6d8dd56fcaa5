"""A server that is killed with -9 under load: acknowledged writes are stored once, and no worker survives it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import commonplace

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_a_server_killed_twice_under_load_loses_and_doubles_nothing(tmp_path: Path) -> None:
    # All of it, then its first process alone, whose workers must end by themselves.
    wanted = ["--rounds", "2", "--seconds", "1", "--clients", "8", "--folder", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "server_kill.py"), *wanted],
        env={**os.environ, "PYTHONPATH": str(Path(commonplace.__file__).parents[1])},
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "workers have ended by themselves" in done.stdout
    assert "nothing lost, nothing doubled, nothing in part, no error" in done.stdout
