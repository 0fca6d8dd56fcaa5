"""The names of embedders, and what `load_embedder` refuses."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import commonplace.models.embedders
from commonplace.errors import EmbedderUnavailable, InvalidInput
from commonplace.models.embedders import Embedder, OpenAIEmbedder, StaticEmbedder, WordsOnly, load_embedder
from commonplace.testing import HashEmbedder


def lengths(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


class Model:
    def encode(self, texts: list[str]) -> list[list[float]]:
        return lengths(texts)


def test_none_and_default_are_the_shipped_model_once_for_all_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: id(load_embedder()), range(16)))
    assert found == {id(load_embedder("default"))} == {id(load_embedder(None))}
    assert isinstance(load_embedder(), StaticEmbedder)


def test_an_embedder_is_itself() -> None:
    one = HashEmbedder()
    assert load_embedder(one) is one


def test_none_by_name_is_words_alone() -> None:
    one = load_embedder("none")
    assert isinstance(one, WordsOnly)
    assert isinstance(one, Embedder)
    assert (one.name, one.version, one.dimension) == ("words-only", "1", 1)
    assert np.array_equal(one.embed(["a", "b"]), np.zeros((2, 1)))
    assert np.array_equal(one.embed_query("a"), np.zeros(1))


def test_a_function_is_stored_under_its_full_name() -> None:
    one = load_embedder(lengths)
    assert one.name == f"{__name__}.lengths"
    assert one.dimension == 2


@pytest.mark.parametrize(
    "function",
    [lambda texts: lengths(texts), functools.partial(lengths), Model().encode],
    ids=["lambda", "partial", "method"],
)
def test_a_function_without_a_lasting_name_is_refused(function: object) -> None:
    with pytest.raises(InvalidInput, match=r'FunctionEmbedder\(function, name="my-model"\)'):
        load_embedder(function)  # type: ignore[arg-type]


def test_a_function_inside_a_function_is_refused() -> None:
    def inner(texts: list[str]) -> list[list[float]]:
        return lengths(texts)

    with pytest.raises(InvalidInput, match="no permanent name"):
        load_embedder(inner)


def test_a_class_is_refused() -> None:
    with pytest.raises(InvalidInput, match="HashEmbedder is a class"):
        load_embedder(HashEmbedder)  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [3, object(), ["a"]])
def test_an_object_that_is_no_embedder_is_refused(thing: object) -> None:
    with pytest.raises(InvalidInput, match="name, version, dimension, embed and embed_query"):
        load_embedder(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", ["", "potion", "onnx:", "openai", "openai:", "magic:model", "none:x", "None"])
def test_an_unknown_name_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(InvalidInput, match="expected 'default', 'none', 'bge-small', 'onnx:DIR'"):
        load_embedder(spec)


def test_openai_takes_its_address_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1/")
    one = load_embedder("openai:nomic-embed-text:v1.5")
    assert isinstance(one, OpenAIEmbedder)
    assert one.name == "nomic-embed-text:v1.5"
    assert "http://localhost:11434/v1/embeddings" in repr(one)
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert "https://api.openai.com/v1/embeddings" in repr(load_embedder("openai:x"))


def test_onnx_names_the_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"model\.json is missing"):
        load_embedder(f"onnx:{tmp_path}")


def test_every_exported_name_is_there() -> None:
    for name in commonplace.models.embedders.__all__:
        assert getattr(commonplace.models.embedders, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        commonplace.models.embedders.Nothing  # noqa: B018 - reading it is the test


def test_importing_the_package_imports_no_network_and_no_model() -> None:
    program = (
        "import sys; before = set(sys.modules); import commonplace.models.embedders; new = set(sys.modules) - before;"
        "heavy = {'urllib.request', 'http.client', 'onnxruntime', 'sentence_transformers', 'email'};"
        "ours = ('embedders.static', 'embedders.onnx', 'openai', 'folder');"
        "heavy |= {'commonplace.models.' + part for part in ours};"
        "print(sorted(heavy & new))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
