"""Real servers on loopback for tests: one uvicorn with many stores, each under its own prefix."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from commonplace.learn import StatementExtractor
from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.auth import KeyGate
from commonplace.server.config import Config
from commonplace.server.door import Door
from commonplace.settings import Settings
from commonplace.testing import HashEmbedder

EMBEDDER = HashEmbedder()
READING = StatementExtractor()
# What a power cut would take is not what these tests are about.
QUICK = Settings(durability="normal")


class Server:
    """An uvicorn in a thread of this process, on its own port."""

    def __init__(self, app: Any, *, port: int = 0, lifespan: str = "on") -> None:
        # Named TCP: asyncio switches Nagle's algorithm off only for sockets that say so, and 40 ms a call are a lot.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._socket.listen(128)
        self.port: int = self._socket.getsockname()[1]
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                interface="asgi3",
                log_config=None,
                access_log=False,
                lifespan=lifespan,  # type: ignore[arg-type]  # one of its words
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        until = time.monotonic() + 30
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.005)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Stop the server and free its port."""
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


class Hosted:
    """A store and the door to it."""

    def __init__(self, place: Path) -> None:
        self.core: Core = open_core(
            place / "book.db", embedder=EMBEDDER, reader=None, extractor=READING, settings=QUICK
        )
        self.door = Door(self.core, KeyGate(self.core.store, "default"), threads=4)

    def close(self) -> None:
        self.door.close()
        self.core.close()


_DOOR: ContextVar[Door] = ContextVar("the door of the store that is asked for")


class _Doors:
    """Stands for all doors: each request uses the one that its prefix names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_DOOR.get(), name)


class Shelves:
    """One server and one application for many stores: paths under /place-N belong to the Nth.

    The routes of an application are made at their first request, which takes longer than most tests.
    """

    def __init__(self) -> None:
        self._hosted: dict[str, Hosted] = {}
        self._names: dict[Path, str] = {}
        self._count = 0
        self._app: FastAPI | None = None
        self.server = Server(self._route, lifespan="off")

    def url(self, place: Path) -> str:
        """Return the address of a place's store, opening it if necessary."""
        if place not in self._names:
            self._count += 1
            hosted = Hosted(place)
            if self._app is None:
                self._app = create_app(hosted.core, Config())
                self._app.state.door = _Doors()
            self._hosted[f"place-{self._count}"] = hosted
            self._names[place] = f"place-{self._count}"
        return f"{self.server.url}/{self._names[place]}"

    def release(self) -> None:
        """Close every store and forget its address."""
        self._names.clear()
        while self._hosted:
            self._hosted.popitem()[1].close()

    async def _route(self, scope: Any, receive: Any, send: Any) -> None:
        assert self._app is not None
        name, _, rest = scope["raw_path"].decode().lstrip("/").partition("/")
        _DOOR.set(self._hosted[name].door)
        await self._app({**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}, receive, send)


@contextlib.contextmanager
def serving(place: Path, *, port: int = 0) -> Iterator[Server]:
    """Serve one store for the length of the block."""
    core = open_core(place / "book.db", embedder=EMBEDDER, reader=None, extractor=READING, settings=QUICK)
    server = Server(create_app(core, Config()), port=port)
    try:
        yield server
    finally:
        server.stop()
        core.close()
