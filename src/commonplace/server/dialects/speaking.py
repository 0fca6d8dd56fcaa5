"""What the dialects have in common: how they are asked, and that each tells of errors in its own form."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from commonplace.book import Book
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.server.asking import host, namespace, secret
from commonplace.server.callers import Ask, Operation, Role
from commonplace.server.door import Door
from commonplace.server.problems import headers

_log = logging.getLogger(__name__)
_Handler = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class Malformed(InvalidInput):
    """A request whose shape is wrong, as the framework found it."""

    code = "invalid_request"
    status = 422


class Unexpected(CommonplaceError):
    """Something that nobody foresaw; what it was stays in the server."""

    code = "server_error"


class Speaking(APIRoute):
    """A route that tells of what goes wrong in the form that its dialect's clients read."""

    def told(self, request: Request, error: CommonplaceError) -> Response:
        """The answer that tells of an error."""
        return detail(error, str(error))

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler: _Handler = super().get_route_handler()

        async def speaking(request: Request) -> Response:
            try:
                return await handler(request)
            except CommonplaceError as error:
                return self.told(request, error)
            except RequestValidationError as error:
                return self.told(request, Malformed(_spoken(error)))
            except HTTPException:
                return self.told(request, Malformed("the body cannot be read"))
            except Exception as error:  # noqa: BLE001  # the client must get an answer that it can read
                # The error's own words may quote what was sent: logs get its kind and place alone.
                place = traceback.extract_tb(error.__traceback__)[-1]
                _log.error("a request failed: %s at %s:%s", type(error).__name__, place.filename, place.lineno)
                return self.told(request, Unexpected("the server failed; nothing is known to have been changed"))

        return speaking


def detail(error: CommonplaceError, told: object) -> Response:
    """An error as FastAPI's own clients read it."""
    return Response(to_json({"detail": told}), error.status, headers=headers(error), media_type="application/json")


def asked(role: Role, operation: Operation) -> Any:
    """What a request asks for: in the space that its path begins with, or in the home of its key."""

    # A coroutine, as every dependency here: the framework would send a plain function to a thread, and wait for it.
    async def read(request: Request) -> Ask:
        named = request.path_params.get("space")
        space = None if named is None else unquote(named, errors="surrogateescape")
        return Ask(
            secret=secret(request),
            host=host(request),
            space=space,
            role=role,
            operation=operation,
            namespace=namespace(request),
        )

    return Depends(read)


Reading = Annotated[Ask, asked("read", "read")]
Recalling = Annotated[Ask, asked("read", "recall")]
Writing = Annotated[Ask, asked("write", "write")]


async def answered(
    request: Request,
    ask: Ask,
    verb: Callable[[Book], T],
    *,
    status: int = 200,
    headers: Callable[[T], Mapping[str, str]] | None = None,
) -> Response:
    """The answer of a verb as JSON, written in the thread that ran it."""
    door: Door = request.app.state.door

    def work(book: Book) -> tuple[bytes, Mapping[str, str] | None]:
        found = verb(book)
        return to_json(found), None if headers is None else headers(found)

    body, extra = await door.run(ask, work)
    return Response(body, status, headers=extra, media_type="application/json")


def _spoken(error: RequestValidationError) -> str:
    """What is wrong with a request, without a word of what it holds."""
    found = [
        f"{'.'.join(str(part) for part in each['loc'][1:]) or each['loc'][0]}: {each['msg']}" for each in error.errors()
    ]
    return "; ".join(found[:5])
