"""Requests as OpenTelemetry spans, where that is installed and asked for: route and status, no content."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from starlette.types import Scope

from commonplace import __version__
from commonplace.errors import InvalidInput, missing_package


def spans() -> Any:
    """What opens a span for a request, as a child of the caller's if one came along."""
    try:
        from opentelemetry import propagate, trace
    except ImportError as error:
        raise InvalidInput(missing_package("telemetry", "opentelemetry", "telemetry")) from error
    tracer = trace.get_tracer("commonplace", __version__)

    def opened(scope: Scope) -> AbstractContextManager[Any]:
        carried = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        return tracer.start_as_current_span(
            f"{scope['method']} request",
            context=propagate.extract(carried),
            kind=trace.SpanKind.SERVER,
            attributes={"http.request.method": scope["method"]},
        )

    return opened
