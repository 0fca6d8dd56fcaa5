"""What every route of the native API does alike: read a body, run one verb, write the answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json

from commonplace import wire
from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.server.callers import Ask
from commonplace.server.door import Door
from commonplace.server.problems import MEDIA_TYPE
from commonplace.values import Entry, File, Memory

T = TypeVar("T")
JSON = "application/json"


class Body(BaseModel):
    """A request's body: nothing is guessed, and a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Route(APIRoute):
    """A route that takes JSON only: a page of another site cannot send that without asking first."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def checked(request: Request) -> Response:
            ensure_type(request, JSON)
            return await handle(request)

        return checked


def ensure_type(request: Request, *known: str) -> None:
    """Refuse a body of a type that is not known."""
    headers = request.headers
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in known and not (JSON in known and given.startswith("application/") and given.endswith("+json")):
        raise HTTPException(415, f"the body must be {known[0]}, not {given or 'of no type'}: set Content-Type")


def door(request: Request) -> Door:
    """The door of the application."""
    found: Door = request.app.state.door
    return found


async def answered(
    request: Request, ask: Ask, verb: Callable[[Book], object], *, status: int = 200, keep: bool = False
) -> Response:
    """Run a verb and answer with what it gives; one thing with a version has an ETag."""
    if keep:
        given = await door(request).run(ask, verb, keep=True)
        return told(encoded(given), status)
    return told(await door(request).run(ask, lambda book: encoded(verb(book))), status)


def encoded(value: object) -> tuple[bytes, int | None]:
    """An answer's body and version."""
    return to_json(wire.plain(value)), _version(value)


def told(answer: tuple[bytes, int | None], status: int) -> Response:
    """An encoded answer as a response."""
    body, version = answer
    return Response(body, status, headers=None if version is None else {"ETag": f'"{version}"'}, media_type=JSON)


def _version(value: object) -> int | None:
    if isinstance(value, Memory | Entry):
        return value.version
    return value.revision if isinstance(value, File) else None


def expected(request: Request) -> int | None:
    """The version that a change is made for: If-Match: "3", or If-None-Match: * for something new."""
    match, none = request.headers.get("if-match"), request.headers.get("if-none-match")
    if match is not None and none is not None:
        raise InvalidInput("send If-Match or If-None-Match, not both")
    if none is not None:
        if none.strip() != "*":
            raise InvalidInput(f"If-None-Match is * (only if nothing stands there), not {none!r}")
        return 0
    if match is None:
        return None
    number = match.strip().removeprefix('"').removesuffix('"')
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise InvalidInput(f'If-Match is the ETag of one version, such as "3", not {match!r}')
    return int(number)


def given(body: BaseModel) -> dict[str, Any]:
    """What a body names: what it does not keeps the verb's own default."""
    return {name: getattr(body, name) for name in body.model_fields_set}


_STATUSES = {
    400: "The request cannot be used: the message says what and why.",
    401: "No key, or one that is unknown, expired or revoked.",
    403: "The key does not open this space, or not for this.",
    404: "There is no such thing in this space.",
    408: "The body took too long to arrive.",
    409: "Another change came first, an id is taken, or the answer of a repeated request is not kept.",
    413: "More than the limit.",
    415: "The body is of another type.",
    422: "The idempotency key came before, with another request.",
    429: "More than the key may have, or too many jobs wait: try again later.",
    502: "The embedder or the reranker failed.",
    503: "The store is busy or away: try again.",
    507: "The disk is full; nothing was changed.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": words, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for status, words in _STATUSES.items()
}
"""What every route may answer but what it promises."""
