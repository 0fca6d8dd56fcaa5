"""One recall for a turn of an agent: what bears on the words just said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.book import Book
from commonplace.integrations.words import readable, shortened
from commonplace.values import Recall, Scope, Within, checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to recall in every turn; the names and meanings are those of `Book.recall`."""

    within: Within | Scope | None = None
    k: int = 10
    threshold: float | None = None
    max_tokens: int | None = 2000
    filter: Mapping[str, Any] | None = None
    kinds: Sequence[str] | None = None
    tags: Sequence[str] | None = None

    def __post_init__(self) -> None:
        checks.within(self.within)
        ensure_options(k=self.k, threshold=self.threshold, max_tokens=self.max_tokens, kinds=self.kinds, tags=self.tags)

    def recall(self, book: Book, words: str, *, besides: str) -> Recall | None:
        """What bears on the words, but for the messages of the conversation `besides`; None if nothing does.

        The model has that conversation before it already.
        """
        question = shortened(readable(words))
        if not question.strip():
            return None
        elsewhere: dict[str, Any] = {"session": {"$ne": besides}}
        found = book.recall(
            question,
            k=self.k,
            threshold=self.threshold,
            max_tokens=self.max_tokens,
            within=self.within,
            filter=elsewhere if self.filter is None else {"$and": [self.filter, elsewhere]},
            kinds=self.kinds,
            tags=self.tags,
        )
        return found if found.text else None


def ensure_options(
    *,
    k: int | None,
    threshold: float | None,
    max_tokens: int | None,
    kinds: Sequence[str] | None,
    tags: Sequence[str] | None,
) -> None:
    """Refuse what `Book.recall` would refuse: a slip is told where it was made, not in an agent's first turn."""
    if k is not None:
        checks.count(k, "k", least=1, most=1_000)
    if threshold is not None:
        checks.share(threshold, "threshold")
    if max_tokens is not None:
        checks.count(max_tokens, "max_tokens", least=1)
    checks.kinds(kinds)
    checks.tags(tags or ())
