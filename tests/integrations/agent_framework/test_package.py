"""What a reader is told who has not installed the package."""

from __future__ import annotations

from tests.integrations.processes import ran, start

MISSING = """
import sys
sys.modules["agent_framework"] = None
try:
    import commonplace.integrations.agent_framework
except ModuleNotFoundError as error:
    print(error.name, error)
"""


def test_what_to_install_is_said() -> None:
    assert ran(start(MISSING)) == (
        "agent_framework commonplace.integrations.agent_framework needs the package agent_framework: "
        'pip install "commonplace-memory[agent-framework]"\n'
    )
