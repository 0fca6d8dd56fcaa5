"""Integrations use the public names of commonplace, and nothing behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import commonplace

ROOT = Path(commonplace.__file__).parent / "integrations"
FILES = sorted(ROOT.rglob("*.py"))
PACKAGES = ("commonplace.learn", "commonplace.models.embedders")
"""Packages whose names are public."""
VOCABULARY = ("errors", "values", "settings", "filters", "wire", "integrations")


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import of commonplace."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "commonplace":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "commonplace")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_public_names_are_imported(path: Path) -> None:
    for module, name in imported_names(path):
        assert not name.startswith("_") or name == "__version__", name
        if module == "commonplace":
            assert not name or name in VOCABULARY or name in commonplace.__all__, name
        elif module in PACKAGES:
            assert name in import_module(module).__all__, name
        else:
            assert module.split(".")[1] in VOCABULARY, module
