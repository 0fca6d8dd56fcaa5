"""The reader that ships with commonplace: its opinions, its time, and what happens when it is missing or damaged."""

from __future__ import annotations

import json
import shutil
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import commonplace
from commonplace.errors import InvalidInput, ModelUnavailable
from commonplace.models.reader import NUMBERS, OWN, Opinion, Passage, Reader, find_reader

GOLDEN = Path(__file__).resolve().parent.parent / "data" / "reader.json"
"""Questions, passages and the opinions on them, as the shipped weights gave them where they were made."""
MACHINES_DIFFER = 0.01
"""Processors round what is not int8 differently: a probability may move by so much."""


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(OWN)


def read(reader: Reader, question: str, texts: list[str], **options: object) -> Opinion:
    numbers = np.zeros((len(texts), len(NUMBERS)), np.float32)
    return reader.read(question, [Passage(text, "") for text in texts], numbers, **{"budget": 60.0, **options})  # type: ignore[arg-type]


def test_the_opinions_are_those_of_the_golden_file(reader: Reader) -> None:
    for case in json.loads(GOLDEN.read_text("utf-8")):
        said = read(reader, case["question"], case["texts"])
        assert said.relevant == pytest.approx(np.array(case["relevant"]), abs=MACHINES_DIFFER)
        assert said.answered == pytest.approx(case["answered"], abs=MACHINES_DIFFER)


def test_an_opinion_does_not_depend_on_how_passages_are_batched(reader: Reader) -> None:
    question = "Where does the cat sleep?"
    texts = [f"The {place} is where number {n} sleeps" for n, place in enumerate(["sofa", "shed", "roof"] * 8)]
    whole = read(reader, question, texts)
    once = iter(range(10**6))
    slow = read(reader, question, texts, clock=lambda: float(next(once)), budget=10**6)
    assert whole.relevant == pytest.approx(slow.relevant, abs=1e-5)


def test_reading_stops_when_the_time_is_up_but_reads_the_first(reader: Reader) -> None:
    ticks = iter(range(1000))
    said = read(reader, "Which?", ["one of many"] * 20, budget=0.5, clock=lambda: float(next(ticks)))
    assert 0 < len(said.relevant) < 20


def test_no_passage_is_no_answer(reader: Reader) -> None:
    assert len(read(reader, "Which?", []).relevant) == 0


def test_long_texts_and_odd_characters_are_read(reader: Reader) -> None:
    texts = ["", "word " * 5_000, "\u200b\u200b", "日本語のメモ", "🦊" * 50, "a" * 10_000]
    said = read(reader, "what " * 2_000, texts)
    assert np.isfinite(said.relevant).all()


def test_threads_share_a_reader(reader: Reader) -> None:
    alone = read(reader, "Which tea?", ["Green tea at four", "The bus is late"]).relevant
    found: list[np.ndarray] = []

    def work() -> None:
        found.append(read(reader, "Which tea?", ["Green tea at four", "The bus is late"]).relevant)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((each == alone).all() for each in found)
    assert len(found) == 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OWN, tmp_path / "reader"))


@pytest.mark.parametrize("name", ["skim.onnx", "read.onnx", "council.onnx", "vocab.txt", "model.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=name):
        Reader(folder)


@pytest.mark.parametrize("name", ["skim.onnx", "read.onnx", "council.onnx", "model.json"])
def test_a_damaged_file_is_named(folder: Path, name: str) -> None:
    bytes_ = bytearray((folder / name).read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    (folder / name).write_bytes(bytes_)
    with pytest.raises(ModelUnavailable):
        Reader(folder)


def test_a_recall_with_a_damaged_reader_raises_instead_of_returning_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "read.onnx").write_bytes(b"cut")
    with commonplace.open(tmp_path / "book.db", reader=f"onnx:{folder}") as book:
        book.remember("The door is green")
        with pytest.raises(ModelUnavailable, match=r"read\.onnx"):
            book.recall("Which colour is the door?")


@pytest.mark.parametrize("spec", ["onnx:", "ms-marco", "", 7, True])
def test_an_unknown_reader_is_refused_at_once(spec: object) -> None:
    with pytest.raises(InvalidInput, match="reader"):
        find_reader(spec)  # type: ignore[arg-type]


@pytest.fixture
def without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.models.reader.find_spec", lambda name: None)


@pytest.mark.usefixtures("without_onnxruntime")
def test_without_onnxruntime_a_book_warns_and_works(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="onnxruntime"):
        book = commonplace.open(tmp_path / "book.db")
    book.remember("The door is green")
    assert book.recall("Which colour has the door that is green?").hits[0].parts.reread is None
    book.close()


@pytest.mark.usefixtures("without_onnxruntime")
def test_without_onnxruntime_reader_none_does_not_warn(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        commonplace.open(tmp_path / "book.db", reader=None).close()
