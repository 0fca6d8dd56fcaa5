"""export, import, backup, stats, check, reindex and demo on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.local import LocalBook
from tests.cli.cli_harness import Cli


@pytest.fixture
def full(cli: Cli, tmp_path: Path) -> Cli:
    """A book with a little of everything."""
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0")
    cli("remember", "We chose FastAPI — over Flask", "--id", "x", "--kind", "decision", "--tag", "web")
    cli("revise", "x", "We chose Litestar", "--reason", "a benchmark")
    cli("remember", "--file", "image.png", "a drawing", "--user", "maria", "--meta", "n=1")
    cli("feedback", "x", "used")
    cli("kv", "set", "release", "plan", '{"step": 1}')
    cli("canvas", "write", "design", "n.md", "text\n")
    cli("transcript", "append", "standup", "Ready?")
    return cli


def records(text: str) -> list[dict[str, Any]]:
    """The records of an export, without the header's time."""
    found = [json.loads(line) for line in text.splitlines()]
    found[0].pop("at")
    return found


@pytest.mark.parametrize("vectors", [(), ("--vectors",)])
def test_what_is_exported_is_imported_without_loss(full: Cli, vectors: tuple[str, ...]) -> None:
    assert "records to out.jsonl" in full("export", "out.jsonl", *vectors).out
    assert full("--book", "copy.db", "import", "out.jsonl").status == 0
    original = records(full("export", *vectors).out)
    assert records(full("export", *vectors, "--book", "copy.db").out) == original
    assert {record["type"] for record in original} == {"header", "memory", "feedback", "entry", "file", "message"}


def test_an_import_reads_stdin_and_leaves_alone_what_is_there(full: Cli) -> None:
    lines = full("export").out
    count = len(lines.splitlines()) - 1
    assert full("--book", "copy.db", "import", "-", "--json", stdin=lines).data == {"loaded": count, "skipped": 0}
    again = full("--book", "copy.db", "import", stdin=lines + "\n\n")
    assert again.out == f"imported 0 records; {count} already existed\n"


def test_an_export_to_a_file_is_whole_or_absent(full: Cli, tmp_path: Path) -> None:
    done = full("export", "out.jsonl", "--json").data
    assert done["records"] == len((tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    assert not list(tmp_path.glob("*.part"))
    assert full("export", "nowhere/out.jsonl").status == 1


def test_an_export_never_overwrites_its_book(full: Cli) -> None:
    assert full("export", "./commonplace.db").status == 2
    assert full("check", "--deep").status == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("not json\n", "in.jsonl, line 1 is not JSON"),
        ('{"type": "header", "commonplace": 1}\n[1]\n', "in.jsonl, line 2 is not a record"),
        ('{"type": "header", "commonplace": 99}\n', "format 99"),
        ('{"type": "memory", "id": "x"}\n', "record 1"),
    ],
)
def test_a_bad_import_takes_in_nothing(cli: Cli, tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "in.jsonl").write_text(text, "utf-8")
    done = cli("import", "in.jsonl")
    assert done.status == 1
    assert complaint in done.err.splitlines()[-1]


def test_import_of_a_missing_file_makes_no_book(cli: Cli, tmp_path: Path) -> None:
    done = cli("import", "missing.jsonl", "--json")
    assert (done.status, done.error["error"]) == (1, "file_error")
    assert "missing.jsonl: No such file" in done.error["message"]
    assert not list(tmp_path.iterdir())


def test_a_backup_is_a_book_and_overwrites_nothing(full: Cli) -> None:
    assert "copied the book to copy.db" in full("backup", "copy.db").out
    assert full("--book", "copy.db", "get", "x", "--json").data["version"] == 2
    assert full("backup", "copy.db").status == 1


def test_stats_count_everything(full: Cli) -> None:
    stats = full("stats", "--json").data
    assert (stats["memories"], stats["versions"], stats["entries"]) == (2, 3, 1)
    assert (stats["files"], stats["messages"]) == (1, 1)
    assert "2 (1 decision, 1 note)" in full("stats").out


def test_check_finds_a_sound_book_sound(full: Cli) -> None:
    assert full("check", "--deep").out.startswith("The book has no problems.\n")
    assert full("check", "--json").data["ok"] is True


def test_check_of_a_book_with_problems_fails(full: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    found = commonplace.Check(problems=("a row has lost its words",), checked={"memory": 3})
    monkeypatch.setattr(LocalBook, "check", lambda book, deep: found)
    done = full("check")
    assert (done.status, done.out) == (1, "problem: a row has lost its words\nchecked: 3 memory\n")
    assert full("check", "--json").data["ok"] is False


def test_reindex_changes_the_embedder(full: Cli) -> None:
    done = full("reindex", "commonplace.db", "--embedder", "none", "--json").data
    assert done["embedder"] == "none"
    assert done["versions"] >= 3
    assert full("list").status == 1
    assert "words-only" in full("stats", "--embedder", "none").out


def test_an_embedder_may_come_from_the_environment(full: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "none")
    mismatch = full("list", "--json")
    assert mismatch.error["error"] == "embedder_mismatch"
    assert full("reindex").status == 0
    assert full("list").status == 0


def test_the_demo_knows_three_answers_and_admits_the_fourth(cli: Cli, tmp_path: Path) -> None:
    answers = cli("demo", "--json").data["answers"]
    assert ["short answers" in answers[0]["text"], "FastAPI" in answers[1]["text"]] == [True, True]
    assert [hit["memory"]["kind"] for hit in answers[2]["avoid"]] == ["failure"]
    assert (answers[3]["coverage"], answers[3]["text"]) == ("unknown", "")
    shown = cli("demo").out
    assert "The book has nothing about this." in shown
    assert "Where to go next" in shown
    assert not list(tmp_path.iterdir())
