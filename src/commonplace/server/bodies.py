"""How much a request may send, in what time, and the manners of every answer: pure ASGI, around the routes."""

from __future__ import annotations

import asyncio
import re
import sys
import time

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.errors import CommonplaceError, RequestTimeout, TooLarge
from commonplace.server.asking import host, secret
from commonplace.server.callers import Ask
from commonplace.server.problems import problem

LARGE = 100_000
"""Bytes of a body beyond which a request must show its key before more is read: to read one costs memory and time."""
STREAMS = re.compile(r"/v1/spaces/[^/]+/import")
"""Paths whose bodies are taken in pieces and have no limit of size."""


class Bodies:
    """Refuses a body that is too large, counted as it comes, that takes too long to arrive, or that is a stranger's."""

    def __init__(self, app: ASGIApp, *, most: int, timeout: float) -> None:
        self._app = app
        self._most = most
        self._timeout = timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stream = STREAMS.fullmatch(scope["path"]) is not None
        body = _Body(scope, receive, most=None if stream else self._most, timeout=self._timeout, patient=stream)
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            body.ensure_announced()
            await self._app(scope, body.receive, sending)
        except _Refused as refused:
            if begun:
                raise
            answer = problem(refused.error)
            # What was not read would be taken for the next request.
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)


class _Refused(BaseException):
    """A body that is refused: no handler of errors may take it for one of its own."""

    def __init__(self, error: CommonplaceError) -> None:
        super().__init__(str(error))
        self.error = error


class _Body:
    """What a request sends, counted and timed."""

    def __init__(self, scope: Scope, receive: Receive, *, most: int | None, timeout: float, patient: bool) -> None:
        self._scope = scope
        self._receive = receive
        self._most = most
        self._timeout = timeout
        self._patient = patient
        self._until = time.monotonic() + timeout
        self._size = 0
        self._announced = 0
        self._known = False
        self._whole = False

    def ensure_announced(self) -> None:
        """Refuse at once what is announced as too large."""
        for name, value in self._scope["headers"]:
            if name == b"content-length" and value.isdigit() and len(value) < 20:
                self._announced = int(value)
                self._ensure(self._announced)

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        if not self._known and max(self._announced, self._size) > LARGE:
            await self._ensure_known()
        message = await self._timed()
        self._whole = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        self._ensure(self._size)
        if self._patient:
            # A stream may take as long as it likes, if only it goes on.
            self._until = time.monotonic() + self._timeout
        return message

    async def _ensure_known(self) -> None:
        request = Request(self._scope)
        ask = Ask(secret=secret(request), host=host(request), space=None, role="read", operation="read")
        try:
            await self._scope["app"].state.door.admit(ask)
        except CommonplaceError as error:
            raise _Refused(error) from error
        self._known = True

    async def _timed(self) -> Message:
        # A timer, not a task of its own for each message: that would cost as much as the request.
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # an application runs in one
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

    def _ensure(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise _Refused(
                TooLarge(f"the request's body has more than {self._most:,} bytes: send less, or import it as a stream")
            )


class Manners:
    """Adds what every answer carries: it is what it says it is, and nobody between keeps a copy."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, sending)
