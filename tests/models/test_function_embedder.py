"""FunctionEmbedder: any function, its answers checked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest

from commonplace.errors import EmbedderFailed, InvalidInput
from commonplace.models.embedders import Embedder, FunctionEmbedder


def test_any_shape_of_rows_becomes_unit_vectors() -> None:
    for answer in ([[3, 4]], ((3.0, 4.0),), np.array([[3, 4]], dtype=np.float16), [np.array([3, 4])]):
        one = FunctionEmbedder(lambda texts, answer=answer: answer, name="mine")  # type: ignore[misc]
        rows = one.embed(["a"])
        assert rows.dtype == np.float32
        np.testing.assert_allclose(rows, [[0.6, 0.8]], atol=1e-6)
    assert isinstance(one, Embedder)
    assert (one.name, one.version, one.dimension) == ("mine", "1", 2)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_very_large_and_small_vectors_keep_their_direction(scale: float) -> None:
    one = FunctionEmbedder(lambda texts: [[3 * scale, 4 * scale]], name="mine")
    np.testing.assert_allclose(one.embed_query("a"), [0.6, 0.8], atol=1e-6)


def test_zeros_stay_zeros() -> None:
    assert not FunctionEmbedder(lambda texts: [[0, 0]], name="mine").embed(["a"]).any()


def test_the_function_never_sees_a_blank_text() -> None:
    seen: list[list[str]] = []

    def function(texts: list[str]) -> list[list[float]]:
        seen.append(texts)
        return [[1.0, 0.0] for _ in texts]

    rows = FunctionEmbedder(function, name="mine").embed(["", "a", "\t", "b"])
    assert seen == [["a", "b"]]
    assert rows.sum(axis=1).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([[1.0, float("nan")]], "not finite"),
        ([[1.0, float("inf")]], "not finite"),
        ([[1.0], [2.0]], "2 vectors for 1 texts"),
        ([], "shape"),
        ([1.0, 2.0], "shape"),
        ([[]], "shape"),
        ([[[1.0]]], "shape"),
        (None, "shape|matrix"),
        ("words", "a matrix of numbers"),
        ([["a"]], "a matrix of numbers"),
        ([[1j]], "a matrix of numbers"),
    ],
)
def test_an_answer_that_is_no_embedding_is_refused(answer: object, words: str) -> None:
    with pytest.raises(EmbedderFailed, match=f"mine (returned|did not return) .*({words})"):
        FunctionEmbedder(lambda texts: answer, name="mine").embed(["a"])


def test_another_dimension_than_the_given_one_is_refused() -> None:
    with pytest.raises(EmbedderFailed, match="vectors of 2 numbers, not 3"):
        FunctionEmbedder(lambda texts: [[1, 2]], name="mine", dimension=3).embed(["a"])


def test_a_function_that_raises_is_a_failed_embedder() -> None:
    def function(texts: list[str]) -> object:
        raise KeyError("weights")

    with pytest.raises(EmbedderFailed, match=r"mine failed: KeyError\('weights'\)") as caught:
        FunctionEmbedder(function, name="mine").embed(["a"])
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_dimension_is_learned_once_by_many_threads() -> None:
    calls = count()

    def function(texts: list[str]) -> list[list[float]]:
        next(calls)
        return [[1.0, 2.0, 3.0] for _ in texts]

    one = FunctionEmbedder(function, name="mine")
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: one.dimension, range(32))) == {3}
    assert next(calls) == 1


@pytest.mark.parametrize("wrong", [{"name": ""}, {"name": "a", "version": ""}, {"name": "a", "dimension": 0}])
def test_an_empty_identity_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        FunctionEmbedder(lambda texts: [], **wrong)  # type: ignore[arg-type]
