"""Says what to install where AG2 is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("ag2",)

for _package in PACKAGES:
    if find_spec(_package) is None:
        raise ModuleNotFoundError(
            f'commonplace.integrations.ag2 needs the package {_package}: pip install "commonplace-memory[ag2]"',
            name=_package,
        )
