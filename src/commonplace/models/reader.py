"""The reader: a small model of our own that reads a question together with the memories that may answer it.

An encoder (int8, run by onnxruntime) reads the question with each passage. A council of two attention layers then
compares the passages with one another, which tells an outdated statement from the one that replaced it.
"""

from __future__ import annotations

import hashlib
import io
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from commonplace.errors import InvalidInput, ModelUnavailable
from commonplace.models.embedders.onnx import Bert, batches
from commonplace.models.folder import ModelFolder
from commonplace.values.arrays import Floats

NUMBERS: Final = (
    "evidence", "meaning", "share", "words", "rank", "age", "newest", "assistant", "named", "asking", "nodding",
    "message", "moment", "dated", "crowd", "long",
)  # fmt: skip
"""The numbers beside each passage, in the order in which the council was trained on them."""

QUESTION_HEAD, QUESTION_TAIL = 24, 40
"""Tokens that are read of a longer question: its beginning, and its end, where people ask."""
PASSAGE = 72
"""Tokens that are read of a passage."""
SHORT = 32
"""Tokens of a passage up to which the turn before it is read, too."""
BEFORE = 20
"""Tokens that are read of the turn before, its end."""
OWN: Final = Path(__file__).parent / "weights" / "reader"
"""The folder of the reader that ships with commonplace."""
_AT_ONCE = 10
"""Passages between two looks at the clock."""
_NEWEST, _AGE = NUMBERS.index("newest"), NUMBERS.index("age")
_HEADS = 4
_EPSILON = 1e-5

Clock = Callable[[], float]
Split = Callable[[str, int], list[int]]
"""Returns the tokens of a text, at most so many."""


class Passage(NamedTuple):
    """A memory as the reader sees it, and the turn before it, or ""."""

    text: str
    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The reader's opinion; arrays have one value for each passage that was read."""

    answered: float
    """Probability that any of them belongs to an answer."""
    relevant: Floats
    """Probability that each of them does."""
    outdated: Floats
    """Probability that each of them did, until another replaced it."""
    timeless: Floats
    """Probability that each of them would, if all had been said at once."""


def split_question(split: Split, question: str) -> list[int]:
    """Return the tokens of a question; of a long one the beginning and the end."""
    tokens = split(question, 4 * (QUESTION_HEAD + QUESTION_TAIL))
    if len(tokens) <= QUESTION_HEAD + QUESTION_TAIL:
        return tokens
    return tokens[:QUESTION_HEAD] + tokens[-QUESTION_TAIL:]


def split_passage(split: Split, passage: Passage) -> list[list[int]]:
    """Return the tokens of a passage, and those of the turn before it if the passage is short."""
    text = split(passage.text, PASSAGE)
    before = split(passage.before, 4 * PASSAGE) if passage.before and len(text) <= SHORT else []
    return [text, before[-BEFORE:]] if before else [text]


class Reader:
    """Reads passages for a question. Threads may share it.

    A folder holds `model.onnx`, `council.npz`, `vocab.txt` and `model.json` with `name` and the files' hashes.
    """

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        folder = ModelFolder(path, ModelUnavailable)
        self.name: Final = folder.word("name")
        _ensure_whole(folder, "model.onnx")
        self._encoder = Bert(folder, threads=threads)
        self._council = Council(_load_arrays(folder, "council.npz"))

    def __repr__(self) -> str:
        return f"Reader(name={self.name!r})"

    def read(
        self,
        question: str,
        passages: Sequence[Passage],
        numbers: Floats,
        *,
        budget: float,
        clock: Clock = time.monotonic,
    ) -> Opinion:
        """Read the passages in their order, as many as there is time for, and at least the first few."""
        asked = split_question(self._encoder.tokens, question)
        vectors = np.empty((0, self._council.width), np.float32)
        started, slowest = clock(), 0.0
        while len(vectors) < len(passages):
            begun = clock()
            if len(vectors) and begun - started + slowest > budget:
                break
            some = passages[len(vectors) : len(vectors) + _AT_ONCE]
            vectors = np.concatenate([vectors, self._encode(asked, some)])
            slowest = max(slowest, clock() - begun)
        return self._council.weigh(vectors, numbers[: len(vectors)])

    def _encode(self, asked: list[int], passages: Sequence[Passage]) -> Floats:
        rows = [[asked, *split_passage(self._encoder.tokens, passage)] for passage in passages]
        out = np.empty((len(rows), self._council.width), np.float32)
        for places in batches([sum(map(len, row)) + len(row) for row in rows]):
            out[places], _ = self._encoder.run([rows[place] for place in places])
        return out


