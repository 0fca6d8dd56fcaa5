"""A second look at the best candidates, with their texts: who said it, when, and does it look like an answer?"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from commonplace.recall.dates import Dates
from commonplace.recall.question import Question
from commonplace.text import speakers as speech
from commonplace.values import times
from commonplace.values.arrays import Floats

# Log-odds, fitted together with those of `rank`.
ASKED = 2.0
"""For what the person said who is asked about; as much against what another said."""
ASKING = -0.37
"""For a turn that is itself a question."""
NODDING = -9.0
"""For a turn that only acknowledges: what stands around it may bear on the question, it never does."""
SAME_MONTH = 1.7
"""For what was said in the month that the question names, before a month next to it."""
NEXT_MONTH = 2.0
"""For a month next to it, before any other."""
SAME_DAY = 4.1
BESIDE = 0.5
"""How much of what speaks for the memory that was said when the question means speaks against all others."""
TIME = 1.45
NUMBER = 0.7
NAME = 1.2
"""For a text of which a tenth or more are names, when a name is asked for."""

EARLIER = -2.0
"""For the oldest of the memories that hold all of the question's words: what was said later rather holds still."""
AFFINITY = 4.9
EXPECTED = (0.2, 0.89, 0.024)
"""The affinity of a text that shares no word and no meaning, and what share and meaning lead to expect more."""

_BEGINNING = 1_000
"""Characters of a text that are looked at."""
_KEPT = 4096
"""So many texts need not be looked at again: the same memories are candidates time after time."""
_TIMES = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|just|this (?:week|month|year|morning|spring|summer"
    r"|fall|winter)|week(?:end)?s?|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may \d"
    r"|june|july|august|september|october|november|december|\d{4})",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


class Told(NamedTuple):
    """What a memory's row tells about it."""

    text: str
    speaker: frozenset[str]
    said_at: int
    """Microseconds since 1970."""
    seq: int
    """Tells apart what was said at one moment: the order in which it was written down."""


def speakers(question: Question, named: Collection[str], told: Sequence[Told]) -> Floats:
    """Give the log-odds of who said each memory: for the one who is asked about, against everybody else.

    That a person whom the question names has spoken here at all tells that it is about this book; that people who
    talk with a program have spoken tells nothing.
    """
    voices = [each.speaker for each in told]
    people = {voice for voice in voices if voice & frozenset(named)}
    if people:
        match = ASKED if len(people) == 1 else 0.0
        return np.array([match if voice in people else -ASKED if voice else 0.0 for voice in voices], np.float32)
    if question.role is None:
        return np.zeros(len(voices), np.float32)
    other = speech.ASSISTANTS if question.role == "user" else speech.USERS
    return np.array([-2 * ASKED if voice & other else 0.0 for voice in voices], np.float32)


def lead(evidence: Floats, spoken: Floats, told: Sequence[Told]) -> float:
    """Give by how much the words of the person whom a question names fit it better than those of any other.

    Below zero, what is asked of one person was rather said by another. `evidence` is that of everything else than who
    spoke. Who asks has not said it.
    """
    theirs = [e for e, s, each in zip(evidence, spoken, told, strict=True) if s < 0 and "?" not in each.text]
    if not theirs or not (spoken > 0).any():
        return 0.0
    return float(evidence[spoken > 0].max() - max(theirs))


def moments(question: Question, told: Sequence[Told]) -> Floats:
    """Give the log-odds of when each memory was said."""
    if not question.dates or not told:
        return np.zeros(len(told), np.float32)
    days = [times.from_micros(each.said_at).date() for each in told]
    fits = np.array([question.dates.fit(said) for said in days], np.float32)
    named = np.array([_when(question.dates, said) for said in days], np.float32)
    # That something was said last week tells which memory is meant, and little about whether any is.
    moments: Floats = named + np.float32(SAME_DAY) * (fits - np.float32(BESIDE) * fits.max())
    return moments


def ages(told: Sequence[Told], words: Floats) -> Floats:
    """Give the log-odds against what others came after, so far as each holds the question's words."""
    order = np.lexsort(([each.seq for each in told], [each.said_at for each in told]))[::-1]
    later = np.empty(len(told), np.float32)
    later[order] = np.arange(len(told), dtype=np.float32) / max(len(told), 1)
    evidence: Floats = np.float32(EARLIER) * later * words**4
    return evidence


def shapeless(question: Question) -> float:
    """Give the log-odds of a text that has nothing of what an answer to this question looks like."""
    return -TIME * question.wants_time - NUMBER * question.wants_number - NAME * question.wants_name


def shape(question: Question, texts: Sequence[str]) -> Floats:
    """Give the log-odds of how each text looks, beyond those of a shapeless one."""
    return np.array([_shape(question, text) for text in texts], np.float32)


def expected(share: Floats, meaning: Floats) -> Floats:
    """Give the affinity that shared words and the whole meaning lead to expect."""
    affinity: Floats = EXPECTED[0] + EXPECTED[1] * share + EXPECTED[2] * meaning
    return affinity


def likeness(affinity: Floats, share: Floats, meaning: Floats) -> Floats:
    """Give what the closeness of single words adds to what shared words and the whole meaning led to expect."""
    added: Floats = np.float32(AFFINITY) * (affinity - expected(share, meaning))
    return added


def _shape(question: Question, text: str) -> float:
    """Give what the look of a text is worth to a question of this kind."""
    worth = ASKING if speech.is_question(text) else NODDING if speech.is_nod(text) else 0.0
    beginning = text[:_BEGINNING]
    if question.wants_time and _tells_a_time(beginning):
        worth += TIME
    if question.wants_number and _DIGIT.search(beginning):
        worth += NUMBER
    if question.wants_name:
        worth += NAME * _named(beginning)
    return worth


@lru_cache(maxsize=_KEPT)
def _tells_a_time(beginning: str) -> bool:
    return _TIMES.search(beginning) is not None


@lru_cache(maxsize=_KEPT)
def _named(beginning: str) -> float:
    """Give 1 for a text of which a tenth or more are names, less for fewer."""
    return min(10 * len(_CAPITAL.findall(beginning)) / (beginning.count(" ") + 1), 1.0)


def _when(dates: Dates, said: date) -> float:
    """Give what it is worth that a memory was said near a date that the question names."""
    off = dates.months_off(said)
    worth = SAME_DAY * dates.nearness(said)
    if off == 0:
        return worth
    return worth - SAME_MONTH if off == 1 else worth - SAME_MONTH - NEXT_MONTH
