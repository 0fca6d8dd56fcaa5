"""Says what to install where Agent Framework is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("agent_framework",)

for _package in PACKAGES:
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            f"commonplace.integrations.agent_framework needs the package {_package}: "
            'pip install "commonplace-memory[agent-framework]"',
            name=_package,
        )
