"""The command line on a book behind a server: the verbs of a Book work, and other commands say where to run them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.cli import main
from tests.remote.serving import EMBEDDER, Shelves

Cli = Callable[..., Any]


@pytest.fixture
def url(shelves: Shelves, tmp_path: Path) -> str:
    (tmp_path / "served").mkdir()
    return shelves.url(tmp_path / "served")


@pytest.fixture
def cli(url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Run a command that must succeed, and return its JSON output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMMONPLACE_BOOK", url)
    # What is said of stores is not meant for a server.
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "none")
    monkeypatch.setenv("COMMONPLACE_RERANKER", "ms-marco-minilm")

    def run(*words: str) -> Any:
        status = main([*words, "--json"])
        told = capsys.readouterr()
        assert (status, told.err) == (0, "")
        return json.loads(told.out)

    return run


def test_a_day_with_a_book_behind_a_server(cli: Cli, tmp_path: Path) -> None:
    assert cli("remember", "We chose FastAPI over Flask", "--kind", "decision", "--id", "m")["id"] == "m"
    assert [hit["memory"]["id"] for hit in cli("recall", "FastAPI or Flask", "--threshold", "0")["hits"]] == ["m"]
    assert cli("revise", "m", "--importance", "0.9")["version"] == 2
    assert (cli("get", "m")["importance"], len(cli("history", "m")), cli("links", "m")) == (0.9, 2, [])
    cli("feedback", "m", "used")
    cli("kv", "set", "n", "k", "[1]")
    cli("kv", "append", "n", "k", "2")
    assert cli("kv", "get", "n", "k")["value"] == [1, 2]
    cli("canvas", "write", "c", "a.md", "text")
    assert cli("canvas", "read", "c", "a.md")["content"] == "text"
    cli("transcript", "append", "s", "hello")
    assert len(cli("transcript", "read", "s")) == 1
    (tmp_path / "talk.txt").write_text("ada: I prefer tea.\n")
    cli("learn", "talk.txt", "--session", "standup")
    assert (cli("jobs"), cli("retry")["queued"]) == ([], 0)
    assert cli("stats")["memories"] >= 2
    assert cli("check", "--deep")["ok"]
    cli("export", str(tmp_path / "out.jsonl"))
    cli("--space", "other", "import", str(tmp_path / "out.jsonl"))
    assert cli("--space", "other", "get", "m")["version"] == 2
    cli("backup", str(tmp_path / "copy.db"))
    with commonplace.open(tmp_path / "copy.db", embedder=EMBEDDER) as copy:
        assert copy.get("m").version == 2
    cli("quarantine", "m", "--reason", "x")
    cli("release", "m")
    cli("prune", "--keep", "0", "--yes")
    cli("forget", "--everything", "--yes")
    assert cli("list")["memories"] == []


@pytest.mark.parametrize(
    "words", [["reindex"], ["work", "--once"], ["copy", "{url}", "copy.db"], ["copy", "copy.db", "{url}"]], ids=" ".join
)
def test_what_needs_the_store_says_to_run_it_beside_the_server(
    cli: Cli, url: str, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    commonplace.open("copy.db", embedder=EMBEDDER).close()
    assert main([word.format(url=url) for word in words]) == 1
    assert "is a server" in capsys.readouterr().err


def test_an_embedder_named_for_a_server_is_refused(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--embedder", "default"]) == 1
    assert "embedder is a setting of the store" in capsys.readouterr().err
