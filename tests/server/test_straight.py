"""The short way to a recall and the usual one cannot be told apart but by their speed."""

from __future__ import annotations

import httpx
import pytest

BODIES = [
    b'{"query": "which framework?"}',
    b'{"query": "which framework?", "k": 1, "threshold": 0, "max_tokens": null}',
    b'{"query": "which framework?", "within": {"users": ["alice"]}, "kinds": ["decision"]}',
    b'{"query": "which framework?", "k": 0}',
    b'{"query": "which framework?", "k": "1"}',
    b'{"query": "which framework?", "unknown": 1}',
    b'{"query": "\\ud800"}',
    b'{"query": NaN}',
    b'["query"]',
    b"{",
    b"",
    b"\xff",
]
USUAL = "application/json; charset=utf-8"
"""A type that goes the usual way."""


@pytest.mark.parametrize("body", BODIES)
def test_both_ways_answer_alike(http: httpx.Client, body: bytes) -> None:
    made = http.post("/memories", json={"content": "We chose FastAPI", "kind": "decision", "scope": {"user": "alice"}})
    assert made.status_code == 201
    short, usual = (
        http.post("/recall", content=body, headers={"Content-Type": kind}) for kind in ("application/json", USUAL)
    )
    assert _lasting(short) == _lasting(usual)


def test_a_space_with_a_slash_in_its_name_is_recalled_from(http: httpx.Client) -> None:
    place = httpx.URL(http.base_url.copy_with(raw_path=b"/v1/spaces/a%2Fb"))
    made = httpx.post(f"{place}/memories", json={"content": "We chose FastAPI over Flask"}, timeout=30)
    assert made.status_code == 201
    found = httpx.post(f"{place}/recall", json={"query": "FastAPI or Flask?"}, timeout=30).json()
    assert [hit["memory"]["id"] for hit in found["hits"]] == [made.json()["id"]]


def _lasting(answer: httpx.Response) -> object:
    """An answer less what differs between any two: its receipt, its request, its age."""
    told = answer.json()
    if answer.status_code == 200:
        told.pop("receipt")
        for hit in told["hits"]:
            hit.pop("score")
            hit["parts"].pop("recency")
    for name in ("instance", "request", "request_id"):
        told.pop(name, None)
    return answer.status_code, answer.headers["content-type"], sorted(answer.headers), told
