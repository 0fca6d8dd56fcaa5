"""Tools for the tests of programs that use a book, and of stores that keep one."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.testing.contract import BookConformance
    from commonplace.testing.contract.machine import BookMachine, machine_for
    from commonplace.testing.embedders import HashEmbedder

__all__ = ["BookConformance", "BookMachine", "HashEmbedder", "machine_for"]

# Imported on first use, so that one tool does not bring along what another needs.
_HOMES = {
    "BookConformance": ".contract",
    "BookMachine": ".contract.machine",
    "HashEmbedder": ".embedders",
    "machine_for": ".contract.machine",
}

# The wheel carries the contract suite beside this file; in a source checkout it lies with the tests.
_CHECKOUT = Path(__file__).parents[3] / "tests"
if (_CHECKOUT / "contract").is_dir():
    __path__.append(str(_CHECKOUT))


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
