"""Real servers on loopback for tests: one uvicorn with many stores, each under a prefix of its own; and a bad wire."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from fastapi import FastAPI

from commonplace.core import Core
from commonplace.opening import open_core
from commonplace.server.app import create_app
from commonplace.server.config import Config
from commonplace.settings import Settings
from commonplace.testing import HashEmbedder

T = TypeVar("T")
EMBEDDER = HashEmbedder()
# What a power cut would take is not what these tests are about.
QUICK = Settings(durability="normal")


class Server:
    """An uvicorn in a thread of this process, on a port of its own."""

    def __init__(self, app: Any, *, port: int = 0, lifespan: str = "on") -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, access_log=False, lifespan=lifespan, timeout_graceful_shutdown=1)  # type: ignore[arg-type]
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._started.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the server's own loop."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def stop(self) -> None:
        """End it; the port is free again."""
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        serving = asyncio.ensure_future(self._server.serve(sockets=[self._socket]))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.005)
        self._started.set()
        await serving


class Hosted:
    """A store and its application."""

    def __init__(self, place: Path) -> None:
        self.core: Core = open_core(place / "book.db", embedder=EMBEDDER, settings=QUICK)
        self.app: FastAPI = create_app(self.core, Config())
        self._lifespan = self.app.router.lifespan_context(self.app)

    async def begin(self) -> None:
        await self._lifespan.__aenter__()

    async def end(self) -> None:
        await self._lifespan.__aexit__(None, None, None)


class Shelves:
    """One server for many stores: what is under /place-N belongs to the Nth."""

    def __init__(self) -> None:
        self._hosted: dict[str, Hosted] = {}
        self._names: dict[Path, str] = {}
        self._count = 0
        self.server = Server(self._route, lifespan="off")

    def url(self, place: Path) -> str:
        """The address of a place's store, opened if it is not."""
        if place not in self._names:
            self._count += 1
            hosted = Hosted(place)
            self.server.run(hosted.begin())
            self._hosted[f"place-{self._count}"] = hosted
            self._names[place] = f"place-{self._count}"
        return f"{self.server.url}/{self._names[place]}"

    def release(self) -> None:
        """Close every store; their addresses are gone."""
        self._names.clear()
        while self._hosted:
            _, hosted = self._hosted.popitem()
            self.server.run(hosted.end())
            hosted.core.close()

    async def _route(self, scope: Any, receive: Any, send: Any) -> None:
        name, _, rest = scope["raw_path"].decode().lstrip("/").partition("/")
        scope = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self._hosted[name].app(scope, receive, send)


@contextlib.contextmanager
def serving(place: Path, *, port: int = 0) -> Iterator[Server]:
    """A server of one store, gone after the block."""
    hosted = Hosted(place)
    server = Server(hosted.app, port=port)
    try:
        yield server
    finally:
        server.stop()
        hosted.core.close()
