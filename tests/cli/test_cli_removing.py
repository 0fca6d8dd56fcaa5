"""prune, quarantine and release on the command line; forget is tested with the memories."""

from __future__ import annotations

import pytest

from tests.cli.cli_harness import Cli, Terminal


@pytest.fixture
def notes(cli: Cli) -> Cli:
    """Five notes, each more important than the one before."""
    for number in range(1, 6):
        cli("remember", f"note number {number}", "--id", f"n{number}", "--importance", f"0.{number}")
    return cli


def left(cli: Cli) -> list[str]:
    return sorted(memory["id"] for memory in cli("list", "--json").data["memories"])


def test_prune_shows_what_would_go_and_forgets_with_yes(notes: Cli) -> None:
    shown = notes("prune", "--keep", "3")
    assert shown.status == 0
    assert [line.split()[0] for line in shown.out.splitlines()] == ["ID", "n1", "n2", "would"]
    assert shown.err == "commonplace: nothing was forgotten: add --yes to forget\n"
    assert len(left(notes)) == 5
    assert notes("prune", "--keep", "3", "--yes").out == "forgot 2 memories\n"
    assert left(notes) == ["n3", "n4", "n5"]
    assert notes("prune", "--keep", "3").out == "would forget 0 memories\n"


def test_prune_asks_at_a_terminal(notes: Cli) -> None:
    refused = notes("prune", "--keep", "3", stdin=Terminal("n\n"))
    assert (refused.status, refused.out) == (1, "")
    assert "note number 2\nForget 2 memories? This cannot be undone. [y/N] " in refused.err
    assert notes("prune", "--keep", "3", stdin=Terminal("y\n")).out == "forgot 2 memories\n"
    assert notes("prune", "--keep", "3", stdin=Terminal("")).out == "forgot 0 memories\n"


def test_a_dry_run_never_asks_and_wins(notes: Cli) -> None:
    done = notes("prune", "--keep", "3", "--dry-run", "--yes", "--json", stdin=Terminal(""))
    assert (done.data["ids"], done.err) == (["n1", "n2"], "")
    assert len(left(notes)) == 5


def test_prune_goes_by_age_weakness_kind_and_tag(notes: Cli) -> None:
    notes("remember", "an old message", "--kind", "message", "--tag", "chat", "--said-at", "2020-01-01", "--id", "old")
    notes("remember", "a new message", "--kind", "message", "--tag", "chat", "--id", "new")
    assert notes("prune", "--older-than", "90d", "--json").data["ids"] == ["old"]
    assert notes("prune", "--weaker-than", "0.1", "--json").data["ids"] == ["old"]
    assert notes("prune", "--keep", "0", "--kind", "message", "--tag", "chat", "--json").data["ids"] == ["new", "old"]
    assert notes("prune", "--older-than", "90d", "--kind", "fact", "--json").data["ids"] == []


def test_prune_shows_the_first_of_many(cli: Cli) -> None:
    cli("remember", *(f"note number {number}" for number in range(25)))
    assert cli("prune", "--keep", "1").out.splitlines()[-2:] == ["… and 4 more", "would forget 24 memories"]


def test_prune_without_a_limit_is_misuse(notes: Cli) -> None:
    done = notes("prune", "--kind", "note")
    assert done.status == 2
    assert "--older-than, --weaker-than or --keep" in done.err


def test_a_source_is_taken_out_of_recall_and_let_in_again(cli: Cli) -> None:
    cli("remember", "The pager is in the drawer", "--source", "scraper", "--id", "x")
    cli("remember", "The pager is in the safe", "--source", "maria", "--id", "y")
    which = ("--filter", '{"source": "scraper"}')
    assert cli("quarantine", *which, "--reason", "the page was tampered with").out == "x\nquarantined 1 memory\n"
    assert left(cli) == ["y"]
    assert "the page was tampered with" in cli("history", "x").out
    assert cli("quarantine", *which, "--reason", "again", "--json").data == []
    assert cli("release", "x").out == "x\nreleased 1 memory\n"
    assert left(cli) == ["x", "y"]
    assert cli("release", *which).out == "released 0 memories\n"


@pytest.mark.parametrize("words", [("quarantine", "--reason", "doubt"), ("release",)])
def test_what_is_meant_is_said_in_one_way(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.status == 2
    assert f"to {words[0]}, give either ids or a selection" in done.err
    assert "--everything" not in done.err
    assert cli(*words, "x", "--kind", "fact").status == 2


def test_a_quarantine_needs_its_reason(cli: Cli) -> None:
    assert cli("quarantine", "x").status == 2
