"""erase, users, receipts and probe on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.cli_harness import Cli, Terminal


@pytest.fixture
def book(cli: Cli) -> Cli:
    """Notes of maria and of bob, who names her."""
    cli("remember", "tea at five", "--user", "maria", "--id", "hers")
    cli("remember", "maria likes tea", "--user", "bob", "--id", "his")
    cli("kv", "set", "prefs", "tea", "true")
    return cli


def left(cli: Cli) -> list[str]:
    return sorted(memory["id"] for memory in cli("list", "--json").data["memories"])


def test_erase_shows_what_would_go_and_erases_with_yes(book: Cli) -> None:
    assert "USER   MEMORIES" in book("users").out
    shown = book("erase", "--user", "maria", "--dry-run")
    assert shown.out.startswith("would erase 1 memory\nto be decided, since others wrote it:\n  memory his (named)\n")
    refused = book("erase", "--user", "maria")
    assert refused.err == "commonplace: nothing was erased: add --yes to erase\n"
    assert book("erase", "--user", "maria", stdin=Terminal("n\n")).status == 1
    assert left(book) == ["hers", "his"]
    done = book("erase", "--user", "maria", "--yes")
    assert done.out.startswith("erased 1 memory\n")
    assert done.out.endswith("receipt 1: the bytes are gone\n")
    assert left(book) == ["his"]
    assert book("erase", "--user", "maria", "--yes", "--json").data["receipt"]["number"] == 2


def test_erase_asks_at_a_terminal(book: Cli) -> None:
    done = book("erase", "--user", "maria", stdin=Terminal("y\n"))
    assert "Erase 1 memory? This cannot be undone. [y/N] " in done.err
    assert left(book) == ["his"]


@pytest.mark.parametrize("words", [[], ["--user", "a", "--agent", "b"]])
def test_erase_takes_one_person(book: Cli, words: list[str]) -> None:
    assert book("erase", *words, "--yes").status == 2


def test_receipts_are_listed_verified_and_settled(book: Cli) -> None:
    assert book("receipts").out == "No receipts.\n"
    book("erase", "--user", "maria", "--yes")
    assert book("receipts").out.startswith("NUMBER  AT")
    Path("copies.json").write_text(book("receipts", "--json").out)
    assert book("receipts", "verify", "copies.json").out == "1 receipt checked\n"
    assert book("receipts", "settle", "--json").data[0]["settled_at"]
    forged = json.loads(Path("copies.json").read_text())
    forged[0]["counts"]["memories"] = 7
    Path("forged.json").write_text(json.dumps(forged))
    verdict = book("receipts", "verify", "forged.json")
    assert (verdict.status, verdict.out.splitlines()[0]) == (1, "the copy of receipt 1 was changed")
    assert book("receipts", "list", "copies.json").status == 2
    assert book("receipts", "again").status == 2


def test_who_comes_back_with_an_import_is_erased_again(book: Cli) -> None:
    book("export", "all.jsonl")
    book("erase", "--user", "maria", "--yes")
    copies = book("receipts", "--json").out
    book("--book", "restored.db", "import", "all.jsonl")
    done = book("--book", "restored.db", "receipts", "again", "-", stdin=copies)
    assert done.out == "erased 1 person again\n"
    assert book("--book", "restored.db", "users").out.splitlines()[1].split()[0] == "bob"


def test_export_of_a_user_holds_only_what_is_theirs(book: Cli) -> None:
    lines = [json.loads(line) for line in book("export", "--user", "maria").out.splitlines()]
    assert [line.get("id") for line in lines] == [None, "hers"]


def test_probe_finds_what_is_left_and_what_is_not(book: Cli) -> None:
    found = book("probe", "--person", "maria", "tea at five")
    assert found.status == 1
    assert "memory: of user, space default: 1" in found.out
    assert "memory.text: 2" in found.out
    assert "not seen: " in found.out
    book("erase", "--user", "maria", "--yes")
    book("forget", "his")
    cleaned = book("probe", "--person", "maria", "tea at five", "--json")
    assert [each["where"] for each in cleaned.data["found"] if "." not in each["where"]] == []
