"""HTTP dialects: the requests of other services' clients, answered from a book.

The server mounts `ServiceRoutes` and puts a Host at `app.state.services`. The dialects stay out of the OpenAPI
document: their clients define them.
"""

from __future__ import annotations

import inspect
import logging
import re
import traceback
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, create_model
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from commonplace import Book, CommonplaceError, InvalidInput, Memory, Within

Name = Annotated[str, AfterValidator(partial(unquote, errors="surrogateescape"))]
"""A part of a path, decoded: `a%2Fb` is the name a/b."""
Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
_LONGEST_PAGE = 10_000
_ROUTE = "commonplace.services.route"
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_log = logging.getLogger(__name__)
Function = TypeVar("Function", bound=Callable[..., object])

Operation = Literal["read", "recall", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The server that mounts the dialects, as they see it."""

    run: Callable[[Request, Operation, Callable[[Book], Any], str | None], Coroutine[Any, Any, Any]]
    """Runs a verb on the book that a request is for: the space of its path, or its key's home.

    The last argument is the namespace that it writes to, if the path does not name it; limits count by it.
    """
    has_key: Callable[[Request], bool]
    """Returns whether a request carries a key, valid or not."""
    sign_up: Callable[[Request, str], Coroutine[Any, Any, str | None]]
    """Creates a key for a name and returns it; None if the server does not allow that."""
    error_headers: Callable[[CommonplaceError], Mapping[str, str]]
    describe_invalid: Callable[[RequestValidationError], str]
    """Returns what is wrong with a request, without quoting it."""


class Malformed(InvalidInput):
    """A request whose shape is wrong, as the framework found it."""

    code = "invalid_request"
    status = 422


class Unexpected(CommonplaceError):
    """An unforeseen error; its details stay in the server."""

    code = "server_error"


def host_of(request: Request) -> Host:
    """Return the server's side of the dialects."""
    found: Host = request.app.state.services
    return found


class ServiceRoute(APIRoute):
    """A route whose errors have the shape that the service's clients read: {detail}, unless a service overrides it."""

    malformed_status = Malformed.status

    def error_body(self, request: Request, error: CommonplaceError) -> object:
        """Return the body of the answer to a request that raised an error."""
        return {"detail": str(error)}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_all(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as raised:  # noqa: BLE001  # the client must get an answer that it can read
                host = host_of(request)
                error = _translate(raised, host)
            status = self.malformed_status if isinstance(error, Malformed) else error.status
            body, headers = to_json(self.error_body(request, error)), host.error_headers(error)
            return Response(body, status, headers=headers, media_type="application/json")

        return handle_all


def _translate(error: Exception, host: Host) -> CommonplaceError:
    if isinstance(error, CommonplaceError):
        return error
    if isinstance(error, RequestValidationError):
        return Malformed(host.describe_invalid(error))
    if isinstance(error, HTTPException):
        return Malformed("the body cannot be read")
    # The error's text may quote the request, so only its type and place are logged.
    place = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("a request failed: %s at %s:%s", type(error).__name__, place.filename, place.lineno)
    return Unexpected("the server failed; nothing is known to have been changed")


class ServiceRouter(APIRouter):
    """Routes of a dialect: functions that take a book and the parts of a request, and return the answer's body."""

    def on_book(
        self,
        method: str,
        path: str,
        operation: Operation | None = None,
        *,
        status: int = 200,
        headers: Callable[[Any], Mapping[str, str]] = lambda body: {},
        namespace: str | None = None,
    ) -> Callable[[Function], Function]:
        """Make a route of a function. Keyword-only arguments are fields of the body, or of the query without a body."""
        runs: Operation = operation or ("read" if method == "GET" else "write")

        def decorate(function: Function) -> Function:
            async def endpoint(request: Request, body: BaseModel | None = None, **parts: Any) -> Response:
                def work(book: Book) -> tuple[bytes, Mapping[str, str]]:
                    answer = function(book, **parts, **(dict(body) if body else {}))
                    return to_json(answer), headers(answer)  # encoded in the worker thread, too

                answer, extra = await host_of(request).run(request, runs, work, namespace and namespace.format(**parts))
                return Response(answer, status, headers=extra, media_type="application/json")

            endpoint.__signature__ = _signature(function, method, path)  # type: ignore[attr-defined]  # FastAPI reads it
            endpoint.__name__, endpoint.__module__ = function.__name__, function.__module__
            self.add_api_route(path, endpoint, methods=[method])
            return function

        return decorate


def _signature(function: Callable[..., object], method: str, path: str) -> inspect.Signature:
    """Return the parameters of an endpoint: the request, the parts of its path and query, and a body."""
    made: dict[str, Any] = {"request": inspect.Parameter("request", _KEYWORD, annotation=Request)}
    fields: dict[str, Any] = {}
    for name, each in [*inspect.signature(function, eval_str=True).parameters.items()][1:]:
        if each.kind is _KEYWORD and method in ("POST", "PUT"):
            fields[name] = (each.annotation, ... if each.default is each.empty else each.default)
        elif each.annotation is str and f"{{{name}" in path:
            made[name] = each.replace(kind=_KEYWORD, annotation=Name)
        else:
            made[name] = each.replace(kind=_KEYWORD)
    if fields:
        body = create_model(f"{function.__name__}_body", **fields)
        made["body"] = inspect.Parameter("body", _KEYWORD, annotation=body)
    return inspect.Signature([*made.values()])


class ServiceRoutes(BaseRoute):
    """The routes of several dialects, at the root and under /spaces/{space}; aliased ones also under /v1 and /api.

    As separate routes they would be more than a hundred, and trying them in turn would take over a millisecond. Here
    the prefixes are removed, and the first words of the path select the few routes to try.
    """

    def __init__(self, *routers: APIRouter, aliased: APIRouter) -> None:
        self._routes: dict[str, list[APIRoute]] = defaultdict(list)
        for route in _routes_of(*routers, aliased):
            self._routes[_first_words(route.path)].append(route)
        words = "|".join({route.path.split("/")[1] for route in _routes_of(aliased)})
        self._address = re.compile(rf"(?:/spaces/([^/]+)(?=/))?(?:/(?:v1|api)(?=/(?:{words})(?:/|$)))?(/.*)")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        found = self._address.fullmatch(scope["path"]) if scope["type"] == "http" else None
        best: tuple[Match, Scope] = Match.NONE, {}
        if found is None:
            return best
        space, rest = found.groups()
        bare = {"type": "http", "method": scope["method"], "path": rest}
        for route in self._routes.get(_first_words(rest), ()):
            match, child = route.matches(bare)
            if match is not Match.NONE and best[0] is not Match.FULL:
                named = {} if space is None else {"space": space}
                best = match, {**child, _ROUTE: route, "path_params": {**child["path_params"], **named}}
            if match is Match.FULL:
                break
        return best

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope[_ROUTE].handle(scope, receive, send)


def _routes_of(*routers: APIRouter) -> list[APIRoute]:
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]


def _first_words(path: str) -> str:
    """Return the first word of a path, or the first two if that is v1."""
    words = path.split("/", 3)
    return "/".join(words[1:3]) if words[1] == "v1" else words[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some memories of a longer list."""

    memories: list[Memory]
    total: int | None
    """How many there are; None if that was not asked for."""
    more: bool


def window(book: Book, *, within: Within | None, offset: int, limit: int, counted: bool = False) -> Window:
    """Return memories from an offset on, the newest first.

    A book pages by cursor, so the memories before the offset are read, too. A book knows how many memories its whole
    space has; to count a part of it, the list is read to its end.
    """
    taken: list[Memory] = []
    seen, cursor = 0, None
    wanted, to_the_end = offset + limit, counted and within is not None
    while True:
        most = _LONGEST_PAGE if to_the_end else min(_LONGEST_PAGE, wanted - seen)
        page = book.list(within=within, limit=most, cursor=cursor)
        taken += page.memories[max(offset - seen, 0) : max(wanted - seen, 0)]
        seen, cursor = seen + len(page), page.cursor
        if cursor is None or (seen >= wanted and not to_the_end):
            break
    total = (seen if within is not None else book.stats().memories) if counted else None
    return Window(memories=taken, total=total, more=cursor is not None)


def text_of(memory: Memory) -> str:
    """Return the text of a memory, also of one that is JSON or an image."""
    return memory.content if isinstance(memory.content, str) else memory.text
