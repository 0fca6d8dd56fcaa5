"""Builders of the values that ranking and packing work on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

import numpy as np

from commonplace.store.base import Candidates
from commonplace.text import terms as analyze
from commonplace.values import Hit, Kind, Memory, Scope, Score

DAY = 86_400.0


def candidates(
    query: str, texts: Sequence[str], cosines: Sequence[float] | None = None, *, population: int | None = None
) -> Candidates:
    """Return candidates as a store finds them in a book of these texts (and of others that share no word)."""
    terms = analyze.query_terms(query)
    found = [analyze.terms(text) for text in texts]
    counts = np.array([[min(each.get(term, 0), 255) for term in terms] for each in found], np.uint8)
    counts = counts.reshape(len(texts), len(terms))
    lengths = np.array([sum(each.values()) for each in found], np.float32)
    return Candidates(
        seqs=np.arange(1, len(texts) + 1),
        cosines=np.array(cosines if cosines is not None else [0.0] * len(texts), np.float32),
        counts=counts,
        lengths=lengths,
        frequencies=(counts > 0).sum(axis=0).astype(np.int64),
        population=population if population is not None else len(texts),
        searched=population if population is not None else len(texts),
    )


def hit(
    text: str,
    *,
    score: float = 1.0,
    kind: Kind = "note",
    source: str | None = None,
    scope: Scope = Scope(),
    said_at: datetime = datetime(2026, 5, 4, 12, tzinfo=timezone.utc),
) -> Hit:
    """Return a hit on a memory of this text."""
    memory = Memory(
        id=text[:20],
        version=1,
        content=text,
        text=text,
        mime="text/plain",
        kind=kind,
        tags=(),
        metadata={},
        importance=0.5,
        scope=scope,
        source=source,
        origin="user",
        said_at=said_at,
        created_at=said_at,
        updated_at=said_at,
        expires_at=None,
        valid_to=None,
        superseded_by=None,
    )
    parts = Score(meaning=0.0, words=0.0, relevance=score, certainty=1.0, recency=1.0, strength=1.0)
    return Hit(memory=memory, score=score, parts=parts)
