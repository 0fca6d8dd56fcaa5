"""Recall over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict

from commonplace import wire
from commonplace.server.asking import RECALL
from commonplace.server.callers import Ask
from commonplace.server.door import Door

router = APIRouter(tags=["recall"])


class Question(BaseModel):
    """What to recall."""

    model_config = ConfigDict(extra="forbid")

    query: str
    k: int = 10
    max_tokens: int | None = 2000


@router.post("/recall")
async def recall(request: Request, ask: Annotated[Ask, Depends(RECALL)], question: Question) -> Response:
    """Recall what bears on the query."""
    door: Door = request.app.state.door
    asked = question.model_dump()
    body = await door.run(ask, lambda book: wire.dumps(book.recall(**asked)))
    return Response(body, media_type="application/json")
