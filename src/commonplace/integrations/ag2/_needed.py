"""Says what to install where AG2 is missing; imported before anything that needs it."""

from __future__ import annotations

from importlib.util import find_spec

from commonplace.errors import missing_package

PACKAGES = ("ag2",)

for _package in PACKAGES:
    if find_spec(_package) is None:
        raise ModuleNotFoundError(missing_package("commonplace.integrations.ag2", _package, "ag2"), name=_package)
