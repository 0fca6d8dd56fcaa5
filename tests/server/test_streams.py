"""Streams do not block other requests, and report their errors."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from commonplace.errors import StoreClosed
from commonplace.local import LocalBook
from tests.server.server_harness import Running, start


@pytest.mark.slow
def test_an_export_that_fails_midway_ends_with_the_error(tmp_path: Path) -> None:
    served = start(tmp_path / "book.db")
    place = f"{served.url}/v1/spaces/a"
    large = [{"base64": "AAAA" * 6000, "text": f"note {n}"} for n in range(700)]
    assert httpx.post(f"{place}/memories/batch", json={"memories": large}, timeout=120).status_code == 201
    with httpx.stream("GET", f"{place}/export", timeout=30) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        next(lines)
        served.core.close()  # what is on its way cannot be taken back; the rest cannot be read any more
        *_, last = lines
    served.stop()
    assert json.loads(last)["type"] == "error"
    assert (json.loads(last)["code"], json.loads(last)["status"]) == (StoreClosed.code, StoreClosed.status)


def test_a_long_import_blocks_no_other_request(http: httpx.Client, running: Running) -> None:
    http.post("/memories/batch", json={"memories": [{"content": f"note {n} " + "word " * 50} for n in range(600)]})
    exported = http.get("/export").content
    done = threading.Event()
    answered = 0

    def ask() -> None:
        nonlocal answered
        with httpx.Client(timeout=30) as own:
            while not done.is_set():
                assert own.get(f"{running.url}/health").status_code == 200  # answered by the event loop itself
                answered += 1

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        answer = httpx.post(
            f"{str(http.base_url).rstrip('/')}-copy/import",
            content=exported,
            headers={"Content-Type": "application/x-ndjson"},
            timeout=120,
        )
        meanwhile = answered
        done.set()
        asking.result()
    assert answer.json() == {"records": 600}
    assert meanwhile > 1


def test_long_requests_block_no_others(http: httpx.Client, running: Running) -> None:
    http.post("/memories", json={"content": "one"})
    lines = http.get("/export").content
    http.post("/memories/forget", json={"everything": True})
    embedder: Any = running.core.embedder
    embed, go_on, begun = embedder.embed, threading.Event(), threading.Semaphore(0)

    def slow(texts: Any) -> Any:
        begun.release()
        go_on.wait(30)
        return embed(texts)

    def load(_: int) -> int:
        return http.post("/import", content=lines, headers={"Content-Type": "application/x-ndjson"}).status_code

    embedder.embed = slow
    try:
        with ThreadPoolExecutor(8) as loading:
            loads = [loading.submit(load, number) for number in range(8)]
            assert begun.acquire(timeout=20)
            assert http.get("/stats").status_code == 200
            assert not any(each.done() for each in loads)
            go_on.set()
            assert {each.result() for each in loads} == {200}
    finally:
        go_on.set()
        embedder.embed = embed


def test_a_revision_that_another_overtakes_is_made_once(http: httpx.Client, running: Running) -> None:
    made = http.post("/memories", json={"content": "one", "id": "one"}).json()
    space = str(http.base_url).rstrip("/").rsplit("/", 1)[1]
    book = LocalBook(running.core, space)
    embedder: Any = running.core.embedder
    embed, overtaken = embedder.embed, []  # type: ignore[var-annotated]

    def slow(texts: Any) -> Any:
        if not overtaken:
            with ThreadPoolExecutor(1) as other:
                overtaken.append(other.submit(book.revise, "one", importance=0.9).result())
        return embed(texts)

    headers = {"Idempotency-Key": "overtaken"}
    embedder.embed = slow
    try:
        first = http.patch("/memories/one", json={"content": "two"}, headers=headers)
    finally:
        embedder.embed = embed
    second = http.patch("/memories/one", json={"content": "two"}, headers=headers)
    assert made["version"] == 1
    assert first.text == second.text
    assert (first.json()["version"], first.json()["importance"]) == (3, 0.9)
    assert [each["version"] for each in http.get("/memories/one/history").json()["revisions"]] == [1, 2, 3]


@pytest.mark.slow
def test_an_interrupted_import_changes_nothing_and_is_no_server_error(
    http: httpx.Client, running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    http.post("/memories", json={"content": "one"})
    lines = http.get("/export").content
    http.post("/memories/forget", json={"everything": True})
    address = urlsplit(running.url)
    path = f"{urlsplit(str(http.base_url)).path.rstrip('/')}/import".encode()
    head = (
        b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n"
    )
    log = logging.getLogger("uvicorn.error")  # it hands nothing on to the root
    log.addHandler(caplog.handler)
    try:
        with socket.create_connection((address.hostname, address.port or 80), timeout=10) as connection:
            connection.sendall(head % path + lines)
            time.sleep(0.2)
        time.sleep(0.3)
    finally:
        log.removeHandler(caplog.handler)
    assert http.get("/memories").json()["memories"] == []
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_an_export_that_nobody_reads_ends(http: httpx.Client, running: Running) -> None:
    large = [{"base64": "AAAA" * 6000, "text": f"note {n}"} for n in range(300)]
    assert http.post("/memories/batch", json={"memories": large}).status_code == 201
    for _ in range(8):  # twice as many as there are threads
        with http.stream("GET", "/export") as answer:
            next(answer.iter_bytes())
    assert http.get("/stats").json()["memories"] == 300
