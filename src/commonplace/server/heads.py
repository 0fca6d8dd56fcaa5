"""How large the head of a request may be, and how long it may take: limits that uvicorn itself does not have."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST = 65_536
"""Bytes of a request's line and headers, give or take what arrives at once."""
SECONDS = 60.0
"""In which they must arrive, from the connection or from the first of them on."""


class Heads(HttpToolsProtocol):
    """Speaks HTTP, and hangs up on whoever does not come to the point."""

    _timer: asyncio.TimerHandle | None = None
    """Set while a head is awaited."""
    _size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._have_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        super().data_received(data)
        if self._timer is not None and self._size > LONGEST:
            self._have_head()
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._have_head()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._size = 0
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SECONDS, self._hang_up)

    def _have_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hang_up(self) -> None:
        self._timer = None
        self.transport.close()
