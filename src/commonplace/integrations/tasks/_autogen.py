"""Says what to install where AutoGen is missing; imported before anything here that needs it."""

from __future__ import annotations

from importlib.util import find_spec

from commonplace.errors import missing_package

for _package in ("autogen_core", "autogen_agentchat"):
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            missing_package("each of Teachability, Apprentice and ChatCompletionClientRecorder", _package, "autogen"),
            name=_package,
        )
