"""The reader: a small model of our own that reads a question together with the memories that may answer it.

It works in three steps, each a model that onnxruntime runs. The first half of an encoder skims all passages, each
together with the question. The second half reads the most promising ones to the end. A council then compares these with
one another, which tells an outdated statement from the one that replaced it.
"""

from __future__ import annotations

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
from commonplace.models.embedders.onnx import BertTokens, batches, open_session
from commonplace.models.folder import ModelFolder
from commonplace.values.arrays import Floats, Ints

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
MOST_SKIMMED, MOST_READ = 20, 12
"""Passages that are skimmed, and those of them that are read to the end: a skimmed one costs a millisecond and a half,
a read one as much again."""
OWN: Final = Path(__file__).parent / "weights" / "reader"
"""The folder of the reader that ships with commonplace."""
_AT_ONCE = 10
"""Passages between two looks at the clock."""
_EVIDENCE, _NEWEST, _AGE, _RANK = map(NUMBERS.index, ("evidence", "newest", "age", "rank"))
_SEARCH = np.float32(3.0)
"""Weight of the search's evidence, in tens of log-odds, beside what was skimmed."""
_RELEVANT, _ANSWERED = 1.5, 2.0
"""The council was trained on questions that the encoder had seen: with new ones it is less sure than it says."""
_LIMIT = 1e-6
"""Probabilities are at least so far from 0 and 1."""
_WIDTH = 384
_PARTS: Final = ("skim.onnx", "read.onnx", "council.onnx")

Clock = Callable[[], float]
Split = Callable[[str, int], list[int]]
"""Returns the tokens of a text, at most so many."""


class Passage(NamedTuple):
    """A memory as the reader sees it, and the turn before it, or ""."""

    text: str
    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The reader's opinion; arrays have one value for each passage that was read to the end."""

    places: Ints
    """Index of each of them among the passages."""
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


class Skimmed(NamedTuple):
    """A passage after skimming."""

    worth: float
    """Log-odds that it bears on the question."""
    hidden: Floats
    """The state of each of its tokens."""


def find_promising(skimmed: Sequence[Skimmed], numbers: Floats) -> Ints:
    """Return the places of the passages to read to the end, in their order."""
    worth = np.array([each.worth for each in skimmed], np.float32) + _SEARCH * numbers[: len(skimmed), _EVIDENCE]
    return np.sort(np.argsort(-worth, kind="stable")[:MOST_READ])


class Reader:
    """Reads passages for a question. Threads may share it.

    A folder holds `skim.onnx`, `read.onnx`, `council.onnx`, `vocab.txt` and `model.json` with `name` and the hashes of
    the models.
    """

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        folder = ModelFolder(path, ModelUnavailable)
        self.name: Final = folder.word("name")
        for name in _PARTS:
            folder.ensure_whole(name)
        self._tokenizer = BertTokens(folder)
        self._skim, self._read, self._council = (open_session(folder, name, threads) for name in _PARTS)

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
        """Skim the passages in their order, as many as there is time for, and read the most promising ones."""
        asked = split_question(self._tokenizer.tokens, question)
        rows = [[asked, *split_passage(self._tokenizer.tokens, passage)] for passage in passages]
        skimmed: list[Skimmed] = []
        started, slowest = clock(), 0.0
        while len(skimmed) < len(rows):
            begun = clock()
            # Reading what was skimmed takes about as long as skimming ten.
            if skimmed and begun - started + 2 * slowest > budget:
                break
            skimmed += self._skim_rows(rows[len(skimmed) : len(skimmed) + _AT_ONCE])
            slowest = max(slowest, clock() - begun)
        chosen = find_promising(skimmed, numbers)
        vectors = self._read_rows([skimmed[place] for place in chosen.tolist()])
        return self._weigh(chosen, vectors, numbers[chosen])

    def _skim_rows(self, rows: Sequence[Sequence[list[int]]]) -> list[Skimmed]:
        found: dict[int, Skimmed] = {}
        for places in batches([sum(map(len, row)) + len(row) for row in rows]):
            feeds = self._tokenizer.pad([rows[place] for place in places])
            worth, hidden = self._skim.run(None, feeds)
            lengths = feeds["attention_mask"].sum(axis=1).tolist()
            for place, value, states, length in zip(places, worth.tolist(), hidden, lengths, strict=True):
                found[place] = Skimmed(value, states[:length])
        return [found[place] for place in range(len(rows))]

    def _read_rows(self, rows: Sequence[Skimmed]) -> Floats:
        out = np.empty((len(rows), _WIDTH), np.float32)
        lengths = [len(row.hidden) for row in rows]
        for places in batches(lengths):
            width = max(lengths[place] for place in places)
            hidden = np.zeros((len(places), width, _WIDTH), np.float32)
            mask = np.zeros((len(places), width), np.int64)
            for number, place in enumerate(places):
                hidden[number, : lengths[place]] = rows[place].hidden
                mask[number, : lengths[place]] = 1
            out[places] = self._read.run(None, {"hidden": hidden, "attention_mask": mask})[0]
        return out

    def _weigh(self, places: Ints, vectors: Floats, numbers: Floats) -> Opinion:
        """Return the opinion on the passages at `places`, given their vectors and numbers."""
        if not len(places):
            nothing = np.zeros(0, np.float32)
            return Opinion(places=places, answered=0.0, relevant=nothing, outdated=nothing, timeless=nothing)
        shown = numbers.copy()
        shown[:, _RANK] = np.arange(len(shown)) / MOST_SKIMMED
        shown[:, _NEWEST] = np.argsort(np.argsort(shown[:, _NEWEST], kind="stable")) / max(len(shown) - 1, 1)
        at_once = shown.copy()
        at_once[:, _NEWEST] = 0.5
        at_once[:, _AGE] = shown[:, _AGE].mean()
        shares, answered = self._council.run(None, {"read": vectors, "numbers": np.stack([shown, at_once])})
        return Opinion(
            places=places,
            answered=float(_temper(answered[:1], _ANSWERED)[0]),
            relevant=_temper(shares[0, :, 1], _RELEVANT),
            outdated=shares[0, :, 2],
            timeless=_temper(shares[1, :, 1], _RELEVANT),
        )


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


def _temper(likely: Floats, by: float) -> Floats:
    """Return probabilities whose log-odds are divided by a number."""
    limited = np.clip(likely.astype(np.float64), _LIMIT, 1 - _LIMIT)
    tempered: Floats = (1 / (1 + ((1 - limited) / limited) ** (1 / by))).astype(np.float32)
    return tempered
