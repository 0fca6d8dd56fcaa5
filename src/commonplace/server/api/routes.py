"""Routes of verbs: each is declared by a verb of Book, a method and a path, and derived from the verb's signature."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from commonplace import wire
from commonplace.access.keys import Role
from commonplace.book import Book
from commonplace.server.api.models import Body, answer_of, argument_fields, body_of
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


class Route(APIRoute):
    """A route that takes only JSON: a page of another site cannot send that without asking first.

    An endpoint of an exchange and a body is called directly: FastAPI's dependencies take longer than the rest of the
    routing. A body that cannot be read takes FastAPI's way, which says what is wrong.
    """

    def get_route_handler(self) -> _Handler:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        hints = {name: each.annotation for name, each in inspect.signature(self.endpoint).parameters.items()}
        is_direct = hints.keys() == {"http", "body"} and isinstance(hints["body"], type)

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

VerbHandler = Callable[[Exchange, dict[str, Any]], Coroutine[Any, Any, Response]]
"""Answers a request that carries the arguments of a verb by name."""
_PARTS = {"KeyValue": ("kv", "namespace"), "Canvas": ("canvas", "canvas"), "Transcript": ("transcript", "session")}
"""The parts of a book that have verbs of their own: the verb that returns one, and its argument."""
_CHANGES_ONE = ' `If-Match: "3"` makes it a change of version 3 only.'
_CONDITIONS = {"PUT": f"{_CHANGES_ONE} `If-None-Match: *` only creates.", "PATCH": _CHANGES_ONE, "DELETE": _CHANGES_ONE}
"""The methods that are conditional by headers, and how."""


class VerbRouter(APIRouter):
    """Routes that carry out verbs of Book, and of its key-value entries, canvases and transcripts."""

    def __init__(self, module: str, tag: str) -> None:
        super().__init__(tags=[tag], route_class=Route)
        self._module = module

    def verb(
        self,
        declared: Callable[..., object],
        method: str,
        path: str,
        key: str = "",
        *,
        name: str = "",
        title: str = "",
        body: type[Body] | str = "",
        example: Mapping[str, Any] | None = None,
        own: Mapping[str, Any] = {},
        without: Iterable[str] = (),
        base: type[Body] = Body,
        needs_body: bool = True,
        exchange: Any = None,
        handler: VerbHandler | None = None,
        long: bool = False,
        keep: bool = False,
        **options: Any,
    ) -> None:
        """Add the route of a verb. `{names}` in the path are arguments; the others come in the query or the body.

        `key` is the field of the answer that holds the result, unless the result is the whole answer. `name`, `title`
        and `body` are the names of the route, the answer and the body in the OpenAPI document. The fields are derived
        from the signature, except for those in `own`, `without` and `base`. `handler` is called instead of the verb.
        See Door for `keep`, and Call for `long`; other options are FastAPI's.
        """
        placed = re.findall(r"{(\w+)", path)
        fields = {**argument_fields(declared), **own}
        is_conditional = "if_version" in fields and method in _CONDITIONS
        left_out = {*placed, *without, *(["if_version"] if is_conditional else [])}
        handle = handler or _make_handler(declared, key, status=options.get("status_code", 200), long=long, keep=keep)

        async def endpoint(http: Exchange, body: Body | None = None, **given: Any) -> Response:
            if body is not None:
                given.update(body.given())
            if is_conditional:
                headers = http.request.headers
                given["if_version"] = wire.expected_version(headers.get("if-match"), headers.get("if-none-match"))
            return await handle(http, given)

        reads = exchange or (ReadExchange if method == "GET" else WriteExchange)
        parameters = [_parameter("http", reads), *(_parameter(each, Name) for each in placed)]
        if method in ("GET", "DELETE"):
            parameters += [_query_parameter(each, *field) for each, field in fields.items() if each not in left_out]
        elif fields.keys() - left_out:
            model: Any = body
            if isinstance(body, str):
                called = body or f"{declared.__name__.capitalize()}Body"
                model = body_of(declared, called, example, left_out, own, base)
            parameters.append(_parameter("body", model) if needs_body else _parameter("body", model | None, None))
        endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # FastAPI reads it
        endpoint.__module__, endpoint.__name__ = self._module, name or declared.__name__
        about = options.pop("description", "") or (inspect.getdoc(handler or declared) or "").partition("\n\n")[0]
        answers: Any = options.pop("response_model", None) or answer_of(declared, key, title)
        self.add_api_route(
            path,
            endpoint,
            methods=[method],
            response_model=answers,
            description=about + _CONDITIONS[method] if is_conditional else about,
            **options,
        )

    def implement(
        self, declared: Callable[..., object], method: str, path: str, key: str = "", **options: Any
    ) -> Callable[[VerbHandler], VerbHandler]:
        """Decorate a handler of a verb's route; the options are those of `verb`."""

        def decorate(handler: VerbHandler) -> VerbHandler:
            options.setdefault("name", handler.__name__)
            self.verb(declared, method, path, key, handler=handler, **options)
            return handler

        return decorate


def _parameter(name: str, kind: Any, default: object = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _query_parameter(name: str, kind: Any, field: FieldInfo) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.is_required() else field.default
    return _parameter(name, Annotated[kind, Query(description=field.description)], default)


def _make_handler(declared: Callable[..., object], key: str, *, status: int, long: bool, keep: bool) -> VerbHandler:
    """Return the handler that calls a verb."""
    owner, name = declared.__qualname__.split(".")
    part, argument = _PARTS.get(owner, ("", ""))

    async def call(http: Exchange, given: dict[str, Any]) -> Response:
        named = given.pop(argument, "")

        def verb(book: Book) -> object:
            on = getattr(book, part)(named) if part else book
            result = getattr(on, name)(**given)
            return {key: result} if key else result

        return await (http.having(long=True) if long else http).answer(verb, status=status, keep=keep)

    return call
