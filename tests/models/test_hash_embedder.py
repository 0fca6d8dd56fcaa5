"""HashEmbedder: the embedder for tests."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from commonplace.models.embedders import Embedder
from commonplace.testing import HashEmbedder


def test_it_is_an_embedder_with_unit_rows() -> None:
    one = HashEmbedder()
    assert isinstance(one, Embedder)
    assert (one.name, one.version, one.dimension) == ("hash", "1", 64)
    rows = one.embed(["one text", "another text", ""])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 0], atol=1e-6)
    assert np.array_equal(rows[1], one.embed_query("another text"))
    assert one.embed([]).shape == (0, 64)


@pytest.mark.parametrize("dimension", [1, 3, 64, 100, 1024])
def test_any_dimension_will_do(dimension: int) -> None:
    assert HashEmbedder(dimension).embed(["a text"]).shape == (1, dimension)


def test_shared_words_and_shared_parts_of_words_make_texts_similar() -> None:
    query = "when do we deploy the service"
    near, stem, far = HashEmbedder().embed(
        ["we deploy the service on Monday", "services were deployed", "cats like fish"]
    ) @ HashEmbedder().embed_query(query)
    assert near > stem > far + 0.1


def test_unrelated_texts_are_near_zero() -> None:
    words = [f"{a}{b}{a}{b}{n}" for n, (a, b) in enumerate(zip("bcdfghjklm", "npqrstvwxz", strict=True))]
    rows = HashEmbedder(1024).embed(words)
    assert np.abs(rows @ rows.T - np.eye(len(words))).max() < 0.25


def test_another_process_gives_the_same_vectors() -> None:
    program = (
        "from commonplace.testing import HashEmbedder; print(HashEmbedder().embed_query('Ein Text').tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == HashEmbedder().embed_query("ein text").tobytes().hex()
