"""Memstore's dialect, request by request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace.access import keys
from commonplace.errors import CommonplaceError, Forbidden, QuotaExceeded, RateLimited
from tests.services.serving import Keys, Served, sent, serving, talking


@pytest.fixture
def client(at: str) -> Iterator[httpx.Client]:
    with talking(f"{at}/v1/memory") as made:
        yield made


def remembered(client: httpx.Client, content: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/remember", json={"content": content, **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def contents(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["content"] for each in answer.json()["memories"]]


def test_what_is_remembered_is_answered_whole(client: httpx.Client) -> None:
    made = remembered(client, "Alice prefers tea", tags=["user:alice"], session="s-1", metadata={"n": [1, None]})
    assert set(made) == {"id", "content", "tags", "session", "metadata", "created_at"}
    assert made["content"] == "Alice prefers tea"
    assert made["tags"] == ["user:alice"]
    assert made["session"] == "s-1"
    assert made["metadata"] == {"n": [1, None]}


def test_recall_answers_memories_with_scores(client: httpx.Client) -> None:
    remembered(client, "Alice prefers tea in the morning")
    remembered(client, "The build runs on Linux")
    answer = client.get("/recall", params={"q": "what does Alice like to drink?"})
    told = answer.json()
    assert contents(answer)[0] == "Alice prefers tea in the morning"
    assert told["query"] == "what does Alice like to drink?"
    assert told["count"] == len(told["memories"])
    assert 0 < told["memories"][0]["score"] <= 1.2


def test_recall_honours_tags_in_either_form(client: httpx.Client) -> None:
    remembered(client, "Alice likes green tea", tags=["user:alice", "preference"])
    remembered(client, "Bob likes black tea", tags=["user:bob", "preference"])
    asked = {"q": "who likes tea?", "threshold": 0}
    assert contents(client.get("/recall", params={**asked, "tags": "user:bob"})) == ["Bob likes black tea"]  # type: ignore[dict-item]
    both = {**asked, "tags": "user:alice,preference"}
    assert contents(client.get("/recall", params=both)) == ["Alice likes green tea"]  # type: ignore[arg-type]
    repeated = {**asked, "tags": ["preference", "user:bob"]}
    assert contents(client.get("/recall", params=repeated)) == ["Bob likes black tea"]  # type: ignore[arg-type]
    assert contents(client.get("/recall", params={**asked, "tags": "user:alice,user:bob"})) == []  # type: ignore[dict-item]


def test_recall_honours_limit_and_top_k(client: httpx.Client) -> None:
    for number in range(8):
        remembered(client, f"Server {number} runs PostgreSQL {number + 10}")
    asked = {"q": "which server runs PostgreSQL?", "threshold": 0}
    assert len(contents(client.get("/recall", params=asked))) == 5  # type: ignore[arg-type]
    assert len(contents(client.get("/recall", params={**asked, "limit": 2}))) == 2  # type: ignore[dict-item]
    assert len(contents(client.get("/recall", params={**asked, "top_k": 7}))) == 7  # type: ignore[dict-item]
    assert len(contents(client.get("/recall", params={**asked, "limit": 3, "top_k": 7}))) == 3  # type: ignore[dict-item]


def test_a_threshold_of_zero_is_zero(client: httpx.Client) -> None:
    remembered(client, "The office is in Lisbon")
    asked = {"q": "how do volcanoes erupt?"}
    assert contents(client.get("/recall", params=asked)) == []
    assert contents(client.get("/recall", params={**asked, "threshold": 0})) == ["The office is in Lisbon"]
    assert contents(client.get("/recall", params={**asked, "threshold": 0.99})) == []


def test_a_session_narrows_recall_and_list(client: httpx.Client) -> None:
    remembered(client, "Deploys happen on Monday", session="one")
    remembered(client, "Deploys happen on Tuesday", session="two")
    remembered(client, "Deploys happen on Friday")
    asked = {"q": "when do deploys happen?", "session": "two"}
    assert contents(client.get("/recall", params=asked)) == ["Deploys happen on Tuesday"]
    listed = client.get("/list", params={"session": "one"})
    assert contents(listed) == ["Deploys happen on Monday"]
    assert listed.json()["total"] == 1


def test_list_pages_by_offset_and_tells_the_total(client: httpx.Client) -> None:
    for number in range(7):
        remembered(client, f"note {number}", session="even" if number % 2 == 0 else "odd")
    page = client.get("/list", params={"limit": 3, "offset": 2})
    assert contents(page) == ["note 4", "note 3", "note 2"]
    assert page.json()["total"] == 7
    assert contents(client.get("/list", params={"limit": 3, "offset": 6})) == ["note 0"]
    beyond = client.get("/list", params={"offset": 70})
    assert contents(beyond) == []
    assert beyond.json()["total"] == 7
    narrowed = client.get("/list", params={"session": "even", "limit": 2, "offset": 1})
    assert contents(narrowed) == ["note 4", "note 2"]
    assert narrowed.json()["total"] == 4


def test_what_has_lived_its_time_is_gone(client: httpx.Client, served: Served, space: str) -> None:
    made = remembered(client, "The door code is on the board", ttl=3600)
    assert served.book(space).get(made["id"]).expires_at is not None
    assert remembered(client, "Always so")["id"]


def test_forget_removes_it(client: httpx.Client) -> None:
    made = remembered(client, "Carol moved to Porto")
    answer = client.delete(f"/forget/{made['id']}")
    assert answer.json() == {"deleted": True, "id": made["id"]}
    again = client.delete(f"/forget/{made['id']}")
    assert again.status_code == 404
    assert again.json()["error"] == "not_found"
    assert contents(client.get("/recall", params={"q": "where does Carol live?", "threshold": 0})) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_content"),
        ({"content": ""}, "invalid_content"),
        ({"content": "  \n"}, "invalid_content"),
        ({"content": 5}, "invalid_content"),
        ({"content": None}, "invalid_content"),
        ({"content": "x" * 10_001}, "content_too_long"),
        ({"content": "a NUL \0"}, "invalid_text"),
        ({"content": "fine", "tags": "not a list"}, "invalid_request"),
        ({"content": "fine", "tags": [""]}, "invalid_input"),
        ({"content": "fine", "metadata": []}, "invalid_request"),
        ({"content": "fine", "ttl": -1}, "invalid_input"),
        ([], "invalid_request"),
    ],
)
def test_what_cannot_be_remembered_is_refused_with_a_code(client: httpx.Client, body: Any, code: str) -> None:
    answer = client.post("/remember", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, code), answer.text
    assert set(answer.json()) == {"error", "message"}
    assert answer.json()["message"]


def test_the_longest_content_is_taken(client: httpx.Client) -> None:
    assert remembered(client, "é" * 10_000)["id"]


def test_no_json_is_refused_in_words(client: httpx.Client) -> None:
    answer = client.post("/remember", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize("params", [{}, {"q": ""}, {"q": "  "}])
def test_a_recall_without_a_query_is_refused(client: httpx.Client, params: dict[str, str]) -> None:
    answer = client.get("/recall", params=params)
    assert (answer.status_code, answer.json()["error"]) == (400, "missing_query")


@pytest.mark.parametrize(
    "params", [{"limit": "many"}, {"limit": 0}, {"limit": -1}, {"threshold": 2}, {"threshold": "nan"}, {"top_k": 10**9}]
)
def test_numbers_out_of_bounds_are_refused(client: httpx.Client, params: dict[str, Any]) -> None:
    answer = client.get("/recall", params={"q": "anything", **params})
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "message"}


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 5000}, {"offset": -1}, {"offset": "x"}])
def test_pages_out_of_bounds_are_refused(client: httpx.Client, params: dict[str, Any]) -> None:
    assert client.get("/list", params=params).status_code == 400


def test_nobody_signs_up_where_it_is_off(at: str) -> None:
    answer = sent("POST", f"{at}/v1/agents", json={"name": "me"})
    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"


@pytest.fixture(scope="module")
def gate() -> Keys:
    return Keys({"cp_good": "home"})


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, gate: Keys) -> Iterator[Served]:
    path: Path = tmp_path_factory.mktemp("keyed")
    with serving(path / "book.db", gate) as running:
        yield running


def test_sign_up_gives_a_key_where_it_is_on(tmp_path: Path) -> None:
    with serving(tmp_path / "book.db", sign_up="memstore-free") as running:
        keys.create(running.core.store, role="admin", spaces=["*"])
        answer = sent("POST", f"{running.url}/v1/agents", json={"name": "me", "email": "me@example.com"})
        assert answer.status_code == 201
        key = {"Authorization": f"Bearer {answer.json()['api_key']}"}
        assert sent("GET", f"{running.url}/v1/memory/list", headers=key).status_code == 200


def test_a_key_works_in_its_home_and_is_told_apart_from_none(keyed: Served) -> None:
    url = f"{keyed.url}/v1/memory"
    none = sent("GET", f"{url}/list")
    assert (none.status_code, none.json()["error"]) == (401, "missing_api_key")
    bad = sent("GET", f"{url}/list", headers={"Authorization": "Bearer cp_bad"})
    assert (bad.status_code, bad.json()["error"]) == (401, "invalid_api_key")
    good = {"Authorization": "Bearer cp_good"}
    assert sent("POST", f"{url}/remember", json={"content": "at home"}, headers=good).status_code == 201
    assert keyed.book("home").list().memories[0].content == "at home"
    elsewhere = sent("GET", f"{keyed.url}/spaces/other/v1/memory/list", headers=good)
    assert (elsewhere.status_code, elsewhere.json()["error"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("refusal", "status", "code"),
    [
        (QuotaExceeded("1,000 operations a month are used up", retry_after=86400), 429, "ops_limit_reached"),
        (RateLimited("too many", retry_after=2), 429, "hourly_rate_limit"),
        (Forbidden("no"), 403, "forbidden"),
    ],
)
def test_limits_have_the_codes_of_the_original(
    keyed: Served, gate: Keys, refusal: CommonplaceError, status: int, code: str
) -> None:
    gate.refusal = refusal
    try:
        answer = sent("GET", f"{keyed.url}/v1/memory/recall", params={"q": "x"})
    finally:
        gate.refusal = None
    assert (answer.status_code, answer.json()) == (status, {"error": code, "message": str(refusal)})
    assert ("retry-after" in answer.headers) == (status == 429)


def test_what_nobody_foresaw_tells_nothing(keyed: Served, gate: Keys) -> None:
    gate.refusal = RuntimeError("a secret place")  # type: ignore[assignment]
    try:
        answers = [sent("GET", f"{keyed.url}{path}") for path in ("/v1/memory/list", "/usage", "/memory/ns/key")]
    finally:
        gate.refusal = None
    assert answers[0].json()["error"] == "server_error"
    assert all(answer.status_code == 500 and "secret" not in answer.text for answer in answers)
    assert all(set(answer.json()) == {"detail"} for answer in answers[1:])
