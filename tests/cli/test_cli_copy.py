"""copy on the command line."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.cli.cli_harness import Cli, Terminal


@pytest.fixture
def full(cli: Cli) -> Cli:
    """Two spaces with a little of everything."""
    cli("remember", "We chose FastAPI over Flask", "--id", "x", "--kind", "decision", "--tag", "web")
    cli("revise", "x", "We chose Litestar", "--reason", "a benchmark")
    cli("feedback", "x", "used")
    cli("kv", "set", "release", "plan", '{"step": 1}')
    cli("canvas", "write", "design", "n.md", "text\n")
    cli("transcript", "append", "standup", "Ready?")
    cli("remember", "The pager is in the drawer", "--space", "ops", "--id", "y")
    return cli


def test_a_book_is_copied_and_copied_again(full: Cli) -> None:
    done = full("copy", "commonplace.db", "copy.db")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "copied 6 records to copy.db; 0 already existed",
        "verified: 2 memories, 1 feedback, 0 links, 1 entries, 1 files, 1 messages, 0 receipts",
    ]
    assert (
        full("--book", "copy.db", "export", "--vectors").out.splitlines()[1:]
        == (full("export", "--vectors").out.splitlines()[1:])
    )
    again = full("copy", "commonplace.db", "copy.db")
    assert again.out.splitlines()[0] == "copied 0 records to copy.db; 6 already existed"
    assert full("check", "--deep", "--book", "copy.db").status == 0


def test_json_tells_every_part(full: Cli) -> None:
    data = full("copy", "commonplace.db", "copy.db", "--json").data
    assert (data["ok"], data["problems"]) == (True, [])
    first = data["parts"][0]
    assert (first["space"], first["part"], first["records"], first["copied"]) == ("default", "memories", 1, 1)
    assert first["checksum"] == first["found"]
    assert len(data["parts"]) == 14


@pytest.mark.parametrize(
    "words",
    [
        ("copy", "commonplace.db", "copy.db", "--space", "ops"),
        ("--space", "ops", "copy", "commonplace.db", "copy.db"),
        ("--space", "default", "copy", "--space", "ops", "commonplace.db", "copy.db"),
    ],
)
def test_a_space_can_be_named_anywhere(full: Cli, words: tuple[str, ...]) -> None:
    assert {part["space"] for part in full(*words, "--json").data["parts"]} == {"ops"}


def test_several_spaces_can_be_named(full: Cli) -> None:
    done = full("copy", "commonplace.db", "copy.db", "--space", "ops", "--space", "default", "--json")
    assert [part["space"] for part in done.data["parts"][::7]] == ["ops", "default"]
    assert full("copy", "commonplace.db", "copy.db", "--space", "nowhere").status == 1


def test_other_commands_still_take_one_space(full: Cli) -> None:
    assert full("list", "--space", "default", "--space", "ops", "--json").data["memories"][0]["id"] == "y"


def test_what_only_the_target_has_is_named_and_goes_with_mirror(full: Cli) -> None:
    full("copy", "commonplace.db", "copy.db")
    full("forget", "x", "--yes")
    assert "2 records only in copy.db" in full("copy", "commonplace.db", "copy.db").out
    mirrored = full("copy", "commonplace.db", "copy.db", "--mirror")
    assert "removed 1 record that commonplace.db does not have" in mirrored.out
    assert full("--book", "copy.db", "get", "x").status == 1


def test_a_comparison_that_finds_a_difference_fails(full: Cli, tmp_path: Path) -> None:
    full("copy", "commonplace.db", "copy.db")
    assert full("copy", "commonplace.db", "copy.db", "--compare").status == 0
    connection = apsw.Connection(str(tmp_path / "copy.db"))
    connection.execute("UPDATE memory SET text = 'tampered' WHERE version = 2")
    connection.close()
    done = full("copy", "commonplace.db", "copy.db", "--compare")
    assert done.status == 1
    assert "problem: space 'default', memories: of 1 in the source, 0 are missing in the target and 1 differ (x)" in (
        done.out.splitlines()
    )
    assert full("copy", "commonplace.db", "copy.db", "--compare", "--json").data["ok"] is False
    conflict = full("copy", "commonplace.db", "copy.db", "--json")
    assert (conflict.status, conflict.error["error"]) == (1, "conflict")


def test_a_comparison_makes_nothing(full: Cli, tmp_path: Path) -> None:
    done = full("copy", "commonplace.db", "missing.db", "--compare")
    assert done.status == 1
    assert not (tmp_path / "missing.db").exists()


def test_compare_and_mirror_do_not_go_together(full: Cli) -> None:
    assert full("copy", "commonplace.db", "copy.db", "--compare", "--mirror").status == 2


def test_a_missing_source_makes_nothing(cli: Cli, tmp_path: Path) -> None:
    done = cli("copy", "mistyped.db", "copy.db", "--json")
    assert (done.status, done.error["error"]) == (1, "not_found")
    assert not list(tmp_path.iterdir())


def test_another_embedder_is_refused_with_what_to_do(full: Cli) -> None:
    full("--book", "words.db", "--embedder", "none", "remember", "Only words")
    done = full("copy", "commonplace.db", "words.db")
    assert done.status == 1
    assert "reindex" in done.err


def test_a_terminal_shows_the_progress(full: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    full("copy", "commonplace.db", "copy.db")
    assert "copying [" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
