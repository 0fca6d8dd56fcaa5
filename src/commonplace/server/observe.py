"""Health, metrics, logs and traces."""

from __future__ import annotations

import json
import logging
import os
import traceback
from contextlib import AbstractContextManager
from datetime import datetime, timezone
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess
from starlette.types import Scope

from commonplace import __version__
from commonplace.errors import CommonplaceError, InvalidInput, missing_package
from commonplace.server.auth import read_call
from commonplace.server.door import Door
from commonplace.server.middleware import OpenSpan

router = APIRouter(tags=["health"], include_in_schema=False)

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "commonplace.server.observe.JsonLines"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
    "loggers": {
        "commonplace": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
"""For logging.config.dictConfig, in every process."""


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


@router.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Return the counts as Prometheus reads them; if the book has keys, only to an admin key."""
    door: Door = request.app.state.door
    await door.admit(read_call(request, "admin", "admin"))
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # prometheus_client has none here
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON, with the fields given as `extra={"fields": …}`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[0] is not None:
            # The place only: an exception's text may quote a memory.
            line["error"] = record.exc_info[0].__name__
            line["where"] = _trace(record)
        return json.dumps(line, ensure_ascii=False)


def _trace(record: logging.LogRecord) -> str:
    trace = record.exc_info[2] if record.exc_info else None
    frames = [f"{frame.f_globals.get('__name__')}:{line}" for frame, line in traceback.walk_tb(trace)]
    return " < ".join(reversed(frames[-8:]))


def span_opener() -> OpenSpan:
    """Return what opens an OpenTelemetry span for a request, as a child of the caller's span if there is one."""
    try:
        from opentelemetry import propagate, trace  # optional
    except ImportError as error:
        raise InvalidInput(missing_package("telemetry", "opentelemetry", "telemetry")) from error
    tracer = trace.get_tracer("commonplace", __version__)

    def open_span(scope: Scope) -> AbstractContextManager[Any]:
        carried = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        return tracer.start_as_current_span(
            f"{scope['method']} request",
            context=propagate.extract(carried),
            kind=trace.SpanKind.SERVER,
            attributes={"http.request.method": scope["method"]},
        )

    return open_span
