"""The true ten nearest of each question inside its space, by comparing it with every vector there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from corpus import SPACES, Corpus, space_of
from peers.base import K

_CHUNK = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The questions, their spaces, and their right answers."""

    asked: list[tuple[int, str]]
    """Questions by number, each with the space that it is asked in."""
    nearest: dict[int, list[int]]

    def share(self, answers: dict[int, list[int]]) -> float:
        """How much of the true ten the answers hold, on average."""
        found = [len(set(self.nearest[number]) & set(held)) / K for number, held in answers.items()]
        return sum(found) / len(found)


def truth(made: Corpus, size: int, *, space: str | None = None) -> Truth:
    """Each question is asked in the space of the row that it is closest to: the answer is there."""
    vectors = np.load(made.folder / "vectors.npy", mmap_mode="r")[:size]
    questions = np.load(made.folder / "asked.npy")
    best, score = np.zeros(len(questions), np.int64), np.full(len(questions), -2.0, np.float32)
    for start in range(0, size, _CHUNK):
        close = questions @ vectors[start : start + _CHUNK].T
        at = close.argmax(axis=1)
        better = close.max(axis=1) > score
        best[better], score[better] = at[better] + start, close.max(axis=1)[better]
    asked, nearest = [], {}
    for number, row in enumerate(best.tolist()):
        asked.append((number, space or space_of(row)))
        step = 1 if space else SPACES
        close = vectors[(row % step) :: step] @ questions[number]
        nearest[number] = [int(i) * step + row % step for i in np.argsort(-close)[:K]]
    return Truth(asked=asked, nearest=nearest)
