"""Says what to install where AutoGen is missing; imported before anything here that needs it."""

from __future__ import annotations

from importlib.util import find_spec

for _package in ("autogen_core", "autogen_agentchat"):
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            f"Teachability, Apprentice and ChatCompletionClientRecorder need the package {_package}: "
            'pip install "commonplace-memory[autogen]"',
            name=_package,
        )
