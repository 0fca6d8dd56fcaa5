"""Every example in README.md and docs/ is run, in order, as a reader would run it.

The blocks of one file share one namespace, one temporary working directory and one environment:

- `python` is executed; `await` works at the top level;
- `bash` is a list of commands, and `console` shows commands after `$` with their output below, which is
  compared loosely: white space does not count and `…` stands for anything; what needs a shell gets one;
- a line that starts a tool which a reader runs beforehand (pip, make, git …) is left out; any other line that
  does not run commonplace fails, so that nothing is left out unnoticed;
- a block below `<!-- not run: reason -->` is left out;
- the python of a page with `<!-- with: name -->` runs in a process of its own, beside the packages of that client
  (requirements/clients).
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.cli import main
from tests.services.serving import run_client

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]

RUNNABLE = ("python", "bash", "console")
LEFT_OUT: tuple[str, ...] = ("pip", "pipx", "uv", "make", "git", "cd", "python -m pip", "python -m venv")
LEFT_OUT += ("python3 -m pip", "python3 -m venv", "source", ".")

FENCE = re.compile(r"(?ms)^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^(?P=indent)```\s*?$")
MARKER = re.compile(r"<!-- not run: (?P<reason>\S[^\n]*?\S) -->\s*\Z")
WITH = re.compile(r"<!-- with: (?P<client>\S+) -->")
PLAIN = re.compile(r"commonplace (?:'[^']*'|\"[^\"$`\\]*\"|[^'\"|&;<>$`*?~(){}\\])*")
"""One command of ours, with nothing that only a shell understands."""
RUNS_COMMONPLACE = re.compile(r"(?:^|[|&;(]\s*)(?:\w+=\S+ +)*(?:python3? -m )?commonplace\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced example; `line` is where its code starts, counted from 1."""

    language: str
    code: str
    line: int
    not_run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Runs the blocks of one page, one after the other."""

    page: Path
    directory: Path
    environment: dict[str, str]
    loop: asyncio.AbstractEventLoop
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, block: Block) -> None:
        if block.language == "python":
            self.run_python(block)
        else:
            for line, command, shown in commands(block):
                self.run_command(command, shown, place=f"{self.page.name}:{line}")

    def run_python(self, block: Block) -> None:
        # Empty lines above make every traceback point at the line of the page.
        source = "\n" * (block.line - 1) + block.code
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(source, str(self.page), "exec", flags=flags, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            self.loop.run_until_complete(eval(code, self.names))  # noqa: S307 - our own documentation
        else:
            exec(code, self.names)

    def run_command(self, command: str, shown: str, *, place: str) -> None:
        if export := re.fullmatch(r"export (\w+)=(\S*)", command):
            self.environment[export[1]] = export[2].strip("\"'")
            return
        if is_left_out(command):
            return
        assert RUNS_COMMONPLACE.search(command), f"{place}: no rule for {command!r}; mark the block?"
        status, printed = self.in_process(command) if PLAIN.fullmatch(command) else self.in_shell(command)
        assert status == 0, f"{place}: {command} exits with {status}\n{printed}"
        assert matches(shown, printed), f"{place}: the page shows\n{shown}\nbut it prints\n{printed}"

    def in_process(self, command: str) -> tuple[int, str]:
        """The same function that the program calls; a page of sixty commands need not start Python sixty times."""
        printed = io.StringIO()
        outside = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                return main(shlex.split(command)[1:]), printed.getvalue()
        finally:
            os.environ.clear()
            os.environ.update(outside)

    def in_shell(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    def close(self) -> None:
        """Close what the page left open: a reader's program would end here."""
        for value in self.names.values():
            if isinstance(value, commonplace.Book):
                value.close()
            elif isinstance(value, commonplace.AsyncBook):
                self.loop.run_until_complete(value.close())
        self.loop.close()


def blocks_of(text: str) -> list[Block]:
    """All runnable blocks of a page, in order."""
    found = []
    for match in FENCE.finditer(text):
        marker = MARKER.search(text, 0, match.start())
        block = Block(
            language=match["language"],
            code=textwrap.dedent(match["code"]),
            line=text.count("\n", 0, match.start("code")) + 1,
            not_run=marker["reason"] if marker else None,
        )
        if block.language in RUNNABLE:
            found.append(block)
    return found


def commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """Each command of a shell block: its line on the page, itself, and the output shown below it."""
    lines = block.code.splitlines()
    prompted = block.language == "console" or any(line.startswith("$ ") for line in lines)
    position = 0
    while position < len(lines):
        start = position
        command = lines[position]
        while command.endswith("\\"):
            position += 1
            command = command[:-1] + lines[position].removeprefix("> ")
        position += 1
        shown: list[str] = []
        if prompted:
            assert command.startswith("$ "), f"line {block.line + start}: no command above {command!r}"
            while position < len(lines) and not lines[position].startswith("$ "):
                shown.append(lines[position])
                position += 1
        command = re.sub(r"(^|\s+)#.*", "", command.removeprefix("$ ")).strip()
        if command:
            yield block.line + start, command, "\n".join(shown)


