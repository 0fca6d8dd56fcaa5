"""A real server on loopback for the tests of the services, and the real clients in separate processes."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from commonplace.book import Book
from commonplace.errors import CommonplaceError, Unauthorized
from commonplace.local import LocalBook
from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.auth import Call, Caller, Gate
from commonplace.server.config import Config
from commonplace.server.door import Door
from commonplace.server.run import bind

CLIENTS = Path(os.environ.get("COMMONPLACE_CLIENTS", Path(sys.prefix) / "clients"))
"""Where `make` puts the packages of other makers, a directory for each."""


PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing here is encrypted: a client that loads no certificates is made a hundred times faster."""


def talking(url: str = "") -> httpx.Client:
    """A client of the server at a base URL."""
    return httpx.Client(base_url=url, verify=PLAIN)


def sent(method: str, url: str, **more: Any) -> httpx.Response:
    """One request by itself."""
    with talking() as client:
        return client.request(method, url, **more)


class Served:
    """A server that runs, and the store behind it."""

    def __init__(self, url: str, core: Core, app: object) -> None:
        self.url = url
        self.core = core
        self.app = app

    def at(self, space: str) -> str:
        """The base URL of a space."""
        return f"{self.url}/spaces/{space}"

    def book(self, space: str = "default") -> Book:
        """The same data, natively."""
        return LocalBook(self.core, space)


@contextmanager
def serving(path: Path | str, gate: Gate | None = None, *, sign_up: str | None = None) -> Iterator[Served]:
    """Serve a book on a free port until the block ends."""
    core = open_core(path)
    app = create_app(core, Config(sign_up=sign_up), closing=core.close)
    if gate is not None:
        app.state.door = Door(core, gate, threads=2)
    sock = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{sock.getsockname()[1]}", core, app)
    finally:
        server.should_exit = True
        thread.join(30)
        sock.close()
        if gate is not None:
            app.state.door.close()


class Keys:
    """A gate with the spaces of each key, which rejects on demand."""

    closed = True

    def __init__(self, keys: dict[str, str], refusal: CommonplaceError | None = None) -> None:
        self._keys = keys
        self.refusal = refusal

    def admit(self, call: Call) -> Caller:
        if self.refusal is not None:
            raise self.refusal
        if call.secret not in self._keys:
            raise Unauthorized("this key is unknown")
        home = self._keys[call.secret]
        return Caller(key=call.secret, role="write", spaces=(home,), home=home)

    def is_open(self) -> bool:
        return False


def run_client(code: str, *packages: str, cwd: Path | None = None, **env: str) -> str:
    """Run a program with a client's package in a separate process; return its output."""
    places = [CLIENTS / package for package in packages]
    missing = [place for place in places if not place.is_dir()]
    assert not missing, f"{missing} is missing: `make test` installs it"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "NO_PROXY": "*"}
        | {"PYTHONPATH": os.pathsep.join([*map(str, places), env.pop("PYTHONPATH", "")]).strip(os.pathsep)}
        | env,
        cwd=cwd,
        input="exit\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
