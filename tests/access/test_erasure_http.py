"""Erasing a person over HTTP: it needs an admin key, whose id is in the receipt."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from commonplace.access import keys
from commonplace.access.keys import NewKey
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.config import Config
from commonplace.values import Scope
from tests.access.keys_harness import ON_SQLITE
from tests.access.keys_serving import served

SPACE = "/v1/spaces/default"


@pytest.fixture
def client(core: Core) -> Iterator[httpx.Client]:
    LocalBook(core, "default").remember("about ada", scope=Scope(user="ada"))
    with served(create_app(core, Config())) as client:
        yield client


def bearer(key: NewKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.token}"}


@ON_SQLITE
def test_an_erasure_needs_an_admin_key_and_names_it(core: Core, client: httpx.Client) -> None:
    writer = keys.create(core.store, role="write")
    admin = keys.create(core.store, role="admin", spaces=["default"])
    person = {"user": "ada"}
    for body in (person, {**person, "dry_run": True}, {"source": "ada"}):
        assert client.post(f"{SPACE}/memories/forget", json=body, headers=bearer(writer)).status_code == 403
    named = {**bearer(admin), "Idempotency-Key": "once"}
    gone = client.post(f"{SPACE}/memories/forget", json=person, headers=named).json()
    assert gone["memories"] == 1
    assert gone["receipt"]["by"] == admin.key.id
    assert "ada" not in str(gone)
    again = client.post(f"{SPACE}/memories/forget", json=person, headers=named)
    assert (again.status_code, again.json()["code"]) == (409, "answer_lost")
    told = client.get(f"{SPACE}/receipts", headers=bearer(writer)).json()["receipts"]
    assert [each["hash"] for each in told] == [gone["receipt"]["hash"]]


@ON_SQLITE
def test_who_may_do_what_with_receipts(core: Core, client: httpx.Client) -> None:
    reader = keys.create(core.store, role="read", spaces=["*"])
    writer = keys.create(core.store, role="write", spaces=["*"])
    admin = keys.create(core.store, role="admin", spaces=["default"])
    everywhere = keys.create(core.store, role="admin", spaces=["*"])
    assert client.get(f"{SPACE}/users", headers=bearer(reader)).json()["users"][0]["name"] == "ada"
    receipt = client.post(f"{SPACE}/memories/forget", json={"user": "ada"}, headers=bearer(admin)).json()["receipt"]
    verified = client.post(f"{SPACE}/receipts/verify", json={"known": [receipt]}, headers=bearer(reader)).json()
    assert verified == {"ok": True, "problems": [], "checked": {"receipts": 1}}
    assert client.post(f"{SPACE}/receipts/verify", headers=bearer(reader)).json()["ok"]
    wanted = {"receipts": [receipt]}
    assert client.post(f"{SPACE}/receipts/again", json=wanted, headers=bearer(writer)).status_code == 403
    assert client.post(f"{SPACE}/receipts/again", json=wanted, headers=bearer(admin)).json() == {"receipts": []}
    for key, status in ((writer, 403), (admin, 403), (everywhere, 200)):
        assert client.post(f"{SPACE}/receipts/settle", headers=bearer(key)).status_code == status
    assert client.get(f"{SPACE}/export", params={"user": "ada"}, headers=bearer(reader)).text.count("\n") == 2
    assert client.post(f"{SPACE}/receipts/again", json={"receipts": [{}]}, headers=bearer(admin)).status_code == 400


@ON_SQLITE
def test_owners_are_given_and_shown_over_http(client: httpx.Client) -> None:
    ada = {"user": "ada", "agent": None, "session": None}
    put = client.put(f"{SPACE}/kv/n/k", json={"value": [1], "scope": {"user": "ada"}}).json()
    assert put["scope"] == ada
    assert client.post(f"{SPACE}/kv/n/k", json={"items": [2], "scope": {"user": "ada"}}).json()["scope"] == ada
    file = client.put(f"{SPACE}/canvases/c/files/a.md", json={"content": "x", "scope": {"user": "ada"}}).json()
    assert file["scope"] == ada
    said = {"messages": [{"content": "hi"}], "scope": {"user": "ada"}}
    assert client.post(f"{SPACE}/transcripts/s", json=said).json()["messages"][0]["scope"] == ada
    said["messages"][0]["scope"] = {"user": "ada"}  # type: ignore[index]
    assert client.post(f"{SPACE}/transcripts/s", json=said).status_code == 400
