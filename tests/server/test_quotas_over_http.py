"""A thousand clients at once, two processes, one quota: exactly the allowed number succeeds."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from commonplace.access import keys
from commonplace.local import LocalBook
from commonplace.location import open_core
from commonplace.memories.core import Core

CLIENTS = 1000


@dataclass(frozen=True)
class Served:
    """`commonplace serve --workers 2`, and the book behind it."""

    port: int
    core: Core


@dataclass(frozen=True)
class Answer:
    """The responses of one client."""

    status: int
    headers: dict[str, str]
    body: Any


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    path = tmp_path_factory.mktemp("quota") / "book.db"
    core = open_core(path)
    keys.create(core.store, role="admin", spaces=["*"], home="default")
    command = [sys.executable, "-m", "commonplace", "serve", str(path), "--port", "0", "--workers", "2", "--no-work"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
    assert found is not None
    yield Served(int(found[1]), core)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    process.stdout.close()
    core.close()


async def _send(port: int, request: bytes, ready: asyncio.Event) -> Answer:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await ready.wait()
    writer.write(request)
    whole = await reader.read()
    writer.close()
    head, _, body = whole.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Answer(int(first.split()[1]), headers, json.loads(body))


def _together(served: Served, token: str, method: str, path: str, body: object, clients: int) -> list[Answer]:
    """Return the responses of many clients at the same moment, each with its own request."""

    async def everybody() -> list[Answer]:
        ready, requests = asyncio.Event(), []
        for number in range(clients):
            said = b"" if body is None else json.dumps(body).replace("NUMBER", str(number)).encode()
            head = (
                f"{method} {path.replace('NUMBER', str(number))} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"X-API-Key: {token}\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
            )
            requests.append(asyncio.ensure_future(_send(served.port, head.encode() + said, ready)))
        await asyncio.sleep(0)
        ready.set()
        return await asyncio.gather(*requests)

    return asyncio.run(everybody())


def _judged(answers: list[Answer], allowed: int) -> list[Answer]:
    """Exactly so many were let through; the others are told when to come again."""
    refused = [answer for answer in answers if answer.status == 429]
    assert {answer.status for answer in answers} <= {200, 201, 429}
    assert len(answers) - len(refused) == allowed
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    return refused


def _key(served: Served, space: str, **limits: float) -> str:
    return keys.create(served.core.store, role="write", spaces=[space], limits=limits).token


@pytest.mark.slow
def test_a_thousand_clients_get_exactly_what_the_quota_has(served: Served) -> None:
    token = _key(served, "native", operations_month=137)
    path, body = "/v1/spaces/native/kv/n/NUMBER", {"value": "NUMBER"}
    refused = _judged(_together(served, token, "PUT", path, body, CLIENTS), 137)
    assert {answer.body["code"] for answer in refused} == {"quota_exceeded"}
    assert all(answer.body["retry_after"] > 0 for answer in refused)
    assert len(LocalBook(served.core, "native").kv("n").keys()) == 137


@pytest.mark.slow
def test_memstore_clients_are_told_of_the_hour_and_of_the_month(served: Served) -> None:
    hourly = _key(served, "hourly", rate=1 / 3600, burst=40)
    path, body = "/v1/memory/remember", {"content": "fact NUMBER"}
    refused = _judged(_together(served, hourly, "POST", path, body, 200), 40)
    assert {answer.body["error"] for answer in refused} == {"hourly_rate_limit"}
    assert LocalBook(served.core, "hourly").stats().memories == 40
    monthly = _key(served, "monthly", operations_month=40)
    refused = _judged(_together(served, monthly, "GET", "/v1/memory/recall?q=fact", None, 200), 40)
    assert {answer.body["error"] for answer in refused} == {"ops_limit_reached"}
    assert all(answer.body["message"] for answer in refused)


@pytest.mark.slow
def test_0latency_clients_are_told_in_an_object(served: Served) -> None:
    token = _key(served, "latency", recalls_month=40, memories=30)
    refused = _judged(_together(served, token, "POST", "/recall", {"query": "fact NUMBER"}, 200), 40)
    assert {answer.body["detail"]["error"] for answer in refused} == {"rate_limit_exceeded"}
    assert all(answer.body["detail"]["retry_after"] > 0 for answer in refused)
    refused = _judged(_together(served, token, "POST", "/memories", {"content": "fact NUMBER"}, 200), 30)
    assert {answer.body["detail"]["error"] for answer in refused} == {"rate_limit_exceeded"}
    assert LocalBook(served.core, "latency").stats().memories == 30


@pytest.mark.slow
def test_botwire_clients_are_told_in_a_detail(served: Served) -> None:
    token = _key(served, "wire", namespace_writes_day=40)
    refused = _judged(_together(served, token, "PUT", "/memory/shelf/NUMBER", {"value": "NUMBER"}, 200), 40)
    assert all("writes a day to one namespace" in answer.body["detail"] for answer in refused)
    assert len(LocalBook(served.core, "wire").kv("shelf").keys()) == 40
