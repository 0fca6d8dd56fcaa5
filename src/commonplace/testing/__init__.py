"""What commonplace ships for the tests of others."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.testing.conformance import BookConformance
    from commonplace.testing.embedders import HashEmbedder
    from commonplace.testing.machine import BookMachine, machine_for

__all__ = ["BookConformance", "BookMachine", "HashEmbedder", "machine_for"]

# Imported when first asked for, so that one tool does not bring along what another needs.
_HOMES = {
    "BookConformance": ".conformance",
    "BookMachine": ".machine",
    "HashEmbedder": ".embedders",
    "machine_for": ".machine",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
