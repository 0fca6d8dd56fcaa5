"""Repeats: texts that say again what a better one says. Two different statements are never taken for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.values.arrays import Floats

ALIKE = 0.95
_MOSTLY = 0.8

# Words, and every sign but plain punctuation: < is not >, a question is no statement, one emoji not another.
_WORD = re.compile(r"""[^\W_]+(?:[.,'’][^\W_]+)*|[^\s\w.,;:!'"“”‘’()\[\]{}…]""")
_FILLER = "a an the just really very also please actually basically simply ok okay that"
_FILLERS = frozenset(_FILLER.split())
_TURN = """
no not never none nobody nothing nor neither without cannot except unless until if but instead than before after
less least fewer more most only almost nearly hardly stopped former formerly
"""
_TURNING = frozenset(_TURN.split())


def find_distinct(texts: Sequence[str], vectors: Floats | None = None) -> list[int]:
    """Return the places of the texts to keep, in their order: each says something of its own.

    A text is dropped only when a kept one has all its words in its order and adds nothing that could
    change the meaning: no negation, number or name. `vectors` holds one unit row a text; None compares words alone.
    """
    worded = [_split(text) for text in texts]
    kept: list[int] = []
    seen: set[tuple[str, ...]] = set()
    for place, words in enumerate(worded):
        same = _fold(words)
        if same in seen or any(_repeats(worded[other], words, vectors, other, place) for other in kept):
            continue
        seen.add(same)
        kept.append(place)
    return kept


def _split(text: str) -> tuple[str, ...]:
    """Return the words that carry meaning, as written: case tells names apart later."""
    words = tuple(word for word in _WORD.findall(text) if word.lower() not in _FILLERS)
    return words or tuple(_WORD.findall(text)) or (text.strip(),)


def _fold(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.casefold().replace("’", "'") for word in words)


def _repeats(kept: tuple[str, ...], words: tuple[str, ...], vectors: Floats | None, other: int, place: int) -> bool:
    """Tell whether a kept text already says what these words say."""
    if vectors is None or not _MOSTLY * len(kept) <= len(words) < len(kept):
        return False
    if float(vectors[other] @ vectors[place]) < ALIKE:
        return False
    added = _added(kept, _fold(words))
    return added is not None and not any(_changes_meaning(word) for word in added)


def _added(kept: tuple[str, ...], words: tuple[str, ...]) -> list[str] | None:
    """Return what the kept text has beyond these words; None when it lacks one or has them in another order."""
    added: list[str] = []
    place = 0
    for word in kept:
        if place < len(words) and _fold((word,))[0] == words[place]:
            place += 1
        else:
            added.append(word)
    return added if place == len(words) else None


def _changes_meaning(word: str) -> bool:
    """Tell whether a word may change what a sentence claims."""
    plain = word.casefold().replace("’", "'")
    return plain in _TURNING or plain.endswith("n't") or not word.islower()
