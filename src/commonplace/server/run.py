"""Runs the server: one process or several on one socket, until a signal ends them."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from multiprocessing.process import BaseProcess

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from commonplace.errors import InvalidInput, StoreUnavailable
from commonplace.location import open_core
from commonplace.server.app import create_app
from commonplace.server.config import VARIABLE, Config, Listener
from commonplace.server.observe import LOGGING

HEAD_BYTES = 65_536
"""Largest request line and headers, give or take one read."""
HEAD_SECONDS = 60.0
"""Seconds in which they must arrive."""
_METRICS = "PROMETHEUS_MULTIPROC_DIR"
_GRACE = 30
"""Seconds that current requests may take when the server ends."""
_BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; raise StoreUnavailable at once if the port is taken."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise InvalidInput(f"{host!r} is not an address of this machine: {error.strerror}") from error
    # With IPPROTO_TCP asyncio switches Nagle's algorithm off, so that small answers are sent at once.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(address)
    except OSError as error:
        made.close()
        raise StoreUnavailable(f"cannot listen on {host}:{port}: {error.strerror}; --port N takes another") from error
    made.listen(_BACKLOG)
    made.set_inheritable(True)
    return made


def run(config: Config, listener: Listener, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; current requests are answered first."""
    os.environ[VARIABLE] = config.dumps()
    options = uvicorn.Config(
        "commonplace.server.run:make_app",
        factory=True,
        http=HeadLimits,
        workers=listener.workers,
        ssl_certfile=listener.certificate,
        ssl_keyfile=None if listener.private_key is None else str(listener.private_key),
        access_log=False,
        log_config=LOGGING,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        # Longer than the 60 seconds that load balancers usually keep a connection.
        timeout_keep_alive=75,
    )
    if listener.workers == 1:
        uvicorn.Server(options).run(sockets=[sock])
        return
    with tempfile.TemporaryDirectory(prefix="commonplace-metrics-") as folder:
        # Each process counts in its own files; the process that is asked adds them up.
        os.environ.setdefault(_METRICS, folder)
        Multiprocess(options, sockets=[sock]).run()


def make_app() -> FastAPI:
    """Return the application of this worker process; it closes the store when it ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:  # one of several workers
        threading.Thread(target=_end_with, args=(parent,), name="commonplace end", daemon=True).start()
    config = Config.loads(os.environ[VARIABLE])
    core = open_core(
        config.book,
        space=config.space,
        embedder=config.embedder,
        reranker=config.reranker,
        reader=config.reader or "default",
        extractor=config.extractor,
    )
    return create_app(core, config, closing=core.close)


def _end_with(parent: BaseProcess) -> None:
    """End once the parent process is gone: otherwise nobody would, and the port would stay taken."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


class HeadLimits(HttpToolsProtocol):
    """Limits the size and the time of a request's head, which uvicorn itself does not."""

    _timer: asyncio.TimerHandle | None = None
    """Set while a head is expected."""
    _size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._have_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        super().data_received(data)
        if self._timer is not None and self._size > HEAD_BYTES:
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
            self._timer = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._hang_up)

    def _have_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hang_up(self) -> None:
        self._timer = None
        self.transport.close()
