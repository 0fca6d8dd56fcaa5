"""The model of statements: which sentences of a talk are worth keeping, and how a later statement relates to another.

Two encoders of our own, which onnxruntime runs. One reads a talk, in windows: each sentence sees its own turn and the
turns before it, never what comes later, so that what is told of it stays the same when the talk goes on. The other
reads two statements at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from commonplace.errors import ModelUnavailable
from commonplace.models.embedders.onnx import BertTokens, batches, open_session
from commonplace.models.folder import ModelFolder
from commonplace.values.arrays import Floats

RELATIONS: Final = ("unrelated", "adds", "repeats", "replaces", "disputes")
"""How a later statement may relate to an earlier one."""
KINDS: Final = ("fact", "preference", "decision", "pattern", "failure", "insight", "plan")
OWNERS: Final = ("speaker", "other", "team")
ACTS: Final = ("state", "correct", "withdraw", "remember", "forget")
TIMES: Final = ("present", "past", "future")
DETAILS: Final = (KINDS, OWNERS, ACTS, TIMES)
"""What is told of a sentence, whether it is kept or not."""

KEEP: Final = 0.7
"""Probability from which a sentence is kept."""
CLOSE: Final = 0.8
"""Probability of "replaces" from which a later statement closes an earlier one."""
REPEAT: Final = 0.5
"""Probability of "repeats" from which a later statement counts as a repetition."""
DOUBT: Final = 0.5
"""Probability of "replaces" and "disputes" together from which a pair that is not closed is linked as a dispute."""

LONGEST: Final = 256
"""Tokens of a row: a window of a talk."""
_CONTEXT: Final = 120
"""Tokens of earlier turns that a later window reads again, at most."""
_PIECE: Final = 96
"""Tokens of a turn that are read in one piece; a longer one is cut between its sentences."""
_SAME, _OTHER = 2, 3
"""Tokens that no text has: one speaker made both statements, or two did."""
_PERSON, _ASSISTANT = 4, 5
"""Tokens that no text has: a turn of a person, or of an assistant."""
_MARK = 6
"""A token that no text has: here a sentence begins."""
_CLS, _SEP = 101, 102
_NAME, _SENTENCE, _STATEMENT = 6, 48, 64
"""Tokens that are read of a speaker's name, of a sentence, and of each statement of a pair."""
_NEEDED = 0.0
"""Log-odds from which a sentence is said to need an earlier one."""
_TALK, _PAIRS = "keep.onnx", "relate.onnx"
_PADDING = 10**6
"""The turn of tokens that no token sees."""

Split = Callable[[str, int], list[int]]
"""Returns the tokens of a text, at most so many."""


class Pair(NamedTuple):
    """Two statements, and whether one speaker made both."""

    earlier: str
    later: str
    same_speaker: bool


class TalkTurn(NamedTuple):
    """A turn of a conversation, in its sentences."""

    speaker: str
    """A name, "user" or "Assistant"."""
    assistant: bool
    sentences: Sequence[str]


class Told(NamedTuple):
    """The labels of one sentence."""

    keep: float
    """Probability that it is worth keeping."""
    kind: str
    """One of KINDS; "plan" is no kind of memory, but a fact that is due."""
    owner: str
    """One of OWNERS: the speaker; another person or thing that it is about; or what "we" decide, do or own."""
    act: str
    """One of ACTS: it states something, corrects or takes back an earlier statement, or asks to remember or forget."""
    time: str
    """One of TIMES: what holds now, what happened, what is to come."""
    needs: tuple[tuple[int, int], ...]
    """Earlier sentences without which it cannot be understood, as (turn, sentence), both from 0; often none."""


class Row(NamedTuple):
    """A row of tokens read at once, and the turn of each; a token sees those of its own turn and of earlier ones."""

    tokens: list[int]
    turns: list[int]
    spans: list[tuple[int, int]]
    """Where each sentence begins and ends."""


def lay_out_pair(split: Split, pair: Pair) -> list[list[int]]:
    """Return the two segments of a pair, the later statement first."""
    later = [_SAME if pair.same_speaker else _OTHER, *split(pair.later, _STATEMENT)]
    return [later, split(pair.earlier, _STATEMENT)]


def lay_out_turn(split: Split, turn: TalkTurn, number: int) -> Row:
    """Return the part of a row that holds one turn."""
    tokens = [_ASSISTANT if turn.assistant else _PERSON, *split(turn.speaker, _NAME)]
    spans = []
    for sentence in turn.sentences:
        start = len(tokens)
        tokens += [_MARK, *split(sentence, _SENTENCE)]
        spans.append((start, len(tokens)))
    tokens.append(_SEP)
    return Row(tokens, [number] * len(tokens), spans)


def join_turns(parts: Sequence[Row]) -> Row:
    """Return one row of several turns."""
    tokens, turns, spans = [_CLS], [0], []
    for part in parts:
        start = len(tokens)
        tokens += part.tokens
        turns += part.turns
        spans += [(start + first, start + last) for first, last in part.spans]
    return Row(tokens, turns, spans)


class TalkWindow(NamedTuple):
    """Turns that are read at once."""

    row: Row
    places: list[tuple[int, int]]
    """The turn and the number of each of its sentences."""
    fresh: int
    """The first sentence that was not read in an earlier window."""


