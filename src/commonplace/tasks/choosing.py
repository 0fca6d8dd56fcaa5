"""Which of the memos that recall proposes bear on a task."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.tasks import memo
from commonplace.tasks.memo import Memo
from commonplace.values import Hit

THRESHOLD = 0.5
GENEROUS = 0.1


def choose(task: str, hits: Sequence[Hit], *, threshold: float | None = None, generous: bool = False) -> list[Memo]:
    """The memos that bear on a task, the best first."""
    least = THRESHOLD if threshold is None else threshold
    least = min(least, GENEROUS) if generous else least
    found = [memo.read(hit.memory, hit.parts.relevance) for hit in hits]
    return sorted((each for each in found if (each.relevance or 0) >= least), key=lambda each: -(each.relevance or 0))
