"""Hostile requests."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import commonplace
from commonplace.access import keys
from commonplace.learn import jobs
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from commonplace.server import idempotency
from commonplace.server.api import transfer
from commonplace.server.config import Config
from tests.server.server_harness import Running, start

MARK = "the other space's secret"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose book has keys."""
    served = start(tmp_path_factory.mktemp("locked") / "book.db")
    keys.create(served.core.store, role="admin")
    LocalBook(served.core, "theirs").remember(MARK)
    yield served
    served.stop()


def _client(served: Running, role: str, *spaces: str) -> httpx.Client:
    token = keys.create(served.core.store, role=role, spaces=spaces, home=spaces[0].replace("*", "x")).token
    return httpx.Client(base_url=served.url, headers={"X-API-Key": token}, timeout=30)


@pytest.mark.slow
def test_an_admin_of_one_space_gets_no_backup_of_all(locked: Running) -> None:
    with _client(locked, "admin", "mine") as admin:
        answer = admin.get("/v1/spaces/mine/backup")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert MARK.encode() not in answer.content
    with _client(locked, "admin", "a*", "*") as everywhere:
        assert MARK.encode() in everywhere.get("/v1/spaces/mine/backup").content


@pytest.mark.parametrize("query", ["", "?deep=true"])
def test_a_check_tells_nobody_how_much_others_hold(locked: Running, query: str) -> None:
    with _client(locked, "admin", "mine*") as admin:
        assert admin.get(f"/v1/spaces/mine/check{query}").status_code == 403
    with _client(locked, "admin", "*") as everywhere:
        assert everywhere.get(f"/v1/spaces/mine/check{query}").json()["ok"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/spaces/mine/stats", "/memories", "/v1/memory/list", "/memory/n"])
@pytest.mark.parametrize("sent", [b"Basic \xe9\xe9", b"Basic =", b"Basic", b"Bearer", b"Bearer \xe9", b"Basic /w=="])
def test_a_header_that_holds_no_key_is_no_key(locked: Running, path: str, sent: bytes) -> None:
    assert httpx.get(locked.url + path, headers=[(b"authorization", sent)]).status_code == 401


@pytest.mark.slow
def test_a_server_without_keys_answers_to_no_foreign_name(tmp_path: Path) -> None:
    """A web site whose name resolves to this machine, opened in a local browser."""
    served = start(tmp_path / "book.db")
    strange = ("evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.evil.example", "[evil]",
               "[::1].evil.example", "[::1].evil.example:8420", "localhost:evil", "127.0.0.1:80:evil")  # fmt: skip
    ours = ("localhost", "LOCALHOST:8420", "127.0.0.1", "127.0.0.1:8420", "[::1]:8420", "localhost.")
    try:
        with httpx.Client(base_url=served.url) as client:
            for path in (
                *("/v1/spaces/mine/stats", "/memories", "/v1/memory/list", "/memory/n", "/v1/keys", "/metrics"),
                *("/health", "/docs"),
            ):
                assert {client.get(path, headers={"Host": name}).status_code for name in strange} == {403}
                assert {client.get(path, headers={"Host": name}).status_code for name in ours} == {200}
    finally:
        served.stop()


@pytest.mark.slow
def test_a_page_of_another_site_makes_a_browser_send_nothing(tmp_path: Path) -> None:
    served = start(tmp_path / "book.db", Config(sign_up="memstore-free", cors_origins=("https://console.example",)))
    own = served.url.removeprefix("http://")
    try:
        with httpx.Client(base_url=served.url) as client:
            # Requests without a body, and those that need no leave: a form can send them.
            for method, path in (
                *(("POST", "/v1/spaces/a/jobs/work"), ("POST", "/v1/spaces/a/prune"), ("POST", "/v1/agents")),
                *(("POST", "/memories"), ("DELETE", "/memory/n/k"), ("GET", "/v1/spaces/a/export"), ("GET", "/health")),
            ):
                for origin in ("https://evil.example", "null", f"http://{own}.evil.example", "http://localhost"):
                    answer = client.request(method, path, headers={"Origin": origin})
                    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (path, origin)
                for origin in (served.url, served.url.upper(), "https://console.example"):
                    assert client.request(method, path, headers={"Origin": origin}).status_code != 403, (path, origin)
            cross = {"Sec-Fetch-Site": "cross-site"}
            assert client.post("/v1/spaces/a/jobs/work", headers=cross).status_code == 403
            assert client.get("/docs", headers=cross).status_code == 200  # a link
    finally:
        served.stop()


def test_a_page_that_may_send_the_key_itself_is_asked_by_the_browser(locked: Running) -> None:
    """Its header needs the leave that only `cors_origins` gives; a password that the browser knows does not."""
    with _client(locked, "read", "mine") as reader:
        key = reader.headers["x-api-key"]
        foreign = {"Origin": "https://evil.example"}
        assert reader.get("/v1/spaces/mine/stats", headers=foreign).status_code == 200
    basic = httpx.BasicAuth("me", key)
    assert httpx.get(f"{locked.url}/v1/spaces/mine/stats", auth=basic).status_code == 200
    assert httpx.get(f"{locked.url}/v1/spaces/mine/stats", auth=basic, headers=foreign).status_code == 403


def test_a_server_with_keys_has_any_name(locked: Running) -> None:
    with _client(locked, "read", "mine") as reader:
        assert reader.get("/v1/spaces/mine/stats", headers={"Host": "memory.example.org"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/spaces/mine/memories", "/memories", "/v1/memory/remember", "/memory/n/k/append"])
def test_a_large_body_without_a_key_is_not_read(locked: Running, path: str) -> None:
    host, port = locked.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as stranger:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n"
        stranger.sendall(head.encode() + b'{"content": "')
        # The rest is never sent, and the server does not wait for it.
        assert stranger.recv(4096).startswith(b"HTTP/1.1 401 ")


def test_a_large_chunked_body_without_a_key_is_not_read_to_its_end(locked: Running) -> None:
    host, port = locked.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as stranger:
        head = (
            "POST /memories HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        stranger.sendall(head.encode())
        piece = b"%x\r\n%s\r\n" % (50_000, b"a" * 50_000)
        for _ in range(3):
            stranger.sendall(piece)
        assert stranger.recv(4096).startswith(b"HTTP/1.1 401 ")


def test_a_large_body_with_a_key_is_accepted(locked: Running) -> None:
    with _client(locked, "write", "mine") as writer:
        assert writer.put("/v1/spaces/mine/kv/n/large", json={"value": "a" * 500_000}).status_code == 200


def test_a_line_without_end_is_refused(locked: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_LONGEST", 1000)
    header = {"type": "header", "commonplace": 1, "space": "a", "at": "2026-05-04T09:30:00Z"}
    lines = json.dumps(header) + "\n" + '{"type": "' + "a" * 2000
    with _client(locked, "write", "mine") as writer:
        sent = {"content-type": "application/x-ndjson"}
        answer = writer.post("/v1/spaces/mine/import", content=lines.encode(), headers=sent)
    assert answer.status_code == 400
    assert "line 2 has more than 1,000 bytes" in answer.json()["detail"]


@pytest.mark.parametrize(
    "memory", [{"metadata": 7}, {"metadata": "abc"}, {"metadata": [1]}, {"metadata": [["a", 1]]}, {"tags": 5}]
)
def test_an_import_of_other_shapes_is_refused_with_a_message(locked: Running, memory: dict[str, object]) -> None:
    with _client(locked, "write", "mine") as writer:
        answer = writer.post("/memories/import", json={"memories": [{"content": "x", **memory}]})
    assert answer.status_code == 400, answer.text


def test_an_agent_that_another_client_wrote_can_be_searched(locked: Running) -> None:
    with _client(locked, "write", "mine") as writer:
        for number, known in enumerate(({"capabilities": 5}, {"capabilities": None}, [1], "x")):
            writer.put(f"/v1/spaces/mine/kv/botwire%2Fagents/{number}", json={"value": known})
        writer.post("/identity/register", json={"name": "able", "capabilities": ["sing"]})
        found = writer.get("/identity/search?capability=sing").json()
    assert [agent["name"] for agent in found["results"]] == ["able"]


def test_another_condition_is_another_request(locked: Running) -> None:
    with _client(locked, "write", "mine") as writer:
        name = {"Idempotency-Key": "a name"}
        assert writer.put("/v1/spaces/mine/kv/n/k", json={"value": 1}, headers=name).status_code == 200
        other = writer.put("/v1/spaces/mine/kv/n/k", json={"value": 1}, headers={**name, "If-Match": '"7"'})
    assert other.status_code == 422


def test_learning_sent_8_times_at_once_gives_one_answer(locked: Running) -> None:
    body = {"messages": [{"content": "I bought a bike in May", "name": "Sarah"}], "wait": True}
    together = threading.Barrier(8)
    with _client(locked, "write", "mine") as writer:

        def send(_: int) -> str:
            together.wait()
            return writer.post("/v1/spaces/mine/learn", json=body, headers={"Idempotency-Key": "learn"}).text

        with ThreadPoolExecutor(8) as pool:
            answers = set(pool.map(send, range(8)))
        answers.add(send_again(writer, body))
    assert len(answers) == 1
    assert len(json.loads(answers.pop())["memories"]) == 1


def send_again(writer: httpx.Client, body: dict[str, object]) -> str:
    return writer.post("/v1/spaces/mine/learn", json=body, headers={"Idempotency-Key": "learn"}).text


def test_learning_answers_the_same_if_a_worker_was_quicker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ["I bought a bike in May", "I live in Oslo", "I live in Rome now", "I bought a bike in May"]
    messages = [{"role": "user", "name": "Sarah", "content": each} for each in said]
    with commonplace.open(tmp_path / "one.db") as book:
        itself = book.learn(messages, wait=True)
    run = jobs.run_one

    def quicker(core: Core, space: int, number: int | None = None) -> None:
        run(core, space, number)

    monkeypatch.setattr(jobs, "run_one", quicker)
    with commonplace.open(tmp_path / "two.db") as book:
        elsewhere = book.learn(messages, wait=True)
    assert itself.memories
    assert {memory.content for memory in elsewhere.memories} == {memory.content for memory in itself.memories}
    assert sorted(link.relation for link in elsewhere.links) == sorted(link.relation for link in itself.links)


def test_a_repeated_request_that_looked_too_early_gets_the_later_answer(
    locked: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a request looks before the first one has answered, and writes after."""
    body = {"messages": [{"content": "I sold a boat in June", "name": "Sarah"}], "wait": True}
    with _client(locked, "write", "mine") as writer:
        first = send_again(writer, body)
        monkeypatch.setattr(idempotency.IdempotencyRecord, "find", lambda self, store, space: None)
        assert send_again(writer, body) == first


@pytest.mark.slow
def test_a_repeated_request_after_a_crash_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a server ends between the first write of a request and its answer."""
    body = {"messages": [{"content": "I keep two cats", "name": "Sarah"}], "wait": True}
    served = start(tmp_path / "book.db")
    try:
        with httpx.Client(base_url=served.url, timeout=30) as client, monkeypatch.context() as broken:
            broken.setattr(idempotency.IdempotencyRecord, "keep_answer", lambda *given, **named: 1 / 0)
            assert client.post("/v1/spaces/a/learn", json=body, headers={"Idempotency-Key": "c"}).status_code == 500
        began = time.monotonic()
        again = httpx.post(f"{served.url}/v1/spaces/a/learn", json=body, headers={"Idempotency-Key": "c"}, timeout=30)
        assert again.status_code == 200
        assert time.monotonic() - began < 10
    finally:
        served.stop()
