"""The application: routes, errors and what every request passes through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from commonplace.__about__ import __version__
from commonplace.core import Core
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.server import tracing
from commonplace.server.config import Config
from commonplace.server.dialects import Dialects
from commonplace.server.door import Door
from commonplace.server.health import router as health
from commonplace.server.native import router as native
from commonplace.server.open_gate import OpenGate
from commonplace.server.paths import RawPath
from commonplace.server.problems import problem
from commonplace.server.visits import VisitedStore
from commonplace.server.watching import Watched


def create_app(core: Core, config: Config, *, closing: Callable[[], None] | None = None) -> FastAPI:
    """The application on an open store. `closing` is called when it ends, after the last answer."""
    core.store = VisitedStore(core.store)
    door = Door(core, OpenGate(config.space), threads=config.threads)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await door.prove()
        if config.work:
            core.wake()
        yield
        door.close()
        if closing is not None:
            closing()

    app = FastAPI(title="commonplace", version=__version__, lifespan=lifespan, docs_url="/docs", redoc_url=None)
    app.state.door = door
    app.add_middleware(RawPath)
    app.add_middleware(Watched, tracing=tracing.spans() if config.telemetry else None)
    app.add_exception_handler(CommonplaceError, _told)
    app.add_exception_handler(RequestValidationError, _refused)
    app.include_router(health)
    app.router.routes.append(Dialects())
    app.include_router(native)
    return app


def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, CommonplaceError)  # noqa: S101  # what it is registered for
    return problem(error)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # as above
    return problem(InvalidInput(spoken(error)))


def spoken(error: RequestValidationError) -> str:
    """What is wrong with a request, in words: each place and what it should be."""
    found = [
        f"{'.'.join(str(part) for part in each['loc'][1:]) or each['loc'][0]}: {each['msg']}" for each in error.errors()
    ]
    return "; ".join(found[:5])
