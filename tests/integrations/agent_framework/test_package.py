"""The import error says what to install."""

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


def test_the_error_says_what_to_install() -> None:
    assert ran(start(MISSING)) == (
        "agent_framework commonplace.integrations.agent_framework needs the package agent_framework: "
        'pip install "commonplace-memory[agent-framework]"\n'
    )
