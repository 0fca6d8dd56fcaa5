"""0Latency's dialect, request by request; tests/services/test_clients.py runs its packages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.services.serving import Served, sent, talking


@pytest.fixture
def client(at: str) -> Iterator[httpx.Client]:
    with talking(at) as made:
        yield made


def ok(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def finished(client: httpx.Client, job: str) -> dict[str, Any]:
    until = time.monotonic() + 20
    while (status := ok(client.get(f"/memories/extract/{job}")))["status"] == "accepted":
        assert time.monotonic() < until, "the extraction takes too long"
        time.sleep(0.02)
    assert isinstance(status, dict)
    return status


GUIDE = (
    "Coder: We chose FastAPI over Flask because of async support.\n"
    "Reviewer: Agreed, but add input validation on all endpoints."
)


def test_the_guides_two_calls(client: httpx.Client) -> None:
    answer = client.post("/v1/extract", json={"agent_id": "dev-team-chat", "content": GUIDE})
    assert answer.status_code == 202
    assert answer.json()["status"] == "accepted"
    # What was said is found at once; what is learned from it comes in the background.
    asked = {"agent_id": "dev-team-chat", "query": "API framework and architecture decisions", "max_tokens": 2000}
    assert "FastAPI" in ok(client.post("/v1/recall", json=asked))["context_block"]
    status = finished(client, answer.json()["job_id"])
    assert status["status"] == "complete"
    assert status["memories_stored"] == len(status["memory_ids"]) >= 1
    learned = [ok(client.get(f"/memories/{id}")) for id in status["memory_ids"]]
    assert any(each["category"] == "decision" and each["agent_id"] == "dev-team-chat" for each in learned)


@pytest.mark.parametrize("prefix", ["", "/v1", "/api"])
def test_each_route_has_three_names(client: httpx.Client, prefix: str) -> None:
    made = ok(client.post(f"{prefix}/memories/seed", json={"content": "The cat is called Minka"}))
    assert made["memories_stored"] == 1
    assert made["memory_ids"] == [made["id"]]
    assert "Minka" in ok(client.post(f"{prefix}/recall", json={"query": "what is the cat called?"}))["text"]
    assert ok(client.get(f"{prefix}/memories"))["count"] == 1
    assert ok(client.get(f"{prefix}/usage"))["memories"] == 1
    assert ok(client.get(f"{prefix}/health"))["status"] == "ok"


def test_facts_keep_their_category_importance_and_metadata(client: httpx.Client, served: Served, space: str) -> None:
    facts = [
        {"text": "User said: my favorite color is blue", "category": "conversation", "importance": 0.6},
        {"text": "Tom prefers dark mode", "category": "preference", "importance": 0.9, "metadata": {"a": 1}},
    ]
    made = ok(client.post("/memories/seed", json={"agent_id": "a", "facts": facts}))
    talk, liking = (served.book(space).get(id) for id in made["memory_ids"])
    assert (talk.kind, talk.metadata, talk.importance) == ("note", {"category": "conversation"}, 0.6)
    assert (liking.kind, liking.metadata, liking.importance) == ("preference", {"a": 1}, 0.9)
    assert talk.scope.agent == liking.scope.agent == "a"
    assert [ok(client.get(f"/memories/{id}"))["category"] for id in made["memory_ids"]] == [
        "conversation",
        "preference",
    ]


def test_the_wrappers_recall_by_what_was_said_last(client: httpx.Client) -> None:
    facts = [{"text": "User said: My favorite color is blue", "category": "conversation", "importance": 0.6}]
    ok(client.post("/memories/seed", json={"agent_id": "my-agent", "facts": facts}))
    asked = {"agent_id": "my-agent", "conversation_context": "user: What's my favorite color?", "budget_tokens": 4000}
    assert "blue" in ok(client.post("/recall", json=asked))["context_block"]


def test_a_budget_bounds_the_text(client: httpx.Client) -> None:
    for number in range(20):
        ok(client.post("/memories", json={"content": f"Server {number} runs PostgreSQL on port {5000 + number}"}))
    asked = {"query": "which servers run PostgreSQL?", "limit": 20}
    whole = ok(client.post("/recall", json=asked))
    short = ok(client.post("/recall", json={**asked, "max_tokens": 60}))
    assert short["tokens_used"] <= 60 < whole["tokens_used"]
    assert short["memories_used"] == len(short["memories"]) < whole["memories_used"]


def test_a_turn_of_two_is_extracted(client: httpx.Client) -> None:
    turn = {"agent_id": "a", "human_message": "I prefer TypeScript over Python.", "agent_message": "Noted."}
    job = ok(client.post("/extract", json=turn))["job_id"]
    assert finished(client, job)["memories_stored"] >= 1
    assert ok(client.get(f"/extract/{job}"))["status"] == "complete"


def test_messages_may_have_more_fields_than_we_read(client: httpx.Client) -> None:
    said = [{"role": "user", "content": "We decided to use Redis for caching.", "timestamp": "2026-01-01", "id": 7}]
    assert finished(client, ok(client.post("/memories/extract", json={"conversation": said}))["job_id"])


def test_a_job_of_another_space_is_unknown(client: httpx.Client, served: Served) -> None:
    job = ok(client.post("/extract", json={"content": "Sarah: I prefer tea."}))["job_id"]
    for other in (served.at("elsewhere"), served.url):
        answer = sent("GET", f"{other}/memories/extract/{job}")
        assert answer.status_code == 404
        assert set(answer.json()) == {"detail"}


def test_a_memory_is_changed_told_and_deleted(client: httpx.Client) -> None:
    id = ok(client.post("/memories", json={"content": "The limit is 5"}))["id"]
    changed = ok(client.put(f"/memories/{id}", json={"content": "The limit is 7", "category": "fact"}))
    assert changed["content"] == "The limit is 7"
    assert changed["version"] == 2
    assert changed["category"] == "fact"
    history = ok(client.get(f"/memories/{id}/history"))["history"]
    assert [(step["version"], step["content"]) for step in history] == [(1, "The limit is 5"), (2, "The limit is 7")]
    assert [step["action"] for step in history] == ["remembered", "revised"]
    assert ok(client.delete(f"/memories/{id}"))["deleted"] is True
    for call in (client.get, client.delete):
        answer = call(f"/memories/{id}")
        assert answer.status_code == 404
        assert set(answer.json()) == {"detail"}


def test_search_gives_memories_and_pages_go_on(client: httpx.Client) -> None:
    for number in range(5):
        ok(client.post("/memories", json={"content": f"Printer {number} is on floor {number}"}))
    found = ok(client.get("/memories/search", params={"q": "on which floor is printer 3?", "limit": 2}))
    assert found["count"] == len(found["memories"]) <= 2
    assert "Printer 3" in found["memories"][0]["content"]
    first = ok(client.get("/memories", params={"limit": 3}))
    rest = ok(client.get("/memories", params={"limit": 3, "offset": 3}))
    assert (first["count"], first["has_more"], rest["count"], rest["has_more"]) == (3, True, 2, False)
    assert not {each["id"] for each in first["memories"]} & {each["id"] for each in rest["memories"]}


def test_an_export_is_imported_once(client: httpx.Client, served: Served) -> None:
    ok(client.post("/memories", json={"content": "Rex is a dog", "agent_id": "a", "metadata": {"n": 1}}))
    ok(client.post("/memories", json={"content": "Minka is a cat"}))
    exported = ok(client.get("/memories/export"))
    assert exported["count"] == 2
    with talking(served.at(f"copy-{time.time_ns()}")) as other:
        taken = ok(other.post("/memories/import", json=exported))
        assert (taken["imported"], taken["skipped"]) == (2, 0)
        again = ok(other.post("/memories/import", json=exported))
        assert (again["imported"], again["skipped"]) == (0, 2)
        copied = {each["id"]: each for each in ok(other.get("/memories/export"))["memories"]}
    for each in exported["memories"]:
        same = ("content", "agent_id", "category", "importance", "tags", "metadata")
        assert [copied[each["id"]][name] for name in same] == [each[name] for name in same]


def test_feedback_becomes_a_signal(client: httpx.Client) -> None:
    id = ok(client.post("/memories", json={"content": "The build takes ten minutes"}))["id"]
    for kind in ("used", "ignored", "contradicted", "miss"):
        told = ok(client.post("/feedback", json={"memory_id": id, "feedback_type": kind}))
        assert told["memories_updated"] == 1
    assert ok(client.post("/feedback", json={"feedback_type": "miss"}))["memories_updated"] == 0
    for body, status in (
        ({"memory_id": id, "feedback_type": "loved"}, 400),
        ({"feedback_type": "used"}, 400),
        ({"memory_id": "nobody", "feedback_type": "used"}, 404),
        ({"memory_id": id}, 422),
    ):
        answer = client.post("/feedback", json=body)
        assert answer.status_code == status
        assert set(answer.json()) == {"detail"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/recall", {}, 400),
        ("POST", "/recall", {"query": " "}, 400),
        ("POST", "/recall", {"query": "x", "limit": 0}, 400),
        ("POST", "/recall", {"query": "x", "limit": "many"}, 422),
        ("POST", "/memories/seed", {}, 400),
        ("POST", "/memories/seed", {"facts": [{}]}, 422),
        ("POST", "/memories/seed", {"facts": [{"text": "x", "importance": 7}]}, 400),
        ("POST", "/extract", {}, 400),
        ("POST", "/extract", {"conversation": []}, 400),
        ("POST", "/memories/extract", {"conversation": [{"role": "user"}]}, 400),
        ("PUT", "/memories/x", {}, 400),
        ("PUT", "/memories/x", {"content": "new"}, 404),
        ("POST", "/memories/import", {"memories": [{"text": 5}]}, 400),
    ],
)
def test_what_is_wrong_is_told_as_detail(
    client: httpx.Client, method: str, path: str, body: dict[str, Any], status: int
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    assert isinstance(answer.json()["detail"], str)
    assert answer.json()["detail"]
