"""Real keys with limits: each dialect reports them as its own service does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from commonplace.access import keys
from tests.services.serving import Served, run_client, sent, serving


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("planned") / "book.db", sign_up="memstore-free") as running:
        yield running


def key(served: Served, space: str, **limits: Any) -> str:
    return keys.create(served.core.store, spaces=(space,), limits=limits).token


def asked(served: Served, token: str, method: str, path: str, **more: Any) -> httpx.Response:
    return sent(method, served.url + path, headers={"Authorization": f"Bearer {token}"}, **more)


def test_memstore_tells_of_used_up_operations_and_of_haste(planned: Served, space: str) -> None:
    for limits, code in (
        ({"operations_month": 1}, "ops_limit_reached"),
        ({"rate": 1 / 3600, "burst": 1}, "hourly_rate_limit"),
    ):
        token = key(planned, space, **limits)
        body = {"content": "Alice prefers tea"}
        assert asked(planned, token, "POST", "/v1/memory/remember", json=body).status_code == 201
        refused = asked(planned, token, "GET", "/v1/memory/recall", params={"q": "tea"})
        assert (refused.status_code, refused.json()["error"]) == (429, code)
        assert int(refused.headers["retry-after"]) > 0


def test_0latency_tells_of_too_many_memories_and_recalls(planned: Served, space: str) -> None:
    token = key(planned, space, memories=1, recalls_month=1)
    for path, body in (("/memories/seed", {"content": "Tea is in the kitchen"}), ("/recall", {"query": "tea?"})):
        assert asked(planned, token, "POST", path, json=body).status_code == 200
        refused = asked(planned, token, "POST", path, json=body)
        assert refused.status_code == 429
        assert refused.json()["detail"]["error"] == "rate_limit_exceeded"
        assert refused.json()["detail"]["retry_after"] > 0
        assert int(refused.headers["retry-after"]) > 0


@pytest.mark.clients
def test_botwire_tells_of_too_many_writes_in_a_namespace(planned: Served, space: str) -> None:
    token = key(planned, space, namespace_writes_day=2)
    code = """
import httpx
from botwire import Memory
mem = Memory("ns")
mem.set("a", 1)
mem.set("b", 2)
try:
    mem.set("c", 3)
except httpx.HTTPStatusError as error:
    assert error.response.status_code == 429 and error.response.json()["detail"]
else:
    raise AssertionError("a third write was taken")
Memory("other").set("c", 3)
assert mem.keys() == ["a", "b"]
print("done")
"""
    url = planned.url.replace("http://", f"http://tenant:{token}@")
    assert run_client(code, "botwire-0.2.1", BOTWIRE_URL=url) == "done\n"


def test_whoever_signs_up_has_a_space_of_their_own(planned: Served) -> None:
    tokens = []
    for name in ("one", "two"):
        answer = sent("POST", f"{planned.url}/v1/agents", json={"name": name, "email": f"{name}@example.com"})
        assert answer.status_code == 201
        tokens.append(answer.json()["api_key"])
    for token in tokens:
        assert asked(planned, token, "POST", "/v1/memory/remember", json={"content": "mine"}).status_code == 201
        assert asked(planned, token, "GET", "/v1/memory/list").json()["total"] == 1
