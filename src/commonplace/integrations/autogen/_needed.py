"""Says what to install where AutoGen is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.util import find_spec

from commonplace.errors import missing_package

PACKAGES = ("autogen_core", "autogen_agentchat")

for _package in PACKAGES:
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            missing_package("commonplace.integrations.autogen", _package, "autogen"), name=_package
        )
