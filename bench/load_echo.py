"""A server that only answers: it shows the maximum rate of the load generator."""

from __future__ import annotations

import asyncio

import uvloop

_BODY = b"x" * 8_000
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(_BODY), _BODY)


class Echo(asyncio.Protocol):
    """Answers every request; assumes that a request arrives in one piece."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvloop gives nothing else
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(_ANSWER)


async def main() -> None:
    """Serve on a free port and print it."""
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
