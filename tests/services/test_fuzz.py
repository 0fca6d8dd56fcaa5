"""A dialect answers every request in its own form and never fails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.serving import Served, sent, talking

VALUES = st.none() | st.booleans() | st.integers(-2, 10**20) | st.floats() | st.text(max_size=20)
VALUES = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.text(max_size=5), VALUES, max_size=3)  # type: ignore[assignment, operator]
FIELDS = (
    "content tags session metadata ttl query conversation_context agent_id limit max_tokens budget_tokens facts"
    " category importance conversation human_message agent_message memories memory_id feedback_type value name"
    " capabilities type data"
).split()
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6) | VALUES
WRITES = [
    ("POST", "/v1/memory/remember"),
    ("POST", "/memories/seed"),
    ("POST", "/recall"),
    ("POST", "/extract"),
    ("POST", "/memories/import"),
    ("PUT", "/memories/x"),
    ("POST", "/feedback"),
    ("PUT", "/memory/ns/key"),
    ("POST", "/memory/ns/list/append"),
    ("POST", "/identity/register"),
    ("POST", "/channels/news/create"),
    ("POST", "/channels/news/post"),
]
PARAMS = "q query limit top_k threshold session tags offset agent_id capability type since max_tokens".split()
READS = [
    "/v1/memory/recall",
    "/v1/memory/list",
    "/memories",
    "/memories/recall",
    "/memories/search",
    "/memories/export",
    "/identity/search",
    "/channels/news/messages",
    "/memory/ns",
    "/usage",
]


def ensure_told(answer: Any, path: str) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        expected = {"error", "message"} if path.startswith("/v1/memory") else {"detail"}
        assert set(answer.json()) == expected


@pytest.mark.slow
@given(body=BODIES)
def test_no_body_makes_a_dialect_fail(served: Served, body: Any) -> None:
    with talking(served.at("fuzz")) as client:
        for method, path in WRITES:
            told = json.dumps(body)
            ensure_told(client.request(method, path, content=told, headers={"content-type": "application/json"}), path)


@pytest.mark.slow
@given(params=st.dictionaries(st.sampled_from(PARAMS), st.text(max_size=8) | st.integers() | st.floats(), max_size=4))
def test_no_query_makes_a_dialect_fail(served: Served, params: Any) -> None:
    with talking(served.at("fuzz")) as client:
        for path in READS:
            ensure_told(client.get(path, params=params), path)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"content": "\\ud800", "value": "\\ud800"}', b"NaN"]
)
def test_no_broken_body_makes_a_dialect_fail(at: str, body: bytes) -> None:
    for method, path in WRITES:
        answer = sent(method, at + path, content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, answer.text
        ensure_told(answer, path)
