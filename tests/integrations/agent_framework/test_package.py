"""What a reader is told who has not installed the package."""

from __future__ import annotations

from tests.integrations.processes import ran, start

MISSING = """
from importlib import util
found = util.find_spec
util.find_spec = lambda name, *rest: None if name == "agent_framework" else found(name, *rest)
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
