"""How a space is, over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from commonplace.server.api import answers
from commonplace.server.api.answering import Route, answered
from commonplace.server.asking import READ
from commonplace.server.callers import Ask

router = APIRouter(tags=["care"], route_class=Route)
Reading = Annotated[Ask, Depends(READ)]


@router.get("/stats", response_model=answers.Stats, operation_id="stats")
async def stats(request: Request, ask: Reading) -> Response:
    """How much the space holds, and with what."""
    return await answered(request, ask, lambda book: book.stats())


@router.get("/check", response_model=answers.Check, operation_id="check")
async def check(
    request: Request,
    ask: Reading,
    deep: Annotated[bool, Query(description="Compare every index with the rows; needs a key that may admin.")] = False,
) -> Response:
    """Verify the store and that recall works; for a key that opens every space, since it tells of all of them."""
    ask = replace(ask, everywhere=True, long=True, role="admin" if deep else ask.role)
    return await answered(request, ask, lambda book: book.check(deep=deep))