def is_left_out(command: str) -> bool:
    """Return whether a command belongs to the reader's preparation."""
    return any(command == tool or command.startswith(f"{tool} ") for tool in LEFT_OUT)


def matches(shown: str, printed: str) -> bool:
    """Whether the output is the one shown; nothing shown matches everything."""
    if not shown.strip():
        return True
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("…")]
    pattern = ".*?".join(rf"\s*{part}\s*" for part in parts)
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


@pytest.fixture
def directory() -> Iterator[Path]:
    """A reader's directory: others may pass through it, as a PostgreSQL must that root starts."""
    with tempfile.TemporaryDirectory(prefix="commonplace-reader-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture
def reader(request: pytest.FixtureRequest, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(directory)
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    plain = {"PATH": path, "COLUMNS": "110", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    reader = Reader(
        page=getattr(request, "param", directory / "page.md"),
        directory=directory,
        environment={**os.environ, **plain},
        loop=asyncio.new_event_loop(),
    )
    yield reader
    reader.close()


def page_marks(page: Path) -> list[pytest.MarkDecorator]:
    """`slow` for a page of a hundred commands, `clients` for one that needs another maker's package."""
    marks = [pytest.mark.slow] if page.name == "cli.md" else []
    return [*marks, pytest.mark.clients] if WITH.search(page.read_text("utf-8")) else marks


@pytest.mark.parametrize(
    "reader",
    [pytest.param(page, marks=page_marks(page)) for page in PAGES],
    indirect=True,
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_every_example_on_the_page_runs(reader: Reader) -> None:
    run_page(reader, reader.page.read_text("utf-8"))


def test_the_readme_starts_with_an_example_that_runs() -> None:
    blocks = blocks_of((ROOT / "README.md").read_text("utf-8"))
    assert any(block.language == "python" and block.not_run is None for block in blocks)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_mark_on_the_page_gives_its_reason_and_stands_above_a_block(page: Path) -> None:
    text = page.read_text("utf-8")
    reasons = [block.not_run for block in blocks_of(text) if block.not_run is not None]
    assert len(reasons) == len(re.findall(r"<!--\s*not.run", text, re.IGNORECASE))


def run_page(reader: Reader, text: str) -> None:
    blocks = [block for block in blocks_of(text) if block.not_run is None]
    if client := WITH.search(text):
        run_apart([block for block in blocks if block.language == "python"], client["client"], reader)
        blocks = [block for block in blocks if block.language != "python"]
    for block in blocks:
        reader.run(block)


def run_apart(blocks: list[Block], client: str, reader: Reader) -> None:
    """Run the python of a page as one program, with the line numbers of the page."""
    lines: list[str] = []
    for block in blocks:
        lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
    source = str(Path(commonplace.__file__).parent.parent)
    run_client("\n".join(lines), client, cwd=reader.directory, PYTHONPATH=source, PYTHONWARNINGS="ignore")


def test_blocks_share_names_and_may_await(reader: Reader) -> None:
    page = "```python\nimport asyncio\nx = 1\n```\n"
    page += "1. then\n\n   ```python\n   await asyncio.sleep(0)\n   y = x + 1\n   ```\n"
    run_page(reader, page)
    assert reader.names["y"] == 2


def test_a_failing_block_is_blamed_on_its_line_of_the_page(reader: Reader) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_page(reader, "# Title\n\n```python\nx = 1\nx / 0\n```\n")
    last = caught.traceback[-1]
    assert (str(last.path), last.lineno + 1) == (str(reader.page), 5)


def test_a_marked_block_is_left_out_and_the_next_one_is_not() -> None:
    blocks = blocks_of("<!-- not run: needs a server -->\n```python\n1\n```\n\n```python\n2\n```\n")
    assert [block.not_run for block in blocks] == ["needs a server", None]


def test_a_command_that_nobody_runs_is_an_error(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="no rule for 'rm -rf everything'"):
        run_page(reader, "```bash\npip install commonplace   # once\nrm -rf everything\n```\n")


def test_a_console_block_is_commands_with_their_output() -> None:
    page = "```console\n$ commonplace stats \\\n> --json\n{…}\n\n$ commonplace check  # sound?\n```\n"
    (block,) = blocks_of(page)
    assert list(commands(block)) == [(2, "commonplace stats --json", "{…}\n"), (6, "commonplace check", "")]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("", "anything", True),
        ("a  b\n", "  a b", True),
        ("id …  note", "id 0197f3  note\n", True),
        ("id …", "id 0197f3\nand more", True),
        ("a b", "a c", False),
        ("a", "a\nb", False),
        ("… b", "b c", False),
    ],
)
def test_output_is_compared_loosely(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same
