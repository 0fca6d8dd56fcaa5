"""What a reader installs and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.processes import ROOT, ran, run_example, start

MISSING = """
from importlib import util
found = util.find_spec
util.find_spec = lambda name, *rest: None if name == "agent_framework" else found(name, *rest)
try:
    import commonplace.adapters.agent_framework
except ModuleNotFoundError as error:
    print(error.name, error)
"""


def test_what_to_install_is_said() -> None:
    assert ran(start(MISSING)) == (
        "agent_framework commonplace.adapters.agent_framework needs the package agent_framework: "
        'pip install "commonplace-memory[agent-framework]"\n'
    )


@pytest.mark.slow
def test_the_example_runs_without_a_model(tmp_path: Path) -> None:
    assert "newcomer: FastAPI, because of async support." in run_example("agent_framework_memory.py", tmp_path)
    assert "For a real model change" in (ROOT / "examples" / "agent_framework_memory.py").read_text("utf-8")
