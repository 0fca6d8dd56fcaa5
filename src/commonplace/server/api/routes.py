"""The parts that all routes of the native API share: bodies, calls and answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, get_type_hints

from fastapi import Depends, Header, HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic_core import to_json

from commonplace import wire
from commonplace.access.keys import Role
from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.server.auth import Call, Operation, decode_name, read_call
from commonplace.server.door import Door
from commonplace.values import Entry, File, Memory

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
JSON = "application/json"
Name = Annotated[str, AfterValidator(decode_name)]
"""A part of a path, decoded: `a%2Fb` is the name a/b."""
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The caller's own key for this request; repeated with it, the request is not carried out again.",
    ),
]


class _Access(NamedTuple):
    """The role and operation that a route needs."""

    role: Role
    operation: Operation


_READ, _RECALL = _Access("read", "read"), _Access("read", "recall")
_WRITE, _ADMIN = _Access("write", "write"), _Access("admin", "admin")


class Body(BaseModel):
    """A request's body. Types are strict, and unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self) -> dict[str, Any]:
        """Return the fields that were sent; the others keep the verb's own defaults."""
        return {name: _value_of(getattr(self, name)) for name in self.model_fields_set}

    def as_argument(self) -> object:
        """Return the argument of a verb that this becomes."""
        return self.given()


def _value_of(part: object) -> object:
    return part.as_argument() if isinstance(part, Body) else part


class Route(APIRoute):
    """A route that takes only JSON: a page of another site cannot send that without asking first.

    An endpoint of an exchange and a body is called directly: FastAPI's dependencies take longer than the rest of the
    routing. A body that cannot be read takes FastAPI's way, which says what is wrong.
    """

    def get_route_handler(self) -> _Handler:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        hints: dict[str, Any] = get_type_hints(self.endpoint, include_extras=True)
        is_direct = hints.keys() == {"http", "body", "return"} and isinstance(hints["body"], type)

        async def check_and_handle(request: Request) -> Response:
            ensure_type(request, JSON)
            body = await _parse(request, hints["body"]) if is_direct else None
            if body is None:
                return await handle(request)
            call = read_call(request, *hints["http"].__metadata__[1])
            answer: Response = await self.endpoint(Exchange(request, call), body)
            return answer

        return check_and_handle


async def _parse(request: Request, model: type[Body]) -> Body | None:
    """Return the body of a request; None if only FastAPI can read the request, or say what is wrong with it."""
    if "idempotency-key" in request.headers:
        return None
    try:
        return model.model_validate(json.loads(await request.body()))
    except (ValueError, RecursionError):
        return None


def ensure_type(request: Request, *known: str) -> None:
    """Refuse a body of an unknown type."""
    headers = request.headers
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in known and not (JSON in known and given.startswith("application/") and given.endswith("+json")):
        raise HTTPException(415, f"the body must be {known[0]}, not {given or 'of no type'}: set Content-Type")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request to the native API, and its answer."""

    request: Request
    call: Call

    @property
    def door(self) -> Door:
        found: Door = self.request.app.state.door
        return found

    def having(self, **changes: Any) -> Exchange:
        """Return this exchange with a changed call."""
        return replace(self, call=replace(self.call, **changes))

    async def answer(
        self,
        verb: Callable[[Book], object],
        *,
        status: int = 200,
        again: Callable[[Book], object] | None = None,
        keep: bool = False,
    ) -> Response:
        """Run a verb and answer with its result; a result with a version has an ETag. See Door for the arguments."""
        if keep:
            body, version = _encode(await self.door.run(self.call, verb, keep=True))
        else:
            repeat = None if again is None else lambda book: _encode(again(book))
            body, version = await self.door.run(self.call, lambda book: _encode(verb(book)), again=repeat)
        return Response(body, status, headers=None if version is None else {"ETag": f'"{version}"'}, media_type=JSON)

    def expected_version(self) -> int | None:
        """Return the version that a change is made for: If-Match: "3", or 0 for If-None-Match: *."""
        match, none = self.request.headers.get("if-match"), self.request.headers.get("if-none-match")
        if match is not None and none is not None:
            raise InvalidInput("send If-Match or If-None-Match, not both")
        if none is not None:
            if none.strip() != "*":
                raise InvalidInput(f"If-None-Match is * (only for something new), not {none!r}")
            return 0
        if match is None:
            return None
        number = match.strip().removeprefix('"').removesuffix('"')
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise InvalidInput(f'If-Match is the ETag of one version, such as "3", not {match!r}')
        return int(number)


def _encode(value: object) -> tuple[bytes, int | None]:
    version = None
    if isinstance(value, Memory | Entry):
        version = value.version
    elif isinstance(value, File):
        version = value.revision
    return to_json(wire.plain(value)), version


def _reads(access: _Access) -> Any:
    # A coroutine, as every dependency here: the framework would run a plain function in a thread.
    async def read(request: Request, space: Name) -> Exchange:
        return Exchange(request, read_call(request, *access))

    return Depends(read)


def _writes(*, whole: bool) -> Any:
    async def read(request: Request, space: Name, idempotency_key: IdempotencyKey = None) -> Exchange:
        digest = ""
        if idempotency_key is not None:
            digest = _digest(request, await request.body() if whole else b"")
        return Exchange(request, read_call(request, *_WRITE, idempotency_key=idempotency_key, digest=digest))

    return Depends(read)


def _digest(request: Request, body: bytes) -> str:
    found = hashlib.sha256()
    for part in (
        request.method.encode(),
        *(request.headers.get(name, "").encode() for name in ("if-match", "if-none-match")),
        request.scope["path"].encode("utf-8", "surrogateescape"),
        request.scope["query_string"],
        body,
    ):
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.hexdigest()


ReadExchange = Annotated[Exchange, _reads(_READ), _READ]
RecallExchange = Annotated[Exchange, _reads(_RECALL), _RECALL]
WriteExchange = Annotated[Exchange, _writes(whole=True), _WRITE]
ImportExchange = Annotated[Exchange, _writes(whole=False), _WRITE]
"""Its digest leaves the body out, which is a stream and has not been read yet."""
AdminExchange = Annotated[Exchange, _reads(_ADMIN), _ADMIN]
