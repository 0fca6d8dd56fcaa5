"""Runs the application: one process or several on one socket, until somebody asks them to end."""

from __future__ import annotations

import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from uvicorn.supervisors import Multiprocess

from commonplace.errors import InvalidInput, StoreUnavailable
from commonplace.server.config import VARIABLE, Config
from commonplace.server.logs import LOGGING

_METRICS = "PROMETHEUS_MULTIPROC_DIR"
_GRACE = 30
"""Seconds that requests at hand may take when the server ends."""
_BACKLOG = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where the server listens, and how it is secured."""

    host: str
    port: int
    workers: int = 1
    certificate: Path | None = None
    private_key: Path | None = None

    @property
    def scheme(self) -> str:
        return "http" if self.certificate is None else "https"


def bound(host: str, port: int) -> socket.socket:
    """A socket on that address, before any process starts: a port that is taken is told at once."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise InvalidInput(f"{host!r} is no address of this machine: {error.strerror}") from error
    # Named as TCP: only then does asyncio send small answers at once instead of waiting for more.
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


def run(config: Config, listening: Listening, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; requests at hand are answered first."""
    os.environ[VARIABLE] = config.dumps()
    served = uvicorn.Config(
        "commonplace.server.worker:app",
        factory=True,
        workers=listening.workers,
        ssl_certfile=listening.certificate,
        ssl_keyfile=None if listening.private_key is None else str(listening.private_key),
        access_log=False,
        log_config=LOGGING,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        # A client that stays away for long is likely gone; balancers in front usually keep 60 seconds.
        timeout_keep_alive=75,
    )
    if listening.workers == 1:
        uvicorn.Server(served).run(sockets=[sock])
        return
    with tempfile.TemporaryDirectory(prefix="commonplace-metrics-") as folder:
        # Each process counts into files of its own, and whichever is asked adds them up.
        os.environ.setdefault(_METRICS, folder)
        Multiprocess(served, sockets=[sock]).run()
