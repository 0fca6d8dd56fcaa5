"""A connection between a client and its server that can lose answers."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class Wire:
    """Forwards bytes to a server on this machine, and drops answers on demand."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._losing = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.lost: list[bytes] = []
        """The answers that were dropped."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def lose(self, answers: int) -> None:
        """Drop the next answers, as many as given, after the server has sent them."""
        self._losing = answers

    def close(self) -> None:
        """Close all connections and accept no more."""
        for one in (self._listener, *self._sockets):
            _close(one)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [client, server]
                for work in (self._forward, self._answer):
                    threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)
        _close(server)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if self._losing:
                    self._losing -= 1
                    self.lost.append(data)
                    break
                client.sendall(data)
        _close(client)
        _close(server)


def _close(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextlib.contextmanager
def wire(port: int) -> Iterator[Wire]:
    """Yield a connection to a server for the length of the block."""
    opened = Wire(port)
    try:
        yield opened
    finally:
        opened.close()
