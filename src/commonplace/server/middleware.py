"""ASGI middleware around the routes: raw paths, limits on bodies, headers of every answer, counts and logs."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from prometheus_client import Counter, Histogram
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.errors import CommonplaceError, Forbidden, RequestTimeout, TooLarge
from commonplace.server.auth import Call, has_own_header, is_local, read_address, read_secret
from commonplace.server.problems import problem

ACCESS_LOG = "commonplace.access"
LARGE = 100_000
"""A request must show a valid key before more than this many bytes of its body are read."""
_STREAMS = re.compile(r"/v1/spaces/[^/]+/import")
"""Paths whose bodies are read in pieces and have no size limit."""
_REQUESTS = Counter("commonplace_requests", "Requests answered", ["method", "route", "status"])
_SECONDS = Histogram(
    "commonplace_request_seconds",
    "Seconds from a request's head to the end of its answer",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)
_QUIET = frozenset(("observe.live", "observe.ready", "observe.metrics"))
"""Routes that machines ask every few seconds: counted, not logged."""
_SAFE_METHODS = frozenset("GET HEAD OPTIONS".split())
_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
"""Other methods share one label, because each label stays in memory."""
_KEY = re.compile(r"cp_([0-9a-zA-Z]{12})_")
_log = logging.getLogger(ACCESS_LOG)

OpenSpan = Callable[[Scope], AbstractContextManager[Any]]


class RawPath:
    """Routes by the path as it was sent: in a decoded path, `a%2Fb` would look like two parts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw: bytes = scope.get("raw_path") or scope["path"].encode()
            scope["path"] = raw.partition(b"?")[0].decode("utf-8", "surrogateescape")
        await self._app(scope, receive, send)


