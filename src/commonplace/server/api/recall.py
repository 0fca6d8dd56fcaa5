"""Recall over HTTP, and feedback on it."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import Field

from commonplace.server.api import models
from commonplace.server.api.models import Filter, Moment, Names, WithinBody, example
from commonplace.server.api.routes import Body, RecallExchange, Route, WriteExchange
from commonplace.values import Order, Signal

router = APIRouter(tags=["recall"], route_class=Route)


class RecallBody(Body):
    """A query, and what narrows it."""

    model_config = example({"query": "which web framework did we pick?", "max_tokens": 500})

    query: str
    k: int = Field(default=10, description="At most this many hits.")
    max_tokens: int | None = Field(default=2000, description="At most this many tokens of text; null for no limit.")
    within: WithinBody | None = None
    filter: Filter = None
    kinds: Names | None = None
    tags: Names | None = None
    threshold: float | None = Field(default=None, description="A probability; 0 switches the cut-off off.")
    order: Order = "relevance"
    as_of: Moment | None = Field(default=None, description="Search the book as it was at this time.")
    superseded: bool = False
    vector: list[float] | None = Field(default=None, description="Replaces the query's own vector.")


class FeedbackBody(Body):
    """Whether a recalled memory was of use."""

    model_config = example({"target": "01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b", "signal": "used"})

    target: str = Field(description="A memory's id, or the receipt of a recall.")
    signal: Signal


@router.post("/recall", response_model=models.Recall)
async def recall(http: RecallExchange, body: RecallBody) -> Response:
    """Recall what bears on the query, the best first; an empty answer means that nothing does."""
    return await http.answer(lambda book: book.recall(**body.given()))


@router.post("/feedback", response_model=models.Touched)
async def feedback(http: WriteExchange, body: FeedbackBody) -> Response:
    """Tell whether what was recalled was used, ignored or wrong."""
    return await http.answer(lambda book: {"memories": book.feedback(body.target, body.signal)})
