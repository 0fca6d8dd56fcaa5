"""Keys over HTTP: a real server, real requests."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator

import httpx
import pytest

from commonplace.access import keys
from commonplace.access.keys import NewKey
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.config import Config
from tests.access.keys_harness import ON_SQLITE
from tests.access.keys_serving import served

ASK = {"query": "which framework did we choose?"}
RECALL = "/v1/spaces/default/recall"


@pytest.fixture
def client(core: Core) -> Iterator[httpx.Client]:
    LocalBook(core, "default").remember("We chose FastAPI over Flask because of async support")
    with served(create_app(core, Config())) as client:
        yield client


def bearer(key: NewKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.token}"}


def basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def test_a_key_may_come_in_any_of_three_headers(core: Core, client: httpx.Client) -> None:
    assert client.post(RECALL, json=ASK).status_code == 200
    key = keys.create(core.store)
    for headers in (bearer(key), {"X-API-Key": key.token}, basic("anybody", key.token)):
        answer = client.post(RECALL, json=ASK, headers=headers)
        assert (answer.status_code, "FastAPI" in answer.json()["text"]) == (200, True)


@ON_SQLITE
def test_without_a_good_key_the_answer_is_401_and_tells_nothing(core: Core, client: httpx.Client) -> None:
    key = keys.create(core.store)
    unknown, wrong = f"cp_{'a' * 12}_{'A' * 40}", f"cp_{key.key.id}_{'A' * 40}"
    bodies = set()
    for headers in (
        {"X-API-Key": unknown}, {"X-API-Key": wrong}, basic("a", wrong), {"Authorization": f"Bearer {unknown}"},
    ):  # fmt: skip
        answer = client.post(RECALL, json=ASK, headers=headers)
        assert answer.status_code == 401
        assert "Bearer" in answer.headers["WWW-Authenticate"]
        bodies.add(answer.text)
    assert len(bodies) == 1
    for headers in ({}, {"Authorization": "Digest x"}, {"Authorization": "Basic !"}, {"Authorization": "Bearer"}):
        answer = client.post(RECALL, json=ASK, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


@ON_SQLITE
def test_a_key_does_not_open_other_spaces(core: Core, client: httpx.Client) -> None:
    key = keys.create(core.store, spaces=["team-*"], home="team-a")
    for space, status in (("team-b", 200), ("default", 403), ("commonplace:planted", 403), ("team-a%2F..", 200)):
        answer = client.post(f"/v1/spaces/{space}/recall", json=ASK, headers=bearer(key))
        assert (space, answer.status_code) == (space, status)


def test_over_its_limit_a_key_gets_429_with_the_time_to_wait(core: Core, client: httpx.Client) -> None:
    key = keys.create(core.store, limits={"recalls_month": 2})
    statuses = [client.post(RECALL, json=ASK, headers=bearer(key)).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = client.post(RECALL, json=ASK, headers=bearer(key))
    body = refused.json()
    assert (body["code"], body["retryable"]) == ("quota_exceeded", True)
    assert 0 < body["retry_after"] <= int(refused.headers["Retry-After"]) <= 31 * 86400
    assert client.post(RECALL, json={"query": "x", "k": 0}, headers=bearer(key)).status_code == 429


@ON_SQLITE
def test_a_request_that_is_refused_for_what_it_says_is_not_charged(core: Core, client: httpx.Client) -> None:
    key = keys.create(core.store, limits={"recalls_month": 2})
    for wrong in ({"query": "x", "k": 0}, {"query": "x\u0000"}, {"question": "x"}):
        assert client.post(RECALL, json=wrong, headers=bearer(key)).status_code == 400
    assert keys.usage(core.store, key.key.id)[0].used == 0


@pytest.mark.slow
@ON_SQLITE
def test_an_admin_key_looks_after_keys(core: Core, client: httpx.Client) -> None:
    admin = keys.create(core.store, role="admin", spaces=["team-*"], home="team-a")
    made = client.post(
        "/v1/keys", json={"spaces": ["team-b"], "label": "bob", "limits": {"rate": 5}}, headers=bearer(admin)
    )
    assert (made.status_code, made.headers["Cache-Control"]) == (201, "no-store")
    id, token = made.json()["key"]["id"], made.json()["token"]
    recall = "/v1/spaces/team-b/recall"
    assert client.post(recall, json=ASK, headers={"X-API-Key": token}).status_code == 200

    listed = client.get("/v1/keys", headers=bearer(admin)).json()["keys"]
    assert [key["id"] for key in listed] == [admin.key.id, id]
    assert token.split("_")[2] not in str(listed)
    (usage,) = client.get(f"/v1/keys/{id}/usage", headers=bearer(admin)).json()["usage"]
    assert (usage["name"], usage["limit"]) == ("burst", 5)

    rotated = client.post(f"/v1/keys/{id}/rotate", json={"grace": 100}, headers=bearer(admin)).json()["token"]
    newest = client.post(f"/v1/keys/{id}/rotate", headers=bearer(admin)).json()["token"]
    statuses = [
        client.post(recall, json=ASK, headers={"X-API-Key": each}).status_code for each in (token, rotated, newest)
    ]
    assert statuses == [401, 401, 200]

    assert client.delete(f"/v1/keys/{id}", headers=bearer(admin)).json()["revoked_at"]
    assert client.post(recall, json=ASK, headers={"X-API-Key": newest}).status_code == 401


@ON_SQLITE
def test_no_other_key_does_and_an_admin_only_within_its_own(core: Core, client: httpx.Client) -> None:
    root = keys.create(core.store, role="admin", spaces=["*"])
    admin = keys.create(core.store, role="admin", spaces=["team-*"], home="team-a")
    writer = keys.create(core.store, role="write", spaces=["*"])
    for method, path in (("GET", ""), ("POST", ""), ("POST", "/x/rotate"), ("DELETE", "/x"), ("GET", "/x/usage")):
        body = {"json": {}} if method == "POST" else {}  # type: ignore[var-annotated]
        assert client.request(method, f"/v1/keys{path}", **body).status_code == 401  # type: ignore[arg-type]  # JSON
        assert client.request(method, f"/v1/keys{path}", headers=bearer(writer), **body).status_code == 403  # type: ignore[arg-type]  # JSON
    for wanted in ({"spaces": ["*"]}, {"spaces": ["default"]}, {"spaces": ["team-a", "x"]}):
        assert client.post("/v1/keys", json=wanted, headers=bearer(admin)).status_code == 403
    assert client.post(f"/v1/keys/{root.key.id}/rotate", headers=bearer(admin)).status_code == 404
    assert client.delete(f"/v1/keys/{root.key.id}", headers=bearer(admin)).status_code == 404
    for wrong in ({"role": "owner"}, {"spaces": []}, {"plan": "gold"}, {"limits": {"gold": 1}}, {"color": "red"}):  # type: ignore[var-annotated]
        assert client.post("/v1/keys", json=wrong, headers=bearer(admin)).status_code == 400
    assert client.get("/v1/keys/nobody/usage", headers=bearer(admin)).status_code == 404


@pytest.mark.slow
@ON_SQLITE
def test_no_key_is_written_to_a_log(core: Core, client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    key = keys.create(core.store, role="admin", spaces=["*"])
    # httpx itself logs the headers that it sends, at this level; they are the client's.
    with caplog.at_level(logging.DEBUG):
        client.post(RECALL, json=ASK, headers=bearer(key))
        made = client.post("/v1/keys", json={}, headers=bearer(key)).json()["token"]
        client.post(RECALL, json=ASK, headers={"X-API-Key": made + "x"})
    said = " ".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))
    )
    assert "POST /v1/keys" in said
    for token in (key.token, made):
        assert token.split("_")[2][:8] not in said
