"""The application: the door, the routes, the middleware and the OpenAPI document."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from commonplace import __version__
from commonplace.access.keys import sign_up
from commonplace.book import Book
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.integrations.services.botwire import http as botwire
from commonplace.integrations.services.http import Host, ServiceRoutes
from commonplace.integrations.services.memstore import http as memstore
from commonplace.integrations.services.zerolatency import http as zerolatency
from commonplace.memories.core import Core
from commonplace.server import api, observe
from commonplace.server.api.models import Problem
from commonplace.server.auth import KeyGate, read_address, read_call, read_secret
from commonplace.server.config import Config
from commonplace.server.door import Door
from commonplace.server.middleware import BodyLimits, OtherSites, RawPath, RequestLog
from commonplace.server.problems import describe_invalid, error_headers, problem, refusal

if TYPE_CHECKING:
    from commonplace.server.mcp import ModelRoutes

_ABOUT = """A persistent, shared, searchable memory for agents. It says so when it does not know something.

Errors are `application/problem+json` with a stable `code`. A change may name the version that it is made for
(`If-Match`), and may carry a key (`Idempotency-Key`) under which it is carried out only once."""


def create_app(core: Core, config: Config, *, closing: Callable[[], None] | None = None) -> FastAPI:
    """Return the application on an open store. `closing` is called at its end, after the last answer."""
    door = Door(core, KeyGate(core.store, config.space, closed=config.closed), threads=config.threads)

    models = _model_routes(door)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await door.prove()
        if config.work:
            core.wake()
        async with nullcontext() if models is None else models.run():
            yield
        door.close()
        if closing is not None:
            closing()

    app = FastAPI(
        title="commonplace",
        version=__version__,
        lifespan=lifespan,
        docs_url="/docs",
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.door = door
    app.state.services = _service_host(core, config.sign_up)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's documentation does the same
    app.add_middleware(BodyLimits, most=config.max_body_bytes, timeout=config.body_timeout)
    app.add_middleware(RawPath)
    app.add_middleware(OtherSites, origins=config.cors_origins)
    if config.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=config.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Retry-After"],
        )
    app.add_middleware(RequestLog, open_span=observe.span_opener() if config.telemetry else None)
    for kind, handle in _HANDLERS.items():
        app.add_exception_handler(kind, handle)
    # The framework tries routes in order: the most frequent ones come first, and the services before the many others.
    app.include_router(api.first_router)
    app.include_router(observe.router)
    app.router.routes.append(ServiceRoutes(botwire.router, memstore.router, aliased=zerolatency.router))
    app.include_router(api.router)
    app.include_router(api.keys.router)
    if models is not None:
        app.router.routes += models.routes
    return app


def _model_routes(door: Door) -> ModelRoutes | None:
    """Return the routes of the Model Context Protocol, if its package is installed."""
    if find_spec("mcp") is None:
        return None
    from commonplace.server.mcp import ModelRoutes  # slow to import, and optional

    return ModelRoutes(door)


def _service_host(core: Core, plan: str | None) -> Host:
    """Return the server as the dialects of other services see it. `plan` is that of keys that anybody may create."""

    async def run(
        request: Request,
        operation: Literal["read", "recall", "write"],
        verb: Callable[[Book], Any],
        namespace: str | None,
    ) -> Any:
        door: Door = request.app.state.door
        call = read_call(request, "write" if operation == "write" else "read", operation)
        return await door.run(call if namespace is None else replace(call, namespace=namespace), verb)

    async def create_key(request: Request, name: str) -> str | None:
        if plan is None:
            return None
        address = read_address(request)
        return (await run_in_threadpool(lambda: sign_up(core.store, name, plan, address=address))).token

    return Host(
        run=run,
        has_key=lambda request: read_secret(request) is not None,
        sign_up=create_key,
        error_headers=error_headers,
        describe_invalid=describe_invalid,
    )


def _answer_http_error(request: Request, error: Any) -> Response:
    words = {404: f"there is no {request.url.path}", 405: f"{request.method} is not for {request.url.path}"}
    return refusal(error.status_code, words.get(error.status_code, error.detail), error.headers)


_HANDLERS: dict[type[Exception], Callable[[Request, Any], Response]] = {
    CommonplaceError: lambda request, error: problem(error),
    RequestValidationError: lambda request, error: problem(InvalidInput(describe_invalid(error))),
    HTTPException: _answer_http_error,
    Exception: lambda request, error: refusal(500, "the server failed: its log says why"),
}


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document: the routes' own, with our shape of errors instead of FastAPI's."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        for path in made["paths"].values():
            for operation in path.values():
                invalid = operation["responses"].get("422", {}).get("content", {}).get("application/json", {})
                # Here validation errors are problems with status 400.
                if invalid.get("schema", {}).get("$ref", "").endswith("/HTTPValidationError"):
                    del operation["responses"]["422"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = made
    return app.openapi_schema
