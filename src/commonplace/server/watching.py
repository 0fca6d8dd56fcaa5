"""What can be seen of a server: counted, logged and traced by route and status, never by content."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from prometheus_client import Counter, Histogram
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.server.asking import secret
from commonplace.server.logs import ACCESS

_log = logging.getLogger(ACCESS)

REQUESTS = Counter("commonplace_requests", "Requests answered", ["method", "route", "status"])
SECONDS = Histogram(
    "commonplace_request_seconds",
    "Seconds from a request's head to the end of its answer",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)
_QUIET = frozenset(("health.live", "health.ready", "health.metrics"))
"""Asked every few seconds by machines: counted, not logged."""

_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
"""Others share a name: each new label would stay in memory for ever."""

_KEY = re.compile(r"cp_([0-9a-zA-Z]{12})_")

Tracing = Callable[[Scope], AbstractContextManager[Any]]


class Watched:
    """Counts and logs every request."""

    def __init__(self, app: ASGIApp, tracing: Tracing | None = None) -> None:
        self._app = app
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        scope["request_id"] = secrets.token_hex(8)

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", scope["request_id"].encode())]
            await send(message)

        with nullcontext() if self._tracing is None else self._tracing(scope) as span:
            try:
                await self._app(scope, receive, noted)
            finally:
                self._tell(scope, status, time.perf_counter() - began)
                if span is not None:
                    span.set_attribute("http.route", route(scope))
                    span.set_attribute("http.response.status_code", status)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        where, method = route(scope), scope["method"] if scope["method"] in _METHODS else "other"
        REQUESTS.labels(method, where, str(status)).inc()
        SECONDS.labels(where).observe(seconds)
        if where in _QUIET and status < 400:
            return
        fields = {
            "request": scope["request_id"],
            "method": method,
            "route": where,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": _public(scope),
        }
        _log.info("request", extra={"fields": fields})


def _public(scope: Scope) -> str | None:
    """The public part of the key that came along, whether or not it is one of ours."""
    found = _KEY.match(secret(Request(scope)) or "")
    return found[1] if found else None


def route(scope: Scope) -> str:
    """Which function answers: it names no space, no id and no key; unknown paths share one name."""
    found = scope.get("endpoint")
    return "unknown" if found is None else f"{found.__module__.rpartition('.')[2]}.{found.__name__}"
