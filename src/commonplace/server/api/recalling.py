"""Recall over HTTP, and what came of it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ConfigDict, Field

from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, given
from commonplace.server.api.shapes import Filter, Moment, Names, Within
from commonplace.server.asking import RECALL, WRITE
from commonplace.server.callers import Ask
from commonplace.values import Order, Signal

router = APIRouter(tags=["recall"], route_class=Route)


class Question(Body):
    """What to recall."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "which web framework did we pick?", "max_tokens": 500}]}
    )

    query: str
    k: int = Field(default=10, description="At most this many hits.")
    max_tokens: int | None = Field(default=2000, description="At most this many tokens of text; null for no limit.")
    within: Within | None = None
    filter: Filter = None
    kinds: Names | None = None
    tags: Names | None = None
    threshold: float | None = Field(default=None, description="A probability; 0 switches the cut-off off.")
    order: Order = "relevance"
    as_of: Moment | None = Field(default=None, description="Answer as the book stood at that moment.")
    superseded: bool = False
    vector: list[float] | None = Field(default=None, description="Takes the place of the query's own.")


class Feedback(Body):
    """Whether what was recalled was of use."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"target": "01a8f3c2b7d94e5f8a6b1c2d3e4f5a6b", "signal": "used"}]}
    )

    target: str = Field(description="A memory's id, or the receipt of a recall.")
    signal: Signal


@router.post("/recall", response_model=answers.Recall, operation_id="recall")
async def recall(request: Request, ask: Annotated[Ask, Depends(RECALL)], body: Question) -> Response:
    """Recall what bears on the query, the best first; an empty answer means that nothing does."""
    return await answered(request, ask, lambda book: book.recall(**arguments(body)))


def arguments(body: Question) -> dict[str, Any]:
    """What the verb is called with."""
    asked = given(body)
    if body.within is not None:
        asked["within"] = body.within.value()
    return asked


@router.post("/feedback", response_model=answers.Touched, operation_id="feedback")
async def feedback(request: Request, ask: Annotated[Ask, Depends(WRITE)], body: Feedback) -> Response:
    """Tell whether what was recalled was used, ignored or wrong."""
    return await answered(request, ask, lambda book: {"memories": book.feedback(body.target, body.signal)})
