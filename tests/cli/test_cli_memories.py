"""remember, recall, list, get, revise, history, feedback, forget on the command line."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

import commonplace
from commonplace.cli.console import width
from tests.cli.cli_harness import Cli, Terminal

FRAMEWORK = "We chose FastAPI over Flask because of async support"


def test_what_is_remembered_is_recalled_as_text_for_a_prompt(cli: Cli) -> None:
    done = cli("remember", FRAMEWORK, "--kind", "decision", "--id", "framework")
    assert (done.status, done.out) == (0, "framework\n")
    assert "created a new book at commonplace.db" in done.err
    found = cli("recall", "why did we choose FastAPI?")
    assert found.status == 0
    assert f'decision] "{FRAMEWORK}"' in found.out
    assert "known · 1 memory · " in found.err
    assert "receipt rcpt_" in found.err


def test_nothing_known_is_said_in_so_many_words(cli: Cli) -> None:
    cli("remember", FRAMEWORK)
    found = cli("recall", "who plays the violin?")
    assert (found.status, found.out) == (0, "The book has nothing about this.\n")
    assert "unknown" in found.err


def test_what_does_not_fit_is_not_called_unknown(cli: Cli) -> None:
    cli("remember", FRAMEWORK)
    found = cli("recall", "why did we choose FastAPI?", "--max-tokens", "3")
    assert "do not fit" in found.out


def test_every_option_of_remember_arrives(cli: Cli) -> None:
    options = "--kind fact --tag a --tag b --meta n=0.5 --meta t=plain --importance 0.9 --user u --agent g"
    options += " --session s --source wiki --said-at 2026-01-02T03:04:05Z --ttl 2h --id mine --reason because"
    memory = cli("--json", "remember", "some text", *options.split()).data
    assert memory["id"] == "mine"
    assert (memory["kind"], memory["tags"], memory["importance"]) == ("fact", ["a", "b"], 0.9)
    assert memory["metadata"] == {"n": 0.5, "t": "plain"}
    assert memory["scope"] == {"user": "u", "agent": "g", "session": "s"}
    assert (memory["source"], memory["said_at"]) == ("wiki", "2026-01-02T03:04:05+00:00")
    assert memory["expires_at"] is not None
    assert cli("history", "mine", "--json").data[0]["reason"] == "because"


def test_several_texts_are_several_memories(cli: Cli) -> None:
    done = cli("remember", "the first text", "the second text")
    assert len(done.out.split()) == 2
    assert len(cli("list", "--json").data["memories"]) == 2


def test_an_unquoted_sentence_is_not_taken_for_many_memories(cli: Cli, tmp_path: Path) -> None:
    done = cli("remember", "We", "chose", "FastAPI")
    assert done.status == 2
    assert "put each text in quotes" in done.err
    assert not (tmp_path / "commonplace.db").exists()


@pytest.mark.parametrize("words", [(), ("-",)])
def test_text_comes_from_stdin(cli: Cli, words: tuple[str, ...]) -> None:
    cli("remember", *words, "--id", "x", stdin="two\nlines\n")
    assert cli("get", "x", "--json").data["text"] == "two\nlines"


def test_nothing_to_remember_at_a_terminal_is_misuse(cli: Cli) -> None:
    assert cli("remember", stdin=Terminal()).status == 2


def test_a_file_of_bytes_is_found_by_the_text_given_with_it(cli: Cli, tmp_path: Path) -> None:
    content = b"\x89PNG\r\n\x1a\n\0\xff"
    (tmp_path / "board.png").write_bytes(content)
    cli("remember", "--file", "board.png", "The architecture drawn on the whiteboard", "--id", "board")
    memory = cli("get", "board", "--json").data
    assert base64.b64decode(memory["base64"]) == content
    assert (memory["mime"], memory["source"]) == ("image/png", "board.png")
    assert "whiteboard" in cli("recall", "the architecture on the whiteboard").out


def test_a_text_file_is_remembered_as_text(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("höhe\n", "utf-8")
    cli("remember", "--file", "note.txt", "--id", "note")
    assert cli("get", "note", "--content").out == "höhe\n"


def test_recall_looks_within_and_selects(cli: Cli) -> None:
    cli("remember", "Maria prefers short answers", "--user", "maria", "--tag", "style")
    cli("remember", "Otto prefers long answers", "--user", "otto", "--tag", "style")
    found = cli("recall", "who prefers which answers?", "--user", "otto", "--threshold", "0", "--json").data
    assert [hit["memory"]["scope"]["user"] for hit in found["hits"]] == ["otto"]
    filtered = ("--filter", '{"user": "maria"}', "--tag", "style", "--threshold", "0", "--json")
    found = cli("recall", "answers", *filtered).data
    assert [hit["memory"]["scope"]["user"] for hit in found["hits"]] == ["maria"]


def test_recall_answers_as_of_a_time(cli: Cli) -> None:
    cli("remember", FRAMEWORK)
    assert "FastAPI" in cli("recall", "why FastAPI?", "--order", "time").out
    assert cli("recall", "why FastAPI?", "--as-of", "2020-01-01").out.startswith("The book has nothing")


def test_explain_shows_the_parts_of_each_score(cli: Cli) -> None:
    cli("remember", FRAMEWORK)
    head, row = cli("recall", "why did we choose FastAPI?", "--explain").out.splitlines()
    assert head.split() == "SCORE RELEVANCE MEANING WORDS CERTAINTY RECENCY STRENGTH KIND TEXT".split()
    assert row.endswith(FRAMEWORK)


def test_a_list_is_a_table_as_wide_as_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "along" * 60, "幅の広い文字" * 20, "--tag", "wide")
    monkeypatch.setenv("COLUMNS", "90")
    lines = cli("list").out.splitlines()
    assert lines[0].split() == ["ID", "SAID", "ON", "KIND", "TAGS", "TEXT"]
    assert max(width(line) for line in lines) == 90
    assert all(line.endswith("…") for line in lines[1:])
    monkeypatch.delenv("COLUMNS")
    assert "along" * 60 in cli("list").out


def test_a_list_goes_on_where_a_page_ended(cli: Cli) -> None:
    cli("remember", "the first text", "the second text", "the third text")
    page = cli("list", "--limit", "2", "--order", "oldest", "--json").data
    rest = cli("list", "--limit", "2", "--order", "oldest", "--cursor", page["cursor"], "--json").data
    assert len(page["memories"]) == 2
    assert len(rest["memories"]) == 1
    assert "--cursor" in cli("list", "--limit", "2").err
    assert cli("list", "--kind", "fact").out == "No memories.\n"


def test_a_table_carries_no_control_characters(cli: Cli) -> None:
    cli("remember", "red \x1b[31m alert\nsecond line")
    out = cli("list").out
    assert "\x1b" not in out
    assert "red \\x1b[31m alert second line" in out


def test_a_revision_keeps_what_is_not_named(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x", "--tag", "web")
    done = cli("revise", "x", "--reason", "a benchmark", "We chose Litestar", "--if-version", "1")
    assert done.out == "x is now at version 2\n"
    now = cli("get", "x", "--json").data
    assert (now["text"], now["tags"], now["version"]) == ("We chose Litestar", ["web"], 2)
    assert cli("get", "x", "--version", "1", "--content").out == FRAMEWORK + "\n"
    lines = cli("history", "x").out.splitlines()
    assert "remembered" in lines[1]
    assert "a benchmark" in lines[2]


def test_a_revision_that_lost_the_race_is_refused(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    done = cli("--json", "revise", "x", "other text", "--if-version", "7")
    assert (done.status, done.error["error"]) == (1, "conflict")


def test_a_revision_of_nothing_is_misuse(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    assert cli("revise", "x", "--reason", "why").status == 2


def test_get_shows_every_fact(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x", "--user", "maria", "--meta", "n=1")
    out = cli("get", "x").out
    for fact in ("maria", '{"n": 1}', "importance", FRAMEWORK):
        assert fact in out


def test_feedback_takes_an_id_or_a_receipt(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    receipt = cli("recall", "why FastAPI?", "--json").data["receipt"]
    assert cli("feedback", receipt, "used").out == "1 memory marked used\n"
    assert cli("feedback", "x", "wrong", "--json").data == {"memories": 1}
    assert cli("feedback", "x", "nonsense").status == 2


def test_forget_removes_ids(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    assert cli("forget", "x", "--dry-run").out == "x\nwould forget 1 memory\n"
    assert cli("forget", "x").out == "forgot 1 memory\n"
    assert cli("get", "x").status == 1


def test_forget_selects(cli: Cli) -> None:
    cli("remember", "of maria", "--user", "maria", "--kind", "fact")
    cli("remember", "of all", "--kind", "fact")
    assert cli("forget", "--user", "maria", "--json").data["memories"] == 1
    assert cli("forget", "--kind", "fact", "--filter", '{"importance": {"$gt": 0.9}}', "--json").data["ids"] == []
    cli("kv", "set", "a", "b", "1")
    refused = cli("forget", "--everything")
    assert (refused.status, refused.out) == (2, "")
    assert "needs --yes" in refused.err
    assert cli("forget", "--everything", "--dry-run").out.endswith("would forget 1 memory, 1 entry\n")
    assert cli("forget", "--everything", "--yes").out == "forgot 1 memory, 1 entry\n"


@pytest.mark.parametrize("words", [(), ("x", "--kind", "fact"), ("x", "--everything")])
def test_forget_wants_exactly_one_way(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("forget", *words).status == 2


def test_forget_asks_at_a_terminal(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    refused = cli("forget", "x", stdin=Terminal("n\n"))
    assert refused.status == 1
    assert "Forget 1 memory? This cannot be undone. [y/N]" in refused.err
    assert cli("get", "x").status == 0
    assert cli("forget", "x", stdin=Terminal("y\n")).status == 0
    assert cli("get", "x").status == 1


def test_forget_with_yes_does_not_ask(cli: Cli) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    done = cli("forget", "x", "--yes", stdin=Terminal(""))
    assert (done.status, done.err) == (0, "")


def test_the_space_is_a_wall(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("--space", "ops", "remember", FRAMEWORK, "--id", "x")
    assert cli("get", "x").status == 1
    assert cli("get", "x", "--space", "ops").status == 0
    monkeypatch.setenv("COMMONPLACE_SPACE", "ops")
    assert cli("get", "x").status == 0


def test_the_library_reads_what_the_command_wrote(cli: Cli, tmp_path: Path) -> None:
    cli("remember", FRAMEWORK, "--id", "x")
    with commonplace.open(tmp_path / "commonplace.db") as book:
        assert book.get("x").text == FRAMEWORK
