"""A real server for the tests: uvicorn in a thread, on a free port, over a real file."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.config import Config


@dataclass
class Running:
    """A server that runs, and what it runs on."""

    url: str
    core: Core
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.core.close()


def start(where: str | Path, config: Config | None = None) -> Running:
    """Serve the book at a place."""
    core = open_core(where)
    app = create_app(core, config or Config())
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="on", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < until
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    return Running(f"http://127.0.0.1:{port}", core, server, thread)
