"""The one thing that commonplace asks of a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


@runtime_checkable
class Reranker(Protocol):
    """Reads a question and a text together. Must be safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name, for messages."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float] | npt.NDArray[np.floating]:
        """One number for each text, in order: the log-odds that it answers the query, as a cross-encoder gives them."""
