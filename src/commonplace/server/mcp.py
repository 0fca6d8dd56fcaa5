"""The Model Context Protocol at /mcp: each request is authorized and charged like one of the native API.

No state is kept between requests, in either era of the protocol, so that any worker or server may answer the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp

from commonplace.access.keys import Role
from commonplace.book import Book
from commonplace.integrations.mcp import make_server
from commonplace.integrations.mcp.tools import Operation
from commonplace.server.auth import read_call
from commonplace.server.door import Door
from commonplace.values import Scope, checks

T = TypeVar("T")


class ModelRoutes:
    """The routes of the protocol; they answer while `run` is entered."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._manager = StreamableHTTPSessionManager(
            make_server(self._connect),
            json_response=True,
            stateless=True,
            # The door checks the host, for every route alike.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        # Nothing is sent without a request: there is no stream to GET, and no session to DELETE.
        self.routes = [Route(path, self.mcp, methods=["POST"]) for path in ("/mcp", "/mcp/{space}")]

    def run(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which requests are answered; it can be entered once."""
        return self._manager.run()

    async def mcp(self, request: Request) -> ASGIApp:
        """Answer a request of the protocol, if its key may read."""
        self._connect(request)
        await self._door.admit(read_call(request, "read", "read"))
        return self._manager.asgi_app

    def _connect(self, request: Request) -> _DoorConnection:
        return _DoorConnection(self._door, request)


class _DoorConnection:
    """The way of one request through the door to its space."""

    def __init__(self, door: Door, request: Request) -> None:
        self._door, self._request = door, request
        named = {part: request.query_params.get(part) for part in ("user", "agent")}
        self.scope = checks.scope(Scope(**named))

    async def run(self, operation: Operation, verb: Callable[[Book], T]) -> T:
        role: Role = "write" if operation == "write" else "read"
        return await self._door.run(read_call(self._request, role, operation), verb)
