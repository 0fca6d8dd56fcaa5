"""Heads of requests that are too long or too slow: the connection is closed."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from commonplace.server import run
from commonplace.server.run import HeadLimits, bind

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    told = b"%d" % len(body)
    headers = [(b"content-length", b"%d" % len(told))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": told})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    sock = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(_app, http=HeadLimits, lifespan="off", log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield sock.getsockname()[1]
    server.should_exit = True
    thread.join(20)
    sock.close()


def _connected(port: int) -> closing[socket.socket]:
    return closing(socket.create_connection(("127.0.0.1", port), timeout=60))


@pytest.mark.parametrize("piece", [b"x-more: " + b"a" * 1000 + b"\r\n", b"a" * 1000], ids=["many", "one without end"])
def test_headers_without_end_are_not_taken_in(port: int, piece: bytes) -> None:
    with _connected(port) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nx-long: ")
        with pytest.raises(OSError):  # noqa: PT011  # reset or broken, as it comes
            client.sendall(piece * 20_000)


@pytest.mark.slow
def test_a_head_that_does_not_come_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "HEAD_SECONDS", 0.3)
    for begun in (b"", REQUEST[:20], REQUEST + REQUEST[:20]):
        with _connected(port) as client:
            client.sendall(begun)
            began = time.monotonic()
            while client.recv(4096):
                pass
            assert time.monotonic() - began < 30


@pytest.mark.slow
def test_a_slow_body_and_a_long_pause_between_requests_are_no_slow_head(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "HEAD_SECONDS", 0.3)
    with _connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n" + b"a" * 100_000)
        time.sleep(0.6)
        client.sendall(b"a" * 100_000)
        assert client.recv(4096).endswith(b"200000")
        time.sleep(0.6)
        client.sendall(REQUEST)
        assert client.recv(4096).endswith(b"0")
