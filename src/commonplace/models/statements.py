"""Statements as the reader is shown them: talk, sentence by sentence, and pairs of statements that may relate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

RELATIONS: Final = ("unrelated", "adds", "repeats", "replaces", "disputes")
"""How a later statement may relate to an earlier one."""
KINDS: Final = ("fact", "preference", "decision", "pattern", "failure", "insight", "plan")
OWNERS: Final = ("speaker", "other", "team")
ACTS: Final = ("state", "correct", "withdraw", "remember", "forget")
TIMES: Final = ("present", "past", "future")
DETAILS: Final = (KINDS, OWNERS, ACTS, TIMES)
"""What is told of a sentence that is kept."""

LONGEST: Final = 256
"""Tokens of a row."""
_SAME, _OTHER = 2, 3
"""Tokens that no text has: one speaker made both statements, or two did."""
_PERSON, _ASSISTANT = 4, 5
"""Tokens that no text has: a turn of a person, or of an assistant."""
_MARK = 6
"""A token that no text has: here a sentence begins; what is told of the sentence is read off it."""
_CLS, _SEP = 101, 102
_NAME, _SENTENCE, _STATEMENT = 6, 48, 64
"""Tokens that are read of a speaker's name, of a sentence, and of each statement of a pair."""

Split = Callable[[str, int], list[int]]
"""Returns the tokens of a text, at most so many."""


class Pair(NamedTuple):
    """Two statements, and whether one speaker made both."""

    earlier: str
    later: str
    same_speaker: bool


class Turn(NamedTuple):
    """A turn of a conversation, in its sentences."""

    speaker: str
    """A name, "user" or "Assistant"."""
    assistant: bool
    sentences: Sequence[str]


class Row(NamedTuple):
    """What the model reads: tokens, and the turn of each; a token sees those of its own turn and of earlier ones."""

    tokens: list[int]
    turns: list[int]
    marks: list[int]
    """Where the sentences begin; for a pair, where its relation is read."""


def lay_out_pair(split: Split, pair: Pair) -> Row:
    """Return the row of a pair, the later statement first."""
    later = [_SAME if pair.same_speaker else _OTHER, *split(pair.later, _STATEMENT)]
    tokens = [_CLS, *later, _SEP, *split(pair.earlier, _STATEMENT), _SEP]
    return Row(tokens, [0] * len(tokens), [0])


def lay_out_turn(split: Split, turn: Turn, number: int) -> Row:
    """Return the part of a row that holds one turn."""
    tokens = [_ASSISTANT if turn.assistant else _PERSON, *split(turn.speaker, _NAME)]
    marks = []
    for sentence in turn.sentences:
        marks.append(len(tokens))
        tokens += [_MARK, *split(sentence, _SENTENCE)]
    tokens.append(_SEP)
    return Row(tokens, [number] * len(tokens), marks)
