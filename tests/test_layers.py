"""Rooms and names: every import points down, doors use public names, and a name means one thing."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "commonplace"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
MOST_ROOT_MODULES = 14


def load_shape() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shape", ROOT / "tools" / "shape.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shape = load_shape()


def test_every_import_points_down() -> None:
    assert shape.wrong_imports() == []


def test_the_check_of_imports_sees_imports_inside_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "terms.py").write_text("def late():\n    from commonplace.store import base\n", "utf-8")
    monkeypatch.setattr(shape, "PACKAGE", tmp_path)
    assert shape.wrong_imports() == ["text/terms.py:2: text -> store"]


def test_every_room_has_a_layer() -> None:
    rooms = {shape.room_of(path) for path in shape.files()}
    assert rooms == {room for layer in shape.LAYERS for room in layer}


def test_the_root_holds_few_modules() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_ROOT_MODULES


def test_no_module_imports_private_names_of_another() -> None:
    wrong = []
    for path in shape.files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("commonplace"):
                wrong += [f"{path.name}: {alias.name}" for alias in node.names if re.match(r"_[^_]", alias.name)]
    assert wrong == []


def definitions(*kinds: type[ast.AST]) -> list[tuple[Path, ast.AST]]:
    return [
        (path, node)
        for path in shape.files()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, kinds)
    ]


def test_a_public_class_name_means_one_thing() -> None:
    """Integrations are left out: their classes have the names that the frameworks and services gave them."""
    names = Counter(
        node.name
        for path, node in definitions(ast.ClassDef)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and shape.room_of(path) != "integrations"
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_modules_are_named_by_nouns() -> None:
    gerunds = [str(path.relative_to(PACKAGE)) for path in shape.files() if path.stem.endswith("ing")]
    assert gerunds == []


@pytest.mark.slow
def test_docstrings_begin_with_a_verb_or_the_thing() -> None:
    wrong = []
    for path, node in definitions(ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
        assert isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if (ast.get_docstring(node) or "").startswith("What "):
            wrong.append(f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)}")
    assert wrong == []


def test_the_picture_shows_every_room() -> None:
    picture = ARCHITECTURE.read_text("utf-8").split("```text", 1)[1].split("```", 1)[0]
    words = set(re.findall(r"[a-z_]+", picture))
    assert {room for layer in shape.LAYERS for room in layer} - {"__main__"} <= words
