"""The names of rerankers, and what `load` refuses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from commonplace.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable
from commonplace.models import embedders, rerankers


class Mine:
    name = "mine"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [0.0 for _ in texts]


@pytest.mark.parametrize("spec", [None, "none"])
def test_there_is_no_reranker_by_default(spec: str | None) -> None:
    assert rerankers.load(spec) is None


def test_a_reranker_is_itself() -> None:
    one = Mine()
    assert rerankers.load(one) is one


@pytest.mark.parametrize("spec", ["", "best", "onnx:", "bge-small", "onnx"])
def test_an_unknown_name_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(InvalidInput, match="expected 'none', 'ms-marco-minilm' or 'onnx:DIR'"):
        rerankers.load(spec)


def test_an_object_that_is_no_reranker_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Mine is a class"):
        rerankers.load(Mine)  # type: ignore[arg-type]  # the mistake is the point
    with pytest.raises(InvalidInput, match="has name and score"):
        rerankers.load(7)  # type: ignore[arg-type]  # the mistake is the point


def test_a_model_that_was_not_fetched_says_how_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_MODELS", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="`commonplace models get ms-marco-minilm`"):
        rerankers.load("ms-marco-minilm")
    with pytest.raises(EmbedderUnavailable, match="`commonplace models get bge-small`"):
        embedders.load_embedder("bge-small")
