"""A proxy between a book and its server that can cut the connection around a COMMIT."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Literal

Moment = Literal["before", "after", "held"]
"""Cut before the COMMIT reaches the server; after it was carried out, before the answer reaches the book; or let it
reach nobody and keep the book waiting."""

_VERSION_3 = 3 << 16
_HEADER = 5
_STARTUP_HEADER = 8


class Proxy:
    """Forwards bytes to a local server until it cuts the connection."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._moment: Moment | None = None
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.struck = threading.Event()
        """Set when a COMMIT was met."""
        threading.Thread(target=self._accept, daemon=True).start()

    def strike(self, moment: Moment) -> None:
        """Meet the next COMMIT of any connection so; the ones after it pass."""
        self.struck.clear()
        self._moment = moment

    def cut(self) -> None:
        """Cut every connection that there is."""
        for one in self._sockets:
            _close(one)
        self._sockets.clear()

    def close(self) -> None:
        """Cut everything and take no more."""
        _close(self._listener)
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # the server is down: so is the wire
                    _close(client)
                    continue
                self._sockets += [client, server]
                for one in (client, server):  # small messages are not saved up to be sent together
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for work in (self._forward, self._answer):
                    threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        """From the book to the server, message by message."""
        statements: dict[bytes, bytes] = {}
        with contextlib.suppress(OSError):
            for message in _messages(client):
                if message[:1] == b"P":
                    name, query = message[_HEADER:].split(b"\0")[:2]
                    statements[name] = query
                commits = message[:1] == b"B" and statements.get(message[_HEADER:].split(b"\0")[1]) == b"COMMIT"
                if commits and self._moment in ("before", "held"):
                    self._met(client, server)
                    return
                server.sendall(message)
        self._hang_up(client, server)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        """From the server to the book, as it comes."""
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if b"COMMIT\0" in data and self._moment == "after":
                    self._met(client, server)
                    return
                client.sendall(data)
        self._hang_up(client, server)

    def _met(self, client: socket.socket, server: socket.socket) -> None:
        moment, self._moment = self._moment, None
        if moment != "held":
            _close(client)
            _close(server)
        self.struck.set()

    def _hang_up(self, client: socket.socket, server: socket.socket) -> None:
        # While a COMMIT is held, the book must not learn that the server died.
        if not self.struck.is_set():
            _close(client)
        _close(server)


def _messages(client: socket.socket) -> Iterator[bytes]:
    """Yield the messages of a client; those before the session starts have no type."""
    reader = client.makefile("rb")
    version = 0
    while version != _VERSION_3:
        head = reader.read(_STARTUP_HEADER)
        if len(head) < _STARTUP_HEADER:
            return
        length, version = struct.unpack("!ii", head)
        yield head + reader.read(length - _STARTUP_HEADER)
    while len(head := reader.read(_HEADER)) == _HEADER:
        yield head + reader.read(struct.unpack("!i", head[1:])[0] - 4)


def _close(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextlib.contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """A wire to a server, gone after the block."""
    opened = Proxy(port)
    try:
        yield opened
    finally:
        opened.close()
