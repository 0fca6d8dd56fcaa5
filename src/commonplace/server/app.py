"""The application: routes, errors and what every request passes through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from commonplace import __version__
from commonplace.access.keys import sign_up
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.memories.core import Core
from commonplace.server import tracing
from commonplace.server.api import keys
from commonplace.server.api import router as native
from commonplace.server.api.straight import Straight
from commonplace.server.bodies import Bodies, Manners
from commonplace.server.config import Config
from commonplace.server.dialects import Dialects
from commonplace.server.door import Door
from commonplace.server.gate import KeyGate
from commonplace.server.health import router as health
from commonplace.server.openapi import documented
from commonplace.server.paths import RawPath
from commonplace.server.problems import broken, problem, refusal
from commonplace.server.watching import Watched


def create_app(core: Core, config: Config, *, closing: Callable[[], None] | None = None) -> FastAPI:
    """The application on an open store. `closing` is called when it ends, after the last answer."""
    gate = KeyGate(core.store, config.space, closed=config.closed)
    door = Door(core, gate, threads=config.threads)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await door.prove()
        if config.work:
            core.wake()
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
    )
    app.state.door = door
    if config.sign_up is not None:
        app.state.sign_up = partial(_signed_up, core, config.sign_up)
    app.openapi = documented(app)  # type: ignore[method-assign]  # as FastAPI's own documentation does it
    app.add_middleware(Straight)
    app.add_middleware(Bodies, most=config.max_body_bytes, timeout=config.body_timeout)
    app.add_middleware(RawPath)
    if config.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=config.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Retry-After"],
        )
    app.add_middleware(Manners)
    app.add_middleware(Watched, tracing=tracing.spans() if config.telemetry else None)
    app.add_exception_handler(CommonplaceError, _told)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(HTTPException, _turned_away)
    app.add_exception_handler(Exception, _broken)
    app.include_router(health)
    # Before the many routes of the native API, which the framework tries one after the other.
    app.router.routes.append(Dialects())
    app.include_router(native)
    app.include_router(keys.router)
    return app


def _signed_up(core: Core, plan: str, name: str, email: str | None) -> str:
    """A key for somebody new; an address is not kept."""
    return sign_up(core.store, name, plan).token


def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, CommonplaceError)  # noqa: S101  # what it is registered for
    return problem(error)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # as above
    return problem(InvalidInput(spoken(error)))


def _turned_away(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # as above
    words = {404: f"there is no {request.url.path}", 405: f"{request.method} is not for {request.url.path}"}
    return refusal(error.status_code, words.get(error.status_code, error.detail), error.headers)


def _broken(request: Request, error: Exception) -> Response:
    return broken()


def spoken(error: RequestValidationError) -> str:
    """What is wrong with a request, in words: each place and what it should be."""
    found = [
        f"{'.'.join(str(part) for part in each['loc'][1:]) or each['loc'][0]}: {each['msg']}" for each in error.errors()
    ]
    return "; ".join(found[:5])