def cut_windows(split: Split, turns: Sequence[TalkTurn]) -> Iterator[TalkWindow]:
    """Yield windows over a talk; all but the first begin with what was said before."""
    held: list[tuple[Row, list[tuple[int, int]]]] = []
    fresh = 0
    for piece in _cut_pieces(split, turns):
        if held and _size(held) + len(piece[0].tokens) >= LONGEST:
            yield _open_window(held, fresh)
            while held and _size(held) > min(_CONTEXT, LONGEST - len(piece[0].tokens) - 1):
                del held[0]
            fresh = sum(len(places) for _, places in held)
        held.append(piece)
    if held:
        yield _open_window(held, fresh)


def _cut_pieces(split: Split, turns: Sequence[TalkTurn]) -> Iterator[tuple[Row, list[tuple[int, int]]]]:
    """Yield the row of each turn that says anything with the places of its sentences, a long one in several pieces."""
    for number, turn in enumerate(turns):
        start = 0
        while start < len(turn.sentences):
            end, size = start, 0
            while end < len(turn.sentences):
                size += 1 + len(split(turn.sentences[end], _SENTENCE))
                if end > start and size > _PIECE:
                    break
                end += 1
            row = lay_out_turn(split, turn._replace(sentences=turn.sentences[start:end]), number)
            yield row, [(number, place) for place in range(start, end)]
            start = end


def _size(held: Sequence[tuple[Row, object]]) -> int:
    return sum(len(row.tokens) for row, _ in held)


def _open_window(held: Sequence[tuple[Row, list[tuple[int, int]]]], fresh: int) -> TalkWindow:
    places = [place for _, some in held for place in some]
    return TalkWindow(join_turns([row for row, _ in held]), places, fresh)


class StatementReader:
    """Reads talks and pairs of statements. Threads may share it.

    A folder holds `keep.onnx`, `relate.onnx`, `vocab.txt` and `model.json` with `name` and the hashes of the models,
    each of which is loaded when it is first needed.
    """

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        self._folder = ModelFolder(path, ModelUnavailable)
        self.name: Final = self._folder.word("name")
        self._tokenizer = BertTokens(self._folder)
        self._threads = threads
        self._lock = threading.Lock()
        self._sessions: dict[str, Any] = {}  # onnxruntime has no types

    def __repr__(self) -> str:
        return f"StatementReader(name={self.name!r})"

    def read_talk(self, turns: Sequence[TalkTurn]) -> list[list[Told]]:
        """Return what is told of each sentence of each turn; of a long talk, window by window."""
        told: dict[tuple[int, int], Told] = {}
        windows = list(cut_windows(self._tokenizer.tokens, turns))
        for places in batches([len(window.row.tokens) for window in windows]):
            for found in self._read_windows([windows[place] for place in places]):
                told.update(found)
        return [[told[number, place] for place in range(len(turn.sentences))] for number, turn in enumerate(turns)]

    def relate(self, pairs: Sequence[Pair]) -> Floats:
        """Return a row for each pair: the probability of each of RELATIONS."""
        out = np.empty((len(pairs), len(RELATIONS)), np.float32)
        rows = [lay_out_pair(self._tokenizer.tokens, pair) for pair in pairs]
        for places in batches([sum(map(len, row)) + 1 for row in rows]):
            feeds = self._tokenizer.pad([rows[place] for place in places])
            out[places] = self._session(_PAIRS).run(None, feeds)[0]
        return out

    def _read_windows(self, windows: Sequence[TalkWindow]) -> Iterator[dict[tuple[int, int], Told]]:
        width = max(len(window.row.tokens) for window in windows)
        ids = np.zeros((len(windows), width), np.int64)
        turns = np.full_like(ids, _PADDING)
        for number, window in enumerate(windows):
            ids[number, : len(window.row.tokens)] = window.row.tokens
            turns[number, : len(window.row.turns)] = window.row.turns
        logits, asks, offers = self._session(_TALK).run(None, {"input_ids": ids, "turns": turns})
        for number, window in enumerate(windows):
            told, ask, offer = (_pool(part[number], window.row.spans) for part in (logits, asks, offers))
            yield dict(islice(_tell(window, told, ask @ offer.T), window.fresh, None))

    def _session(self, name: str) -> Any:
        with self._lock:
            if name not in self._sessions:
                self._folder.ensure_whole(name)
                self._sessions[name] = open_session(self._folder, name, self._threads)
            return self._sessions[name]


def _pool(values: Floats, spans: Sequence[tuple[int, int]]) -> Floats:
    """Return the mean over the tokens of each sentence."""
    return np.array([values[start:end].mean(axis=0) for start, end in spans], np.float32)


def _tell(window: TalkWindow, logits: Floats, reach: Floats) -> Iterator[tuple[tuple[int, int], Told]]:
    """Yield the place of each sentence of a window, and what is told of it."""
    ends = np.cumsum([1, *map(len, DETAILS)])
    keep = 1 / (1 + np.exp(-logits[:, 0]))
    best = [logits[:, start:end].argmax(axis=1) for start, end in pairwise(ends)]
    for number, place in enumerate(window.places):
        kind, owner, act, time = (names[choice[number]] for names, choice in zip(DETAILS, best, strict=True))
        needed = np.flatnonzero(reach[number, :number] >= _NEEDED).tolist()
        yield place, Told(float(keep[number]), kind, owner, act, time, tuple(window.places[each] for each in needed))
