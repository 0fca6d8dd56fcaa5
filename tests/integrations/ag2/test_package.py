"""What a reader is told who has not installed the package."""

from __future__ import annotations

from tests.integrations.processes import ran, start

MISSING = """
import sys
sys.modules["ag2"] = None
try:
    import commonplace.integrations.ag2
except ModuleNotFoundError as error:
    print(error.name, error)
"""


def test_what_to_install_is_said() -> None:
    assert ran(start(MISSING)) == (
        'ag2 commonplace.integrations.ag2 needs the package ag2: pip install "commonplace-memory[ag2]"\n'
    )
