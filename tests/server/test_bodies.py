"""Limits on the size and time of bodies, and cross-origin requests."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from commonplace.server.config import Config
from tests.server.server_harness import Running, start

LINES = {"Content-Type": "application/x-ndjson"}
PAGE = "https://console.example.org"


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    config = Config(max_body_bytes=10_000, body_timeout=0.5, cors_origins=(PAGE,))
    served = start(tmp_path_factory.mktemp("narrow") / "book.db", config)
    yield served
    served.stop()


def _pieces(size: int) -> Iterator[bytes]:
    yield b'{"content": "'
    for _ in range(size // 1000):
        yield b"x" * 1000
    yield b'"}'


@pytest.mark.slow
def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(narrow: Running) -> None:
    place = f"{narrow.url}/v1/spaces/a/memories"
    for body in (b"".join(_pieces(20_000)), _pieces(20_000)):
        answer = httpx.post(place, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert answer.headers["content-type"] == "application/problem+json"
    small = httpx.post(place, content=_pieces(5_000), headers={"Content-Type": "application/json"})
    assert small.status_code == 201


@pytest.mark.slow
def test_a_stream_has_no_limit_of_size(narrow: Running) -> None:
    place = f"{narrow.url}/v1/spaces/b"
    with httpx.Client() as http:
        for n in range(40):
            http.post(f"{place}/memories", json={"content": f"{n} " + "word " * 100})
    exported = httpx.get(f"{place}/export").content
    assert len(exported) > 10_000
    assert httpx.post(f"{place}-copy/import", content=exported, headers=LINES).json() == {"records": 40}


@pytest.mark.slow
@pytest.mark.parametrize("path", [b"/v1/spaces/a/memories", b"/v1/spaces/a/import"])
def test_a_body_that_never_comes_is_not_waited_for(narrow: Running, path: bytes) -> None:
    address = urlsplit(narrow.url)
    kind = b"application/json" if path.endswith(b"memories") else b"application/x-ndjson"
    begun = time.monotonic()
    with socket.create_connection((address.hostname, address.port or 80), timeout=60) as connection:
        connection.sendall(
            b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: %b\r\nContent-Length: 100\r\n\r\n{" % (path, kind)
        )
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert answer.split(b" ", 2)[1] == b"408"
    assert b'"code":"request_timeout"' in answer
    assert time.monotonic() - begun < 30


def test_only_pages_that_were_named_may_ask(narrow: Running) -> None:
    place = f"{narrow.url}/v1/spaces/a/stats"
    assert httpx.get(place, headers={"Origin": PAGE}).headers["access-control-allow-origin"] == PAGE
    assert "access-control-allow-origin" not in httpx.get(place, headers={"Origin": "https://else.example"}).headers
