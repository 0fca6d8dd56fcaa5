"""kv, canvas and transcript on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cli_harness import Cli, Terminal


@pytest.mark.parametrize(
    ("word", "shown", "value"),
    [
        ('{"step": 1}', '{"step": 1}', {"step": 1}),
        ("plain words", "plain words", "plain words"),
        ("3", "3", 3),
        ('"3"', "3", "3"),
        ("null", "null", None),
        ("NaN", "NaN", "NaN"),
        ("", "", ""),
    ],
)
def test_a_value_is_json_or_text(cli: Cli, word: str, shown: str, value: object) -> None:
    assert cli("kv", "set", "release", "plan", word).out == "plan is at version 1\n"
    assert cli("kv", "get", "release", "plan").out == shown + "\n"
    assert cli("kv", "get", "release", "plan", "--json").data["value"] == value


def test_broken_json_is_refused(cli: Cli, tmp_path: Path) -> None:
    done = cli("kv", "set", "a", "b", '{"step": 1')
    assert done.status == 1
    assert "looks like JSON" in done.err
    assert not (tmp_path / "commonplace.db").exists()


def test_a_value_comes_from_stdin_and_may_start_with_a_dash(cli: Cli) -> None:
    cli("kv", "set", "a", "b", stdin="[1, 2]\n")
    assert cli("kv", "get", "a", "b").out == "[1, 2]\n"
    cli("kv", "set", "a", "b", "--ttl", "5m", "--", "-5")
    entry = cli("kv", "get", "a", "b", "--json").data
    assert entry["value"] == -5
    assert entry["expires_at"] is not None
    assert cli("kv", "set", "a", "b", stdin=Terminal()).status == 2


def test_keys_namespaces_and_deletion(cli: Cli) -> None:
    cli("kv", "set", "a", "one", "1")
    cli("kv", "set", "a", "two", "2")
    assert cli("kv", "list", "--json").data == ["a"]
    assert cli("kv", "keys", "a").out == "one\ntwo\n"
    assert cli("kv", "keys", "a", "t").out == "two\n"
    assert cli("kv", "delete", "a", "two", "--if-version", "1").out == "deleted two\n"
    assert cli("kv", "delete", "a", "two", "--json").data == {"deleted": False}
    missing = cli("kv", "get", "a", "two", "--json")
    assert (missing.status, missing.error["error"]) == (1, "not_found")


def test_append_makes_a_list(cli: Cli) -> None:
    cli("kv", "append", "a", "log", "tests are green", "2")
    assert cli("kv", "append", "a", "log", '{"x": 1}', "--json").data["value"] == ["tests are green", 2, {"x": 1}]
    cli("kv", "set", "a", "text", "words")
    assert cli("kv", "append", "a", "text", "more").status == 1


def test_a_lost_compare_and_set_is_a_conflict(cli: Cli) -> None:
    cli("kv", "set", "a", "b", "1", "--if-version", "0")
    done = cli("kv", "set", "a", "b", "2", "--if-version", "0", "--json")
    assert (done.status, done.error["error"]) == (1, "conflict")


def test_a_canvas_file_comes_back_to_the_last_character(cli: Cli, tmp_path: Path) -> None:
    text = "Goal: fast\r\nno end of line"
    (tmp_path / "notes.md").write_bytes(text.encode())
    assert cli("canvas", "write", "design", "notes.md", "--file", "notes.md").out == "notes.md is at revision 1\n"
    assert cli("canvas", "read", "design", "notes.md").out == text
    cli("canvas", "write", "design", "notes.md", stdin="a\nb\n")
    assert cli("canvas", "read", "design", "notes.md").out == "a\nb\n"
    assert cli("canvas", "read", "design", "notes.md", "--revision", "1", "--json").data["content"] == text


def test_a_diff_can_be_applied(cli: Cli, tmp_path: Path) -> None:
    cli("canvas", "write", "design", "n.md", "a\nb\n", "--author", "ann")
    cli("canvas", "write", "design", "n.md", "a\nc\n", "--author", "bob", "--if-version", "1")
    back = cli("canvas", "diff", "design", "n.md", "2", "1")
    assert back.out.splitlines()[-2:] == ["-c", "+b"]
    (tmp_path / "back.patch").write_text(back.out, "utf-8")
    assert cli("canvas", "apply", "design", "back.patch", "--author", "ann").out == "n.md is at revision 3\n"
    assert cli("canvas", "read", "design", "n.md").out == "a\nb\n"
    stale = cli("canvas", "apply", "design", "--json", stdin=back.out)
    assert (stale.status, stale.error["error"]) == (1, "stale_patch")


def test_files_revisions_and_deletion(cli: Cli) -> None:
    cli("canvas", "write", "design", "n.md", "text", "--author", "ann")
    assert cli("canvas", "list").out == "design\n"
    assert cli("canvas", "files", "design", "--json").data == {"n.md": 1}
    assert cli("canvas", "files", "design").out.split() == ["REVISION", "PATH", "1", "n.md"]
    assert cli("canvas", "delete", "design", "n.md").out == "n.md is deleted\n"
    assert cli("canvas", "files", "design").out == "No files.\n"
    table = cli("canvas", "revisions", "design", "n.md").out
    assert "ann" in table
    assert "(deleted)" in table


def test_a_canvas_file_has_one_text(cli: Cli) -> None:
    assert cli("canvas", "write", "c", "p", "text", "--file", "x").status == 2
    assert cli("canvas", "write", "c", "p", stdin=Terminal()).status == 2


def test_a_transcript_is_kept_verbatim(cli: Cli) -> None:
    cli("transcript", "append", "standup", "Ready?", "--name", "maria", "--meta", "n=1")
    cli("transcript", "append", "standup", "--role", "assistant", "--said-at", "2026-05-04T09:30Z", stdin="Yes\nall\n")
    messages = cli("transcript", "read", "standup", "--json").data
    assert [(m["number"], m["role"], m["content"]) for m in messages] == [
        (1, "user", "Ready?"),
        (2, "assistant", "Yes\nall"),
    ]
    assert messages[0]["metadata"] == {"n": 1}
    assert cli("transcript", "list").out == "standup\n"
    shown = cli("transcript", "tail", "standup", "-n", "1").out
    assert shown == "2  2026-05-04 09:30  assistant\n    Yes\n    all\n"
    assert len(cli("transcript", "read", "standup", "--start", "2", "--limit", "5", "--json").data) == 1
    assert cli("transcript", "read", "other").out == "No messages.\n"
