"""Says what to install where AutoGen is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("autogen_core", "autogen_agentchat")

for _package in PACKAGES:
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            f'commonplace.integrations.autogen needs the package {_package}: pip install "commonplace-memory[autogen]"',
            name=_package,
        )
