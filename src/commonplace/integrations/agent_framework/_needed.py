"""Says what to install where Agent Framework is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.util import find_spec

from commonplace.errors import missing_package

PACKAGES = ("agent_framework",)

for _package in PACKAGES:
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            missing_package("commonplace.integrations.agent_framework", _package, "agent-framework"), name=_package
        )
