"""How the command line behaves: help, options, errors, streams, progress, documentation."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.cli import books, build_parser, main
from commonplace.cli.console import Progress, cut, span, table, width
from tests.cli.cli_harness import Cli, Terminal

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
COMMANDS = "remember recall brief list get revise forget history feedback kv canvas transcript"
COMMANDS += " erase users receipts probe"
COMMANDS += " learn links undo work jobs retry prune quarantine release"
COMMANDS += " export import copy stats check backup reindex models postgres demo keys serve mcp"


def parsers(
    parser: argparse.ArgumentParser, name: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command with its parser, those with verbs too."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, inner in action.choices.items():
                yield from parsers(inner, (*name, verb))


EVERY = dict(parsers(build_parser()))


def test_the_commands_are_the_intended_ones() -> None:
    assert {name[0] for name in EVERY if name} == set(COMMANDS.split())


def test_the_name_alone_shows_the_help(cli: Cli) -> None:
    done = cli()
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("usage: commonplace")


@pytest.mark.parametrize("name", EVERY, ids=" ".join)
def test_every_command_has_help(cli: Cli, name: tuple[str, ...]) -> None:
    done = cli(*name, "--help")
    assert done.status == 0
    assert done.out.startswith(f"usage: {' '.join(('commonplace', *name))}")
    assert "--book PATH" in done.out
    assert len(name) == 2 or "examples:" in done.out


def section(name: tuple[str, ...]) -> str:
    """The part of the page about a command: below its heading, or its row in a table."""
    row = re.search(rf"^\| `commonplace {' '.join(name)}\b.*$", PAGE, re.MULTILINE)
    if row:
        return row[0]
    heading = re.search(rf"^### [^\n]*\b{name[0]}\b.*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert heading, f"docs/cli.md does not speak of {' '.join(name)}"
    return heading[0]


@pytest.mark.parametrize("name", [name for name in EVERY if name], ids=" ".join)
def test_every_command_and_option_is_documented(name: tuple[str, ...]) -> None:
    common = PAGE[: PAGE.index("## Memories")]
    told = common + section(name)
    options = {action.option_strings[-1] for action in EVERY[name]._actions if action.option_strings}
    assert [option for option in options if not re.search(rf"(?<![\w-]){option}\b(?!-)", told)] == []


@pytest.mark.parametrize("name", EVERY, ids=" ".join)
def test_the_options_of_the_book_stand_before_and_after_the_command(name: tuple[str, ...]) -> None:
    strings = {string for action in EVERY[name]._actions for string in action.option_strings}
    assert {"--book", "--space", "--embedder", "--json"} <= strings


def test_the_later_option_wins_and_the_environment_comes_last(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_BOOK", "env.db")
    assert "created a new book at env.db" in cli("remember", "some text").err
    assert "created a new book at a.db" in cli("--book", "a.db", "remember", "some text").err
    assert "created a new book at b.db" in cli("--book", "a.db", "remember", "some text", "--book", "b.db").err
    assert "created a new book at c.db" in cli("kv", "--book", "c.db", "set", "a", "b", "1").err


def test_the_version_is_the_package_s(cli: Cli) -> None:
    assert cli("--version").out == f"commonplace {commonplace.__version__}\n"


READING = [
    "recall question", "list", "get x", "revise x text", "forget x", "history x", "feedback x used", "stats",
    "kv get a b", "kv keys a", "kv list", "kv delete a b", "canvas list", "canvas files c", "canvas read c p",
    "canvas diff c p 1", "canvas revisions c p", "canvas delete c p", "transcript list", "transcript read s",
    "transcript tail s", "export", "check", "backup copy.db", "reindex", "reindex other.db", "links x", "undo x y",
    "work", "work --once", "jobs", "retry", "prune --keep 1", "quarantine x --reason y", "release x",
    "erase --user x --yes", "users", "receipts", "receipts verify", "probe --person x",
    "keys list", "keys rotate x", "keys revoke x", "keys usage x",
]  # fmt: skip


@pytest.mark.parametrize("words", READING)
def test_reading_makes_no_book(cli: Cli, tmp_path: Path, words: str) -> None:
    done = cli(*words.split())
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("commonplace: there is no book at ")
    assert not list(tmp_path.iterdir())


WRITING = ["remember text", "kv set a b 1", "kv append a b 1", "canvas write c p text", "transcript append s text"]


@pytest.mark.parametrize("words", WRITING)
def test_writing_makes_a_book_and_says_so_once(cli: Cli, words: str) -> None:
    assert cli(*words.split()).err == "commonplace: created a new book at commonplace.db\n"
    assert cli(*words.split()).err == ""


def test_with_json_every_line_of_stderr_is_json(cli: Cli) -> None:
    assert cli("--json", "remember", "some text").error == {"remark": "created a new book at commonplace.db"}


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ("nonsense", 2, "usage"),
        ("get", 2, "usage"),
        ("list --kind nonsense", 2, "usage"),
        ("recall x --as-of yesterday", 2, "usage"),
        ("recall x --filter [1]", 2, "usage"),
        ("recall x --filter {", 2, "usage"),
        ("remember x --ttl soon", 2, "usage"),
        ("remember x --ttl -5", 2, "usage"),
        ("remember x --meta nothing", 2, "usage"),
        ("remember x --origin nobody", 2, "usage"),
        ("remember x --importance 7", 1, "invalid_input"),
        ("links nothing", 1, "not_found"),
        ("undo nothing other", 1, "not_found"),
        ("retry 7", 1, "not_found"),
        ("prune --weaker-than -1", 1, "invalid_input"),
        ("learn missing.txt", 1, "file_error"),
        ('list --filter {"nonsense":1}', 1, "invalid_filter"),
        ("get nothing", 1, "not_found"),
        ("list --space commonplace:x", 1, "invalid_input"),
        ("list --embedder nonsense", 1, "invalid_input"),
        ("list --cursor nonsense", 1, "invalid_input"),
        ("list --book .", 1, "store_unavailable"),
        ("list --book redis://x", 1, "invalid_input"),
        ("remember x --book missing/x.db", 1, "store_unavailable"),
        ("remember x --file missing.txt", 1, "file_error"),
    ],
)
def test_an_error_is_one_line_with_its_code(cli: Cli, words: str, status: int, code: str) -> None:
    cli("remember", "some text")
    plain = cli(*words.split())
    assert (plain.status, plain.out) == (status, "")
    first, *rest = plain.err.splitlines()
    assert first.startswith("commonplace: ")
    assert len(rest) <= (status == 2)
    told = cli(*words.split(), "--json")
    assert (told.status, told.error["error"]) == (status, code)
    assert told.error["message"]


def test_a_file_of_another_kind_is_not_taken_for_a_book(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 100, "utf-8")
    assert cli("list", "--book", "notes.txt", "--json").error["error"] == "not_a_book"


def test_a_bug_is_a_sentence_and_its_trace_is_there_on_demand(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(where: str) -> str:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(books, "ensure_exists", broken)
    done = cli("list")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "unexpected ZeroDivisionError: oh" in done.err
    monkeypatch.setenv("COMMONPLACE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["list"])


def test_an_interrupt_ends_quietly(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(where: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(books, "ensure_exists", interrupted)
    done = cli("list")
    assert (done.status, done.err) == (130, "commonplace: interrupted\n")


def test_a_terminal_gets_no_control_characters_from_memories(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "evil \x1b[2J text", "--id", "x")
    assert "\x1b" in cli("get", "x", "--content").out
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["get", "x", "--content"]) == 0
    assert screen.getvalue() == "evil \\x1b[2J text\n"


def test_json_on_a_terminal_is_indented(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("kv", "set", "a", "b", "1")
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["kv", "list", "--json"]) == 0
    assert screen.getvalue() == '[\n  "a"\n]\n'


def test_progress_is_drawn_only_for_somebody(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "some text")
    assert "embedding" not in cli("reindex").err
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["reindex"]) == 0
    assert "embedding [########################] 100%" in screen.getvalue()


def test_a_bar_shows_rate_and_time_left() -> None:
    now = [0.0]
    bar = Progress("embedding", stream=Terminal(), clock=lambda: now[0])
    bar.update(100, 1100)  # an earlier run's
    now[0] = 10.0
    bar.update(600, 1100)
    assert bar.line() == "embedding [#############           ]  55%  600/1,100  50/s  10s left"


def test_a_bar_without_a_total_counts() -> None:
    now = [0.0]
    stream = Terminal()
    with Progress("exporting", stream=stream, clock=lambda: now[0]) as bar:
        for _ in bar.over(range(5000)):
            now[0] += 0.001
    assert stream.getvalue().endswith("exporting 5,000  1,000/s\n")
    assert stream.getvalue().count("\r") < 60


@pytest.mark.parametrize(("seconds", "shown"), [(0.4, "0s"), (59, "59s"), (200, "3m20s"), (3900, "1h05m")])
def test_a_span_is_short(seconds: float, shown: str) -> None:
    assert span(seconds) == shown


def test_a_table_counts_wide_and_combining_characters() -> None:
    assert (width("日本"), width("e\u0301")) == (4, 1)
    assert cut("日本語", 5) == "日本…"
    heads = ("A:>", "EMPTY", "TEXT:4")
    shown = table(heads, [("1", "", "日本語日本語"), ("22", "", "abc")], limit=12)
    assert shown.splitlines() == [" A  TEXT", " 1  日本語…", "22  abc"]


# -- the real program ------------------------------------------------------------------------------


def start(*words: str, cwd: Path, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "commonplace", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    return subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options
    )


def run(*words: str, cwd: Path, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    process = start(*words, cwd=cwd, stdin=subprocess.PIPE)
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out, err


@pytest.mark.slow
def test_the_program_remembers_bytes_of_utf8_from_a_pipe(tmp_path: Path) -> None:
    assert run("remember", "-", "--id", "x", cwd=tmp_path, stdin="Größe ≥ 3\n".encode())[0] == 0
    status, out, err = run("get", "x", "--content", cwd=tmp_path)
    assert (status, out.decode(), err) == (0, "Größe ≥ 3\n", b"")


def test_the_program_refuses_bytes_that_are_no_text(tmp_path: Path) -> None:
    status, out, err = run("remember", "-", cwd=tmp_path, stdin=b"\xff\xfe")
    assert (status, out) == (1, b"")
    assert err == b"commonplace: stdin is not UTF-8 text: invalid start byte at byte 0\n"


@pytest.mark.slow
def test_the_program_gives_bytes_back_exactly(tmp_path: Path) -> None:
    content = bytes(range(256))
    (tmp_path / "all.bin").write_bytes(content)
    run("remember", "--file", "all.bin", "every byte", "--id", "x", cwd=tmp_path)
    assert run("get", "x", "--content", cwd=tmp_path)[1] == content


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "commonplace.db", embedder="none") as book:
        book.remember([f"text number {i} " * 50 for i in range(1000)])
    process = start("--embedder", "none", "export", cwd=tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(120) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.slow
def test_an_interrupted_program_ends_with_130(tmp_path: Path) -> None:
    code = "import sys; from commonplace.cli import main; print(flush=True); sys.exit(main(['remember', '-']))"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # now it has started
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # and now it waits for stdin
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"commonplace: interrupted\n")


def test_the_command_line_itself_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, types, importlib.util as u\n"
        "spec = u.find_spec('commonplace')\n"
        "package = types.ModuleType('commonplace'); package.__version__ = ''\n"
        "package.__path__ = list(spec.submodule_search_locations)\n"
        "sys.modules['commonplace'] = package\n"
        "from commonplace.cli import main\n"
        "assert main(['--help']) == 0\n"
        "assert not {'numpy', 'apsw', 'commonplace.book'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, timeout=60)