class OtherSites:
    """Rejects what a web page of another site makes a browser send, whatever the route.

    A page can point a name of its own at this machine and read the answers (DNS rebinding): without keys, only requests
    to localhost or to an address are answered. It can also send some requests without reading the answers, and the
    browser adds a password that it knows: their Origin must be this server, or one of `origins`.
    """

    def __init__(self, app: ASGIApp, *, origins: tuple[str, ...]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._ensure_own(Request(scope))
            except CommonplaceError as error:
                await _close_after(problem(error))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _ensure_own(self, request: Request) -> None:
        headers = request.headers
        host, origin = headers.get("host"), headers.get("origin")
        if origin is None:
            is_foreign = headers.get("sec-fetch-site") == "cross-site" and request.method not in _SAFE_METHODS
        else:
            is_foreign = self._origins.isdisjoint((origin, "*")) and _authority(origin) != (host or "").lower()
        if is_foreign and not has_own_header(request):
            raise Forbidden("a web page of another site may not send this: `--cors` names the sites that may")
        if not is_local(host) and await request.app.state.door.is_open():
            raise Forbidden(
                f"a server without keys accepts only requests to localhost or to its address, not to {host!r}"
            )


def _authority(origin: str) -> str:
    """Return the host and port of an Origin, as a Host header has them; "" for an opaque one."""
    return origin.partition("://")[2].lower()


def _close_after(answer: Response) -> Response:
    """Return an answer that ends its connection: the unread rest of the body would be taken for the next request."""
    answer.headers["Connection"] = "close"
    return answer


class BodyLimits:
    """Rejects bodies that are too large, too slow, or large without a key."""

    def __init__(self, app: ASGIApp, *, most: int, timeout: float) -> None:
        self._app = app
        self._most = most
        self._timeout = timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stream = _STREAMS.fullmatch(scope["path"]) is not None
        body = _Body(scope, receive, most=None if stream else self._most, timeout=self._timeout)
        begun = False

        async def send_noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            body.ensure_announced()
            await self._app(scope, body.receive, send_noted)
        except _Refused as refused:
            if begun:
                raise
            await _close_after(problem(refused.error))(scope, receive, send)


class _Refused(BaseException):
    """A body that is refused. Not an Exception, so that no route handles it."""

    def __init__(self, error: CommonplaceError) -> None:
        super().__init__(str(error))
        self.error = error


class _Body:
    """The body of one request, counted and timed. A stream has no `most`."""

    def __init__(self, scope: Scope, receive: Receive, *, most: int | None, timeout: float) -> None:
        self._scope = scope
        self._receive = receive
        self._most = most
        self._timeout = timeout
        self._until = time.monotonic() + timeout
        self._size = 0
        self._announced = 0
        self._is_known = False
        self._is_complete = False

    def ensure_announced(self) -> None:
        """Refuse a body whose Content-Length is too large."""
        for name, value in self._scope["headers"]:
            if name == b"content-length" and value.isdigit() and len(value) < 20:
                self._announced = int(value)
                self._ensure_size(self._announced)

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()
        if not self._is_known and max(self._announced, self._size) > LARGE:
            await self._ensure_known()
        message = await self._receive_in_time()
        self._is_complete = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        self._ensure_size(self._size)
        if self._most is None:
            # A stream may take any time as long as it goes on.
            self._until = time.monotonic() + self._timeout
        return message

    async def _ensure_known(self) -> None:
        request = Request(self._scope)
        call = Call(
            secret=read_secret(request), address=read_address(request), space=None, role="read", operation="read"
        )
        try:
            await self._scope["app"].state.door.admit(call)
        except CommonplaceError as error:
            raise _Refused(error) from error
        self._is_known = True

    async def _receive_in_time(self) -> Message:
        # A timer, because a task for each message would cost as much as the request.
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # an application always runs in one
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            task.cancel()

        timer = asyncio.get_running_loop().call_later(max(0.0, self._until - time.monotonic()), expire)
        try:
            return await self._receive()
        except asyncio.CancelledError:
            if not expired:
                raise
            if sys.version_info >= (3, 11):
                task.uncancel()
            error = RequestTimeout(f"the request's body did not arrive within {self._timeout:g} seconds")
            raise _Refused(error) from None
        finally:
            timer.cancel()

    def _ensure_size(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise _Refused(
                TooLarge(f"the request's body has more than {self._most:,} bytes: send less, or import it as a stream")
            )


class RequestLog:
    """Counts, logs and traces every request by route and status, never by content. Adds the headers of every answer."""

    def __init__(self, app: ASGIApp, open_span: OpenSpan | None = None) -> None:
        self._app = app
        self._open_span = open_span

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        scope["request_id"] = secrets.token_hex(8)

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = scope["request_id"]
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        with nullcontext() if self._open_span is None else self._open_span(scope) as span:
            try:
                await self._app(scope, receive, send_noted)
            finally:
                self._log_request(scope, status, time.perf_counter() - began)
                if span is not None:
                    span.set_attribute("http.route", _route_name(scope))
                    span.set_attribute("http.response.status_code", status)

    def _log_request(self, scope: Scope, status: int, seconds: float) -> None:
        where, method = _route_name(scope), scope["method"] if scope["method"] in _METHODS else "other"
        _REQUESTS.labels(method, where, str(status)).inc()
        _SECONDS.labels(where).observe(seconds)
        if where in _QUIET and status < 400:
            return
        found = _KEY.match(read_secret(Request(scope)) or "")  # the public part, whether or not the key is valid
        fields = {
            "request": scope["request_id"],
            "method": method,
            "route": where,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": found[1] if found else None,
        }
        _log.info("request", extra={"fields": fields})


def _route_name(scope: Scope) -> str:
    """Return the name of the function that answers. It contains no space, id or key; unknown paths share one name."""
    found = scope.get("endpoint")
    if found is None:
        return "unknown"
    parts = found.__module__.split(".")
    return f"{parts[-2] if parts[-1] == 'http' else parts[-1]}.{found.__name__}"
