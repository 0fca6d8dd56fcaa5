from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commonplace.models.background import PASSAGES, QUESTIONS, Background, measure
from commonplace.models.embedders import load_embedder
from commonplace.models.embedders.base import Vectors
from commonplace.testing import HashEmbedder
from commonplace.text import terms


class Constant:
    """An embedder to which every text is the same."""

    name, version, dimension = "constant", "1", 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))

    def embed_query(self, text: str) -> Vectors:
        return np.array([1, 0], np.float32)


def test_no_question_is_answered_by_a_passage() -> None:
    for question in QUESTIONS:
        asked = terms.query_terms(question)
        rare = {term for term, common in zip(asked, terms.are_common(asked), strict=True) if not common}
        for passage in PASSAGES:
            assert len(rare & set(terms.terms(passage))) <= 1, (question, passage)


def test_the_texts_are_varied_and_unique() -> None:
    assert len(set(PASSAGES)) == len(PASSAGES) == 48
    assert len(set(QUESTIONS)) == len(QUESTIONS) == 16


def test_related_text_lies_far_above_the_shipped_embedder_s_background() -> None:
    embedder = load_embedder()
    background = measure(embedder)
    cosine = embedder.embed(["We chose FastAPI as our web framework"])[0] @ embedder.embed_query(
        "which web framework did we pick?"
    )
    assert (cosine - background.mean) / background.deviation > 4


def test_measuring_is_deterministic() -> None:
    assert measure(HashEmbedder()) == measure(HashEmbedder())


def test_an_embedder_with_one_vector_for_all_texts_has_a_usable_background() -> None:
    background = measure(Constant())
    assert background.deviation > 0
    assert background.mean == 1.0


def test_length_does_not_matter_unless_measured() -> None:
    assert Background(mean=0.1, deviation=0.1).growth == 0.0
