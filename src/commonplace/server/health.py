"""Whether the server lives and can recall, and what it has counted."""

from __future__ import annotations

import os
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from commonplace import __version__
from commonplace.errors import CommonplaceError
from commonplace.server.asking import host, secret
from commonplace.server.callers import Ask
from commonplace.server.door import Door

router = APIRouter(tags=["health"], include_in_schema=False)  # for machines that watch, not for callers


@router.get("/health")
@router.get("/health/live")
async def live() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok", "service": "commonplace", "version": __version__}


@router.get("/health/ready", responses={503: {"description": "The book cannot be read, or does not recall"}})
async def ready(request: Request, response: Response) -> dict[str, str]:
    """The book opens, and the memory that was planted in it is recalled."""
    door: Door = request.app.state.door
    try:
        await door.prove()
    except CommonplaceError as error:
        response.status_code = 503
        return {"status": "not ready", "code": error.code}
    return {"status": "ready", "version": __version__}


async def _asked(request: Request) -> Ask:
    return Ask(secret=secret(request), host=host(request), space=None, role="admin", operation="admin")


@router.get("/metrics", response_class=Response)
async def metrics(request: Request, ask: Annotated[Ask, Depends(_asked)]) -> Response:
    """What was counted, as Prometheus reads it; with keys, for those that may administer."""
    door: Door = request.app.state.door
    await door.admit(ask)
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
    every = CollectorRegistry()
    multiprocess.MultiProcessCollector(every)  # type: ignore[no-untyped-call]  # prometheus_client has none here
    return Response(generate_latest(every), media_type=CONTENT_TYPE_LATEST)
