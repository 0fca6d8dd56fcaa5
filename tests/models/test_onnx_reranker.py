"""OnnxReranker on a tiny model, and on the real one where it was fetched."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from commonplace import models
from commonplace.errors import ModelUnavailable, RerankerFailed
from commonplace.models.rerankers import OnnxReranker, Reranker, load
from tests.models import tiny_onnx

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue"]
WORTH = np.array([0, 0, 0, 0.5, 1, 10, 100], np.float32)
Make = Callable[..., Path]

needs_onnxruntime = pytest.mark.usefixtures("onnxruntime")


@pytest.fixture
def onnxruntime() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is optional and not installed")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def folder(model: bytes | None = None, **about: object) -> Path:
        (tmp_path / "model.json").write_text(json.dumps({"name": "tiny", "max_tokens": 10, **about}))
        (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        (tmp_path / "model.onnx").write_bytes(tiny_onnx.cross_encoder(WORTH) if model is None else model)
        return tmp_path

    return folder


@needs_onnxruntime
def test_question_and_text_are_separate_segments_and_padding_changes_nothing(make: Make) -> None:
    one = load(f"onnx:{make()}")
    assert isinstance(one, Reranker)
    assert one.name == "tiny"
    # The text's tokens and the mark behind it count, the question's do not.
    np.testing.assert_allclose(
        one.score("blue", ["red", "red green green", "", "blue red"]), [1.5, 21.5, 0.5, 101.5], atol=1e-5
    )
    assert len(one.score("blue", [])) == 0


@needs_onnxruntime
def test_a_long_question_leaves_room_for_the_text_and_a_long_text_is_cut(make: Make) -> None:
    one = OnnxReranker(make())
    # Ten tokens: three marks, at most five of the question, and what is left of the text.
    assert one.score("blue " * 50, ["green " * 50]).tolist() == [20.5]
    assert one.score("blue", ["green " * 50]).tolist() == [60.5]


@needs_onnxruntime
def test_many_texts_come_back_in_their_order(make: Make) -> None:
    one = OnnxReranker(make(max_tokens=64))
    texts = ["red " * (n % 7) for n in range(500)]
    np.testing.assert_allclose(one.score("blue", texts), [n % 7 + 0.5 for n in range(500)], atol=1e-5)


@needs_onnxruntime
def test_a_model_that_gives_more_than_one_number_a_text_is_refused(make: Make) -> None:
    embedder = tiny_onnx.model(np.ones((len(VOCABULARY), 4), np.float32))
    with pytest.raises(RerankerFailed, match=r"tiny gave an array of shape .* not one number a text"):
        OnnxReranker(make(embedder)).score("red", ["blue"])


@needs_onnxruntime
def test_a_damaged_model_is_named(make: Make) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx is damaged"):
        OnnxReranker(make(b"no model"))


@pytest.mark.parametrize("name", ["model.json", "model.onnx", "vocab.txt"])
def test_a_missing_file_is_named(make: Make, name: str) -> None:
    folder = make()
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=f"{name} is missing"):
        OnnxReranker(folder)


def test_without_onnxruntime_the_message_says_how_to_install_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelUnavailable, match="commonplace-memory\\[onnx\\]"):
        load(f"onnx:{make()}")


@needs_onnxruntime
@pytest.mark.skipif(not models.is_fetched(models.find("ms-marco-minilm")), reason="ms-marco-minilm was not fetched")
def test_the_real_model_prefers_the_answer() -> None:
    one = load("ms-marco-minilm")
    assert one is not None
    texts = ["Berlin has 3,520,031 registered inhabitants", "Berlin is a fine city", "I had soup for lunch"]
    scores = list(one.score("How many people live in Berlin?", texts))
    assert scores[0] > 5 > 0 > scores[1] > scores[2]


@needs_onnxruntime
@pytest.mark.skipif(not models.is_fetched(models.find("bge-small")), reason="bge-small was not fetched")
def test_the_real_embedder_is_opened_by_its_name() -> None:
    from commonplace.models import embedders

    one = embedders.load_embedder("bge-small")
    assert (one.name, one.version, one.dimension) == ("bge-small-en-v1.5-int8", "1", 384)
    near, far = one.embed(["Berlin has 3,520,031 registered inhabitants", "I had soup for lunch"])
    asked = one.embed_query("How many people live in Berlin?")
    assert asked @ near > asked @ far + 0.2