class Council:
    """Compares what was read of all passages, and judges each in the light of the others."""

    def __init__(self, weights: dict[str, Floats]) -> None:
        self._weights = weights
        self.width: Final = weights["read.weight"].shape[1]
        self._depth = sum(name.endswith(".qkv.weight") for name in weights)

    def weigh(self, vectors: Floats, numbers: Floats) -> Opinion:
        """Return the opinion on passages, given their vectors and numbers."""
        shares, answered = self._judge(vectors, numbers)
        at_once = numbers.copy()
        at_once[:, _NEWEST] = 0.5
        at_once[:, _AGE] = numbers[:, _AGE].mean() if len(numbers) else 0.0
        timeless, _ = self._judge(vectors, at_once)
        return Opinion(answered=answered, relevant=shares[:, 1], outdated=shares[:, 2], timeless=timeless[:, 1])

    def _judge(self, vectors: Floats, numbers: Floats) -> tuple[Floats, float]:
        """Return the shares of nothing, relevant and outdated for each passage, and the probability of an answer."""
        seats = self._linear("read", self._norm("norm", vectors)) + self._linear("numbers", numbers)
        x = np.concatenate([self._weights["chair"][np.newaxis], seats])
        for number in range(self._depth):
            x = x + self._attend(number, self._norm(f"layers.{number}.norm1", x))
            inner = self._linear(f"layers.{number}.up", self._norm(f"layers.{number}.norm2", x))
            x = x + self._linear(f"layers.{number}.down", np.maximum(inner, 0))
        x = self._norm("last", x)
        verdicts = self._linear("alone", vectors) + self._linear("verdict", x[1:])
        shares = np.exp(verdicts - verdicts.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        answered = float(self._linear("answered", x[:1])[0, 0])
        return shares.astype(np.float32), float(1 / (1 + np.exp(-answered)))

    def _attend(self, number: int, x: Floats) -> Floats:
        joined = self._linear(f"layers.{number}.qkv", x).reshape(len(x), 3, _HEADS, -1).transpose(1, 2, 0, 3)
        q, k, v = joined
        fit = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(q.shape[-1]))
        share = np.exp(fit - fit.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        mixed = (share @ v).transpose(1, 0, 2).reshape(len(x), -1)
        return self._linear(f"layers.{number}.out", mixed)

    def _linear(self, name: str, x: Floats) -> Floats:
        product: Floats = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return product

    def _norm(self, name: str, x: Floats) -> Floats:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        normal: Floats = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return normal


class ReaderSource:
    """Loads a reader on first use, once for all threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._reader: Reader | None = None

    def __call__(self) -> Reader:
        if self._reader is None:
            with self._lock:
                if self._reader is None:
                    self._reader = Reader(self._path)
        return self._reader


_own: Final = ReaderSource(OWN)


def find_reader(spec: Reader | str | None) -> Callable[[], Reader] | None:
    """Return what returns the reader that `spec` names, or None for none; its first call loads the model.

    "default"   the one that ships with commonplace; if onnxruntime is missing, none, with a warning
    None        none
    "onnx:DIR"  one in a folder, such as training/ writes
    a Reader    itself
    """
    if spec is None or spec == "none":
        return None
    if isinstance(spec, Reader):
        return lambda: spec
    if isinstance(spec, str) and spec.startswith("onnx:") and len(spec) > len("onnx:"):
        return ReaderSource(Path(spec.removeprefix("onnx:")))
    if spec != "default":
        raise InvalidInput(f"unknown reader {spec!r}: expected 'default', 'onnx:DIR', a Reader or None")
    if find_spec("onnxruntime") is None:
        # Python shows a warning once for each place that it comes from.
        warnings.warn(
            "onnxruntime is not installed, so recall works without its reader: it compares words and vectors, and"
            " understands less. Install onnxruntime, or open the book with reader=None",
            stacklevel=4,
        )
        return None
    return _own


def _ensure_whole(folder: ModelFolder, name: str) -> bytes:
    """Return a file's bytes; raise if they are not those that model.json promises."""
    try:
        found = folder.file(name).read_bytes()
    except OSError as error:
        raise folder.damaged(name, str(error)) from error
    if hashlib.sha256(found).hexdigest() != folder.word(f"sha256 of {name}"):
        raise folder.damaged(name, "its hash is not the one in model.json")
    return found


def _load_arrays(folder: ModelFolder, name: str) -> dict[str, Floats]:
    with np.load(io.BytesIO(_ensure_whole(folder, name)), allow_pickle=False) as arrays:
        return {key: np.asarray(arrays[key], np.float32) for key in arrays.files}
