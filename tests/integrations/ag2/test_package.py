"""The import error says what to install."""

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


def test_the_error_says_what_to_install() -> None:
    assert ran(start(MISSING)) == (
        'ag2 commonplace.integrations.ag2 needs the package ag2: pip install "commonplace-memory[ag2]"\n'
    )
