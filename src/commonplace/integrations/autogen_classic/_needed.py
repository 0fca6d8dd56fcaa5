"""Says what to install where the classic AutoGen is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

MODULE = "autogen"
WITHOUT = {"pyautogen": "0.10", "ag2": "1.0", "autogen-agentchat": "0.4"}
"""The releases since which distributions that once brought the module no longer do."""


def _installed() -> str:
    found = []
    for name, since in WITHOUT.items():
        try:
            found.append(f"{name} {version(name)} is installed, but since {since} it has no such module. ")
        except PackageNotFoundError:
            continue
    return "".join(found)


if find_spec(MODULE) is None:
    raise ModuleNotFoundError(
        f"commonplace.integrations.autogen_classic needs the module {MODULE} of the classic AutoGen. {_installed()}"
        'Install one of them, and only one: pip install "ag2[openai]<1", or "autogen-agentchat==0.2.40", '
        'or "pyautogen==0.2.35"',
        name=MODULE,
    )
