"""An OpenAI-compatible service on loopback with answers from the test."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Row = dict[str, Any]


@dataclass
class Reply:
    """One answer: rows or an error, after a delay."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Request:
    """A request to the service, and its time."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


class Service:
    """Answers each request with the next reply of the script, and well once the script is over."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Reply] = []
        self.change: Callable[[list[Row]], object] = lambda rows: rows
        self.url = ""

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.script:
            return self.script.pop(0)
        rows = [{"index": at, "embedding": vector(text)} for at, text in enumerate(request.body["input"])]
        return Reply(body={"data": self.change(rows)})


def vector(text: str) -> list[float]:
    """Three numbers that tell texts apart and are not of length 1."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 5.0]


@contextmanager
def serving() -> Iterator[Service]:
    service, over = Service(), Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = service.answer(Request(self.path, dict(self.headers), body, time.monotonic()))
            over.wait(reply.delay)
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(data)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the client of a time-out is gone

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield service
    finally:
        over.set()  # nobody waits for a reply that takes a minute
        server.shutdown()
        thread.join()
        server.server_close()
