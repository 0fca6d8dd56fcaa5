"""A request to recall: what a caller asks for, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.recall import rank
from commonplace.settings import Settings
from commonplace.store.where import Selection, select
from commonplace.values import Order, Scope, Within, checks, times
from commonplace.values.arrays import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a caller asked for, checked."""

    query: str
    k: int
    max_tokens: int | None
    threshold: float | None
    """Relevance that the best memory must have; None for the usual one."""
    company: float
    """Relevance that the others must have."""
    apart: float
    """Log-odds by which they may stand behind the best."""
    order: Order
    now: int
    half_lives: Mapping[str, float]
    selection: Selection
    vector: Sequence[float] | Floats | None
    """Replaces the query's own vector."""


def make_request(
    settings: Settings,
    query: str,
    *,
    k: int = 10,
    max_tokens: int | None = 2000,
    within: Within | Scope | None = None,
    filter: Mapping[str, object] | None = None,
    kinds: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    threshold: float | None = None,
    order: Order = "relevance",
    as_of: datetime | None = None,
    superseded: bool = False,
    vector: Sequence[float] | Floats | None = None,
) -> Request:
    """Check what a caller asks for."""
    return Request(
        query=checks.text(query, "query", limit=settings.max_text_bytes),
        k=checks.count(k, "k", least=1, most=1_000),
        max_tokens=None if max_tokens is None else checks.count(max_tokens, "max_tokens"),
        threshold=None if threshold is None else checks.share(threshold, "threshold"),
        company=rank.COMPANY if threshold is None else threshold,
        apart=rank.APART if threshold is None else math.inf,
        order=checks.order(order),
        now=times.now(),
        half_lives=settings.half_lives,
        selection=select(filter=filter, within=within, kinds=kinds, tags=tags, superseded=superseded, as_of=as_of),
        vector=vector,
    )
