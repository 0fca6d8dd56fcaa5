"""What the reader of statements says of two memories, weighed with what their claims plainly say.

Claims that were read as the same or as contradicting are nearly always right, on the sentences that they can read. The
reader knows free words. A claim about another person or another numbered thing vetoes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commonplace.memories.core import Core
from commonplace.models.statements import CLOSE, DOUBT, RELATIONS, REPEAT, Pair
from commonplace.reconcile.neighbours import REJECTED, Neighbour
from commonplace.reconcile.relate import Comparison, are_apart, are_plain
from commonplace.values.arrays import Floats

_REPLACES, _REPEATS, _ADDS, _DISPUTES = map(RELATIONS.index, ("replaces", "repeats", "adds", "disputes"))
_PLAIN = ("contradicts", "same")
_LIKELY = 0.5
_SURE = 0.85
"""Probability from which a statement is a repetition in any case: what is taken for one is not recalled."""
_NUMBER = re.compile(r"\d+")


class Opinions:
    """What the reader says of pairs of statements, each of which it reads once; nothing without a reader."""

    def __init__(self, core: Core) -> None:
        self._load = core.statements
        self._read: dict[Pair, Floats] = {}

    def read(self, pairs: Iterable[Pair]) -> None:
        """Let the reader read pairs that it has not read yet."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._read]
        if self._load is not None and new:
            self._read.update(zip(new, self._load().relate(new), strict=True))

    def find(self, new: Neighbour, known: Neighbour) -> Floats | None:
        """Return the probability of each relation of two memories; None if the reader did not read them."""
        return self._read.get(make_pair(new, known))

    def lacks(self, new: Neighbour, known: Neighbour) -> bool:
        """Tell whether the reader would have something to say of two memories that it did not read."""
        return self._load is not None and self.find(new, known) is None and is_open(new, known)


def make_pair(new: Neighbour, known: Neighbour) -> Pair:
    """Return two memories in the order in which they were said."""
    same = new.source == known.source
    earlier, later = (known, new) if known.last_said <= new.last_said else (new, known)
    return Pair(earlier.text, later.text, same)


def is_open(new: Neighbour, known: Neighbour) -> bool:
    """Tell whether the claims leave open how two memories relate."""
    if REJECTED in new.text or REJECTED in known.text:
        return False
    return new.compare(known).likeness not in _PLAIN and not are_apart(new.assertion, known.assertion)


def weigh(new: Neighbour, known: Neighbour, opinion: Floats | None) -> Comparison:
    """Return how a new memory stands to a known one, by its claims and the reader's opinion."""
    plain = new.compare(known)
    if opinion is None or not is_open(new, known):
        return plain
    likely = opinion.tolist()
    if likely[_REPLACES] >= CLOSE:
        return Comparison(likeness="contradicts", reason="it says what holds now", certainty=likely[_REPLACES])
    if likely[_REPEATS] >= (_SURE if _may_differ(new, known) else REPEAT):
        return Comparison(likeness="same", reason="it says the same in other words", certainty=likely[_REPEATS])
    if (doubt := likely[_REPLACES] + likely[_DISPUTES]) >= DOUBT:
        return Comparison(likeness="disputes", reason="the two may not both hold", certainty=doubt)
    if likely[_ADDS] + likely[_REPEATS] >= _LIKELY:
        return Comparison(likeness="adds", reason="it says more about the same", certainty=likely[_ADDS])
    return plain


def _may_differ(new: Neighbour, known: Neighbour) -> bool:
    """Tell whether a statement brings a number that a known one lacks, or is as plain and makes another claim."""
    numbers, known_numbers = (set(_NUMBER.findall(each.text)) for each in (new, known))
    return not numbers <= known_numbers or are_plain(new.assertion, known.assertion)
