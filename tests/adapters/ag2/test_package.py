"""What a reader installs and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.processes import ROOT, ran, run_example, start

MISSING = """
import sys
sys.modules["ag2"] = None
from importlib import util
found = util.find_spec
util.find_spec = lambda name, *rest: None if name == "ag2" else found(name, *rest)
try:
    import commonplace.adapters.ag2
except ModuleNotFoundError as error:
    print(error.name, error)
"""


def test_what_to_install_is_said() -> None:
    assert ran(start(MISSING)) == (
        'ag2 commonplace.adapters.ag2 needs the package ag2: pip install "commonplace-memory[ag2]"\n'
    )


@pytest.mark.slow
def test_the_example_runs_without_a_model(tmp_path: Path) -> None:
    assert "newcomer: FastAPI, because of async support." in run_example("ag2_memory.py", tmp_path)
    assert "For a real model change" in (ROOT / "examples" / "ag2_memory.py").read_text("utf-8")
