"""Listing over HTTP: one page of memories after another."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ConfigDict, Field

from commonplace.errors import InvalidFilter
from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, given
from commonplace.server.api.shapes import Filter, Names, Within
from commonplace.server.asking import READ
from commonplace.server.callers import Ask
from commonplace.values import Within as WithinValue

router = APIRouter(tags=["memories"], route_class=Route)
Reading = Annotated[Ask, Depends(READ)]
Several = Annotated[list[str] | None, Query(description="May be given several times.")]


class Listed(Body):
    """Which memories to list, and how."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"filter": {"kind": "decision"}, "limit": 50}]})

    filter: Filter = None
    within: Within | None = None
    kinds: Names | None = None
    tags: Names | None = None
    superseded: bool = Field(default=False, description="Also what another memory took the place of.")
    order: Literal["newest", "oldest"] = "newest"
    limit: int = Field(default=100, description="From 1 to 10,000.")
    cursor: str | None = Field(default=None, description="From the page before.")


@router.post("/memories/list", response_model=answers.Page, operation_id="list_memories_by_body")
async def list_by_body(request: Request, ask: Reading, body: Listed) -> Response:
    """One page of memories by when they were said."""
    wanted = given(body)
    if body.within is not None:
        wanted["within"] = body.within.value()
    return await answered(request, ask, lambda book: book.list(**wanted))


@router.get("/memories", response_model=answers.Page, operation_id="list_memories")
async def list_by_query(
    request: Request,
    ask: Reading,
    kinds: Several = None,
    tags: Several = None,
    users: Several = None,
    agents: Several = None,
    sessions: Several = None,
    shared: Annotated[bool, Query(description="Whether memories of nobody in particular are found too.")] = True,
    filter: Annotated[str | None, Query(description="A filter as JSON text.")] = None,
    superseded: bool = False,
    order: Literal["newest", "oldest"] = "newest",
    limit: Annotated[int, Query(description="From 1 to 10,000.")] = 100,
    cursor: Annotated[str | None, Query(description="From the page before.")] = None,
) -> Response:
    """One page of memories by when they were said."""
    within = WithinValue(users=_tuple(users), agents=_tuple(agents), sessions=_tuple(sessions), shared=shared)
    wanted: dict[str, Any] = {
        "filter": None if filter is None else _parsed(filter),
        "within": None if within == WithinValue() else within,
        "kinds": kinds,
        "tags": tags,
        "superseded": superseded,
        "order": order,
        "limit": limit,
        "cursor": cursor,
    }
    return await answered(request, ask, lambda book: book.list(**wanted))


def _tuple(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFilter(f"the filter is not JSON: {error}") from error
