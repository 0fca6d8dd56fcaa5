"""An embedder that only looks up: for candidates that take no vectors but insist on making them."""

from __future__ import annotations

from collections.abc import Sequence

from corpus import Question, Row


class Vectors:
    """Gives each text the vector that was computed for it beforehand, in the time of one look-up."""

    def __init__(self) -> None:
        self.known: dict[str, list[float]] = {}

    def learn(self, rows: Sequence[Row], questions: Sequence[Question]) -> None:
        """Know these texts from now on, and no others."""
        self.known = {row.text: row.floats for row in rows} | {q.text: q.floats for q in questions}

    def one(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.known[text]

    def many(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of several texts, in order."""
        return [self.known[text] for text in texts]
