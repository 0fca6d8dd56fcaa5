"""OnnxEmbedder on a tiny model; where onnxruntime is not installed, only what happens without it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from commonplace.errors import EmbedderFailed, EmbedderUnavailable
from commonplace.models.embedders import Embedder, OnnxEmbedder, load_embedder
from tests.models import tiny_onnx

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "query", ":"]
TABLE = np.random.default_rng(7).normal(size=(len(VOCABULARY), 4)).astype(np.float32)
ABOUT = {
    "name": "tiny",
    "version": "3",
    "dimension": 4,
    "max_tokens": 8,
    "pooling": "mean",
    "query_prefix": "query: ",
}

needs_onnxruntime = pytest.mark.usefixtures("onnxruntime")


@pytest.fixture
def onnxruntime() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is optional and not installed")


Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def folder(model: bytes | None = None, **about: object) -> Path:
        (tmp_path / "model.json").write_text(json.dumps({**ABOUT, **about}))
        (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        (tmp_path / "model.onnx").write_bytes(tiny_onnx.model(TABLE) if model is None else model)
        return tmp_path

    return folder


def unit(row: np.ndarray) -> np.ndarray:
    out: np.ndarray = row / np.linalg.norm(row)
    return out


def ids(*tokens: str) -> list[int]:
    return [VOCABULARY.index(token) for token in ("[CLS]", *tokens, "[SEP]")]


@needs_onnxruntime
def test_mean_pooling_leaves_the_padding_out(make: Make) -> None:
    one = load_embedder(f"onnx:{make()}")
    assert isinstance(one, Embedder)
    assert (one.name, one.version, one.dimension) == ("tiny", "3", 4)
    rows = one.embed(["red green blue", "Red"])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[0], unit(TABLE[ids("red", "green", "blue")].mean(axis=0)), atol=1e-6)
    np.testing.assert_allclose(rows[1], unit(TABLE[ids("red")].mean(axis=0)), atol=1e-6)


@needs_onnxruntime
def test_cls_pooling_takes_the_first_token(make: Make) -> None:
    rows = OnnxEmbedder(make(pooling="cls")).embed(["red", "blue green"])
    np.testing.assert_allclose(rows, [unit(TABLE[2])] * 2, atol=1e-6)


@needs_onnxruntime
def test_a_question_is_put_behind_its_prefix(make: Make) -> None:
    row = OnnxEmbedder(make()).embed_query("red")
    np.testing.assert_allclose(row, unit(TABLE[ids("query", ":", "red")].mean(axis=0)), atol=1e-6)


@needs_onnxruntime
def test_a_long_text_is_cut_with_room_for_both_ends(make: Make) -> None:
    row = OnnxEmbedder(make()).embed(["red " * 50])[0]
    np.testing.assert_allclose(row, unit(TABLE[ids(*["red"] * 6)].mean(axis=0)), atol=1e-6)


@needs_onnxruntime
def test_blank_texts_get_zeros(make: Make) -> None:
    one = OnnxEmbedder(make())
    assert one.embed(["", "red", " "]).any(axis=1).tolist() == [False, True, False]
    assert not one.embed_query("  ").any()
    assert one.embed([]).shape == (0, 4)


@needs_onnxruntime
def test_many_texts_come_back_in_their_order_from_any_thread(make: Make) -> None:
    one = OnnxEmbedder(make())
    texts = [" ".join(VOCABULARY[4 + (n + i) % 3] for i in range(n % 6)) for n in range(600)]
    alone = np.stack([one.embed([text])[0] for text in texts])
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(one.embed, [texts] * 8):
            np.testing.assert_allclose(rows, alone, atol=1e-6)


@needs_onnxruntime
def test_token_types_are_given_to_a_model_that_wants_them(make: Make) -> None:
    wants = ("input_ids", "token_type_ids", "attention_mask")
    assert OnnxEmbedder(make(tiny_onnx.model(TABLE, wants))).embed(["red"]).any()


@needs_onnxruntime
def test_a_model_with_unknown_inputs_is_refused(make: Make) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx .* unsupported inputs: \['pixels'\]"):
        OnnxEmbedder(make(tiny_onnx.model(TABLE, ("input_ids", "pixels"))))


@needs_onnxruntime
@pytest.mark.parametrize("model", [b"", b"no model", tiny_onnx.model(TABLE)[:80]])
def test_a_damaged_model_is_named(make: Make, model: bytes) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx is damaged"):
        OnnxEmbedder(make(model))


@needs_onnxruntime
def test_another_dimension_than_promised_is_refused(make: Make) -> None:
    with pytest.raises(EmbedderFailed, match=r"shape \(1, 4\), not rows of 5"):
        OnnxEmbedder(make(dimension=5)).embed(["red"])


@pytest.mark.parametrize("name", ["model.json", "model.onnx", "vocab.txt"])
def test_a_missing_file_is_named(make: Make, name: str) -> None:
    folder = make()
    (folder / name).unlink()
    with pytest.raises(EmbedderUnavailable, match=f"{name} is missing"):
        OnnxEmbedder(folder)


def test_an_unknown_pooling_is_refused(make: Make) -> None:
    with pytest.raises(EmbedderUnavailable, match="'pooling' is 'max'"):
        OnnxEmbedder(make(pooling="max"))


def test_a_vocabulary_without_special_tokens_is_refused(make: Make) -> None:
    folder = make()
    (folder / "vocab.txt").write_text("[UNK]\nred\n")
    with pytest.raises(EmbedderUnavailable, match=r"vocab\.txt is damaged: it has no token \[CLS\]"):
        OnnxEmbedder(folder)


def test_without_onnxruntime_the_message_says_how_to_install_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EmbedderUnavailable, match="commonplace-memory\\[onnx\\]"):
        load_embedder(f"onnx:{make()}")
