"""The embedder included in commonplace, and folders that hold none."""

from __future__ import annotations

import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from commonplace.errors import EmbedderUnavailable
from commonplace.models.embedders import Embedder, StaticEmbedder, load_embedder
from commonplace.models.embedders.static import DEFAULT

PARAPHRASES = [
    (
        "How do I reset my password?",
        "I forgot my login credentials and need to recover them.",
        "The cat slept in the garden.",
    ),
    (
        "Which database did we pick?",
        "We decided to store everything in PostgreSQL.",
        "She plays the violin in an orchestra.",
    ),
    (
        "What should I not eat?",
        "I am allergic to peanuts and other food with nuts.",
        "The train leaves from platform nine.",
    ),
    (
        "When do we release?",
        "The launch of the new version is planned for March.",
        "Bees pollinate apple trees.",
    ),
]
TEXTS = [text for triple in PARAPHRASES for text in triple] + ["", "short", "long words " * 400, "日本語", "x" * 300]


@pytest.fixture(scope="module")
def shipped() -> Embedder:
    return load_embedder()


@pytest.mark.parametrize(("text", "paraphrase", "unrelated"), PARAPHRASES)
def test_a_paraphrase_is_closer_than_an_unrelated_text(
    shipped: Embedder, text: str, paraphrase: str, unrelated: str
) -> None:
    near, far = shipped.embed([paraphrase, unrelated]) @ shipped.embed_query(text)
    assert near > far + 0.1


def test_rows_are_of_length_one_in_single_precision(shipped: Embedder) -> None:
    rows = shipped.embed(TEXTS)
    assert rows.dtype == shipped.embed_query("a").dtype == np.float32
    assert rows.shape == (len(TEXTS), shipped.dimension)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


def test_a_text_has_one_vector_alone_or_in_a_batch(shipped: Embedder) -> None:
    together = shipped.embed(TEXTS)
    assert np.array_equal(together, np.concatenate([shipped.embed([text]) for text in TEXTS]))
    np.testing.assert_allclose(together, [shipped.embed_query(text) for text in TEXTS], atol=1e-6)


def test_more_tokens_than_one_batch_holds_change_nothing(shipped: Embedder) -> None:
    many = shipped.embed(TEXTS * 40)
    assert np.array_equal(many, np.tile(shipped.embed(TEXTS), (40, 1)))


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "😀", "\x00"])
def test_a_text_without_a_known_word_gets_zeros(shipped: Embedder, text: str) -> None:
    assert not shipped.embed([text])[0].any()
    assert not shipped.embed_query(text).any()


def test_no_texts_give_no_rows(shipped: Embedder) -> None:
    assert shipped.embed([]).shape == (0, 256)


def test_threads_get_what_one_thread_gets(shipped: Embedder) -> None:
    expected = shipped.embed(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for rows in pool.map(lambda _: StaticEmbedder().embed(TEXTS), range(4)):
            assert np.array_equal(rows, expected)
        for rows in pool.map(lambda _: shipped.embed(TEXTS), range(32)):
            assert np.array_equal(rows, expected)


def test_a_vector_may_be_changed_without_harm_to_the_model(shipped: Embedder) -> None:
    before = shipped.embed_query("hello")
    shipped.embed_query("hello")[:] = 7
    assert np.array_equal(shipped.embed_query("hello"), before)


def test_the_shipped_files_are_the_ones_that_were_converted() -> None:
    about = json.loads((DEFAULT / "model.json").read_bytes())
    for name, expected in about["sha256"].items():
        assert hashlib.sha256((DEFAULT / name).read_bytes()).hexdigest() == expected
    assert "Copyright (c)" in (DEFAULT / "LICENSE").read_text("utf-8")
    assert "sha256" in (DEFAULT / "ORIGIN.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEFAULT, tmp_path / "model"))


@pytest.mark.parametrize("name", ["model.json", "vocab.txt", "rows.npy", "scales.npy"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(EmbedderUnavailable, match=f"{name} is missing"):
        StaticEmbedder(folder)


@pytest.mark.parametrize("name", ["model.json", "vocab.txt", "rows.npy", "scales.npy"])
@pytest.mark.parametrize("keep", [0, 60, 1000])
def test_a_file_that_breaks_off_is_named(folder: Path, name: str, keep: int) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: min(keep, len(whole) // 2)])
    with pytest.raises(EmbedderUnavailable, match=r"model\.json|vocab\.txt|rows\.npy|scales\.npy"):
        StaticEmbedder(folder)


def test_rows_that_do_not_fit_the_vocabulary_are_refused(folder: Path) -> None:
    np.save(folder / "rows.npy", np.load(folder / "rows.npy")[:-1])
    with pytest.raises(EmbedderUnavailable, match=r"rows\.npy is damaged: it holds int8 \(29527, 256\), not int8"):
        StaticEmbedder(folder)


def test_rows_of_another_type_are_refused(folder: Path) -> None:
    np.save(folder / "rows.npy", np.load(folder / "rows.npy").astype(np.int16))
    with pytest.raises(EmbedderUnavailable, match="it holds int16"):
        StaticEmbedder(folder)


def test_a_pickle_is_never_opened(folder: Path) -> None:
    np.save(folder / "rows.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(EmbedderUnavailable, match=r"rows\.npy is damaged"):
        StaticEmbedder(folder)


def test_a_scale_that_is_not_finite_is_refused(folder: Path) -> None:
    scales = np.load(folder / "scales.npy")
    scales[5] = np.nan
    np.save(folder / "scales.npy", scales)
    with pytest.raises(EmbedderUnavailable, match="not finite"):
        StaticEmbedder(folder)


@pytest.mark.parametrize("wrong", [{"dimension": "256"}, {"dimension": 0}, {"name": 3}, {"max_tokens": True}])
def test_a_wrong_entry_of_the_description_is_refused(folder: Path, wrong: dict[str, object]) -> None:
    about = json.loads((folder / "model.json").read_bytes())
    (folder / "model.json").write_text(json.dumps({**about, **wrong}))
    with pytest.raises(EmbedderUnavailable, match=next(iter(wrong))):
        StaticEmbedder(folder)


@pytest.mark.parametrize(("text", "words"), [("a\nb\n", "no token"), ("[UNK]\na\na\n", "a token twice")])
def test_a_damaged_vocabulary_is_refused(folder: Path, text: str, words: str) -> None:
    (folder / "vocab.txt").write_text(text)
    with pytest.raises(EmbedderUnavailable, match=words):
        StaticEmbedder(folder)


def test_affinity_is_the_closeness_of_a_texts_words_to_the_given_ones() -> None:
    embedder = StaticEmbedder()
    same, close, far, empty = embedder.affinity(
        ["movie"], ["We saw the movie twice", "We saw the film twice", "The boiler needs repair", ""]
    ).tolist()
    assert same == pytest.approx(1, abs=1e-3)
    assert same > close > far > empty == 0


def test_affinity_without_words_is_zero() -> None:
    assert StaticEmbedder().affinity([], ["Anything"]).tolist() == [0]
    assert StaticEmbedder().affinity(["anything"], []).tolist() == []
    assert StaticEmbedder().affinity(["x" * 4_000], ["Anything"]).tolist() == [0]  # an unknown word
