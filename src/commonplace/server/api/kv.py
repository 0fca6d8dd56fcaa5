"""Key-value state over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ConfigDict, Field

from commonplace.book import Book
from commonplace.errors import NotFound
from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, expected
from commonplace.server.asking import READ, WRITE
from commonplace.server.callers import Ask
from commonplace.server.paths import Name

router = APIRouter(tags=["key-value"], route_class=Route)
Reading = Annotated[Ask, Depends(READ)]
Writing = Annotated[Ask, Depends(WRITE)]


class Value(Body):
    """A value to set."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": {"topic": "FastAPI"}, "ttl": 3600}]})

    value: Any = Field(description="Any JSON.")
    ttl: float | None = Field(default=None, description="Seconds after which it is gone.")


class Items(Body):
    """What to add to the end of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": ["a finding"]}]})

    items: list[Any]


@router.get("/kv", response_model=answers.Namespaces, operation_id="namespaces")
async def namespaces(request: Request, ask: Reading) -> Response:
    """The namespaces that hold anything."""
    return await answered(request, ask, lambda book: {"namespaces": book.namespaces()})


@router.get("/kv/{namespace}", response_model=answers.Keys, operation_id="keys")
async def keys(
    request: Request,
    ask: Reading,
    namespace: Name,
    prefix: Annotated[str, Query(description="Only keys that begin with it.")] = "",
) -> Response:
    """The keys that stand, sorted."""
    return await answered(request, ask, lambda book: {"keys": book.kv(namespace).keys(prefix)})


@router.get("/kv/{namespace}/{key:path}", response_model=answers.Entry, operation_id="get_entry")
async def get(request: Request, ask: Reading, namespace: Name, key: Name) -> Response:
    """The value with its version and times."""

    def verb(book: Book) -> object:
        entry = book.kv(namespace).entry(key)
        if entry is None:
            raise NotFound(f"nothing stands under {key!r} in {namespace!r}")
        return entry

    return await answered(request, ask, verb)


@router.put("/kv/{namespace}/{key:path}", response_model=answers.Entry, operation_id="set_entry")
async def put(request: Request, ask: Writing, namespace: Name, key: Name, body: Value) -> Response:
    """Set a value. `If-Match: "3"` only in the place of version 3, `If-None-Match: *` only if nothing stands there."""
    version = expected(request)
    return await answered(
        request, ask, lambda book: book.kv(namespace).set(key, body.value, ttl=body.ttl, if_version=version)
    )


@router.post("/kv/{namespace}/{key:path}", response_model=answers.Entry, operation_id="append_to_entry")
async def append(request: Request, ask: Writing, namespace: Name, key: Name, body: Items) -> Response:
    """Add items to the end of a list in one step, making the list if nothing stands there."""
    return await answered(request, ask, lambda book: book.kv(namespace).append(key, *body.items))


@router.delete("/kv/{namespace}/{key:path}", response_model=answers.Deleted, operation_id="delete_entry")
async def delete(request: Request, ask: Writing, namespace: Name, key: Name) -> Response:
    """Delete a value; `deleted` is false if nothing stood there."""
    version = expected(request)
    return await answered(request, ask, lambda book: {"deleted": book.kv(namespace).delete(key, if_version=version)})
