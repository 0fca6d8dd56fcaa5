"""Statements as the reader is shown them: sentences that may be worth keeping, and pairs that may relate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

RELATIONS: Final = ("unrelated", "adds", "repeats", "replaces", "disputes")
"""How a later statement may relate to an earlier one."""
KINDS: Final = ("fact", "preference", "decision", "pattern", "failure", "insight", "plan")
OWNERS: Final = ("speaker", "other", "team")
ACTS: Final = ("state", "correct", "withdraw", "remember", "forget")
TIMES: Final = ("present", "past", "future")
NEEDS: Final = ("nothing", "message", "turn")
"""What a sentence needs to be understood: nothing, an earlier sentence of its message, or a turn before."""
DETAILS: Final = (KINDS, OWNERS, ACTS, TIMES, NEEDS)
"""What is told of a sentence that is kept."""

_SAME, _OTHER = 2, 3
"""Tokens that no text has: one speaker made both statements, or two did."""
_PERSON, _ASSISTANT = 4, 5
"""Tokens that no text has: a sentence of a person, or of an assistant."""
_STATEMENT = 64
"""Tokens that are read of each statement."""
_BEFORE, _AFTER = 48, 16
"""Tokens that are read around a sentence."""

Split = Callable[[str, int], list[int]]
"""Returns the tokens of a text, at most so many."""


class Pair(NamedTuple):
    """Two statements, and whether one speaker made both."""

    earlier: str
    later: str
    same_speaker: bool


def split_pair(split: Split, pair: Pair) -> list[list[int]]:
    """Return the tokens of a pair, the later statement first."""
    return [[_SAME if pair.same_speaker else _OTHER, *split(pair.later, _STATEMENT)], split(pair.earlier, _STATEMENT)]


class Sentence(NamedTuple):
    """A sentence of a message, and what stands around it."""

    text: str
    speaker: str
    """A name, "user" or "Assistant"."""
    assistant: bool
    before: str
    """The turn before as "Name: text", and the sentences before it in its message as a second line like it."""
    after: str
    """The sentences after it in its message."""


def split_sentence(split: Split, sentence: Sentence) -> list[list[int]]:
    """Return the tokens of a sentence, those before it and those after it."""
    rows = [
        [_ASSISTANT if sentence.assistant else _PERSON, *split(f"{sentence.speaker}: {sentence.text}", _STATEMENT)],
        split(sentence.before[-16 * _BEFORE :], 8 * _BEFORE)[-_BEFORE:],
        split(sentence.after, _AFTER),
    ]
    return [row for row in rows if row]
