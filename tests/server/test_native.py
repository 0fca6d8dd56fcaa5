"""Every route of the native API, over a real connection."""

from __future__ import annotations

import base64
import json
import socket
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import commonplace
from commonplace.local import LocalBook
from commonplace.values import Check, Memory, Recall, Stats
from commonplace.wire import read
from tests.server.server_harness import Running

LINES = {"Content-Type": "application/x-ndjson"}


def _memory(http: httpx.Client, **draft: object) -> dict[str, object]:
    answer = http.post("/memories", json={"content": "We chose FastAPI over Flask because of async support", **draft})
    assert answer.status_code == 201, answer.text
    found: dict[str, object] = answer.json()
    return found


def _problem(answer: httpx.Response, status: int, code: str) -> dict[str, object]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, object] = answer.json()
    assert (body["status"], body["code"]) == (status, code)
    assert body["detail"]
    return body


def test_what_is_remembered_is_recalled(http: httpx.Client) -> None:
    made = _memory(http, kind="decision", tags=["web"], metadata={"ticket": 42}, scope={"user": "alice"})
    answer = http.post("/recall", json={"query": "which web framework did we pick?", "threshold": 0})
    found = read(Recall, answer.json())
    assert [hit.memory.id for hit in found] == [made["id"]]
    assert found.hits[0].memory.scope.user == "alice"
    assert found.tokens == answer.json()["tokens"] > 0


def test_a_memory_over_http_is_the_memory_in_the_book(http: httpx.Client, running: Running) -> None:
    made = _memory(http, said_at="2026-01-02T03:04:05.678901+02:00", ttl=3600, id="one", importance=0.25)
    space = str(http.base_url).rstrip("/").rsplit("/", 1)[1]
    assert read(Memory, made) == LocalBook(running.core, space).get("one")


def test_bytes_are_base64_and_an_object_of_that_name_is_an_object(http: httpx.Client) -> None:
    content = bytes(range(256))
    body = {"base64": base64.b64encode(content).decode(), "text": "all bytes"}
    made = http.post("/memories", json=body).json()
    assert "content" not in made
    assert read(Memory, made).content == content
    assert read(Memory, http.get(f"/memories/{made['id']}").json()).content == content
    alike = _memory(http, content={"base64": "AAEC"})
    assert alike["content"] == {"base64": "AAEC"}


@pytest.mark.parametrize("body", [{}, {"content": None}, {"content": "a", "base64": "AAEC"}, {"base64": "*"}])
def test_a_content_is_given_in_one_way(http: httpx.Client, body: dict[str, object]) -> None:
    _problem(http.post("/memories", json=body), 400, "invalid_input")


def test_a_batch_is_remembered_whole_or_not_at_all(http: httpx.Client) -> None:
    answer = http.post("/memories/batch", json={"memories": [{"content": "one"}, {"content": ["a", "list"]}]})
    assert answer.status_code == 201
    assert [each["content"] for each in answer.json()["memories"]] == ["one", ["a", "list"]]
    _problem(http.post("/memories/batch", json={"memories": [{"content": "x"}, {"content": ""}]}), 400, "invalid_input")
    assert len(http.get("/memories").json()["memories"]) == 2


def test_pages_follow_each_other_by_query_and_by_body(http: httpx.Client) -> None:
    http.post("/memories/batch", json={"memories": [{"content": f"note {n}", "tags": ["a"]} for n in range(5)]})
    _memory(http, kind="fact", scope={"agent": "x"})
    seen, cursor = [], None
    while True:
        page = http.get("/memories", params={"limit": 2, "tags": "a", **({"cursor": cursor} if cursor else {})}).json()
        seen += [each["content"] for each in page["memories"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert sorted(seen) == [f"note {n}" for n in range(5)]
    by_body = http.post("/memories/list", json={"filter": {"kind": "fact"}, "order": "oldest"}).json()
    by_query = http.get("/memories", params={"filter": '{"kind": "fact"}', "order": "oldest"}).json()
    only = http.get("/memories", params={"agents": "x", "shared": False}).json()
    assert len(by_body["memories"]) == 1
    assert by_body == by_query == only
    _problem(http.get("/memories", params={"filter": "{"}), 400, "invalid_filter")


def test_a_change_names_the_version_that_it_is_made_for(http: httpx.Client) -> None:
    made = _memory(http, source="a wiki")
    place = f"/memories/{made['id']}"
    assert http.get(place).headers["etag"] == '"1"'
    revised = http.patch(place, json={"importance": 0.9, "source": None}, headers={"If-Match": '"1"'})
    assert (revised.status_code, revised.headers["etag"]) == (200, '"2"')
    assert (revised.json()["importance"], revised.json()["source"]) == (0.9, None)
    assert revised.json()["content"] == made["content"]
    late = http.patch(place, json={"importance": 0.1}, headers={"If-Match": '"1"'})
    assert _problem(late, 409, "conflict")["current"] == 2
    _problem(http.patch(place, json={"importance": 0.1}, headers={"If-Match": "W/x"}), 400, "invalid_input")
    # A proxy that compresses an answer makes its ETag weak.
    weak = http.patch(place, json={"importance": 0.1}, headers={"If-Match": 'W/"1"'})
    assert _problem(weak, 409, "conflict")["current"] == 2
    _problem(http.patch(place, json={"reason": "none"}), 400, "invalid_input")
    assert http.get(place, params={"version": 1}).json()["importance"] == 0.5
    history = http.get(f"{place}/history").json()["revisions"]
    assert [each["version"] for each in history] == [1, 2]


def test_what_is_forgotten_is_gone_and_not_found(http: httpx.Client) -> None:
    made = _memory(http)
    assert http.post("/memories/forget", json={"ids": [made["id"]], "dry_run": True}).json()["memories"] == 1
    assert http.delete(f"/memories/{made['id']}").json()["ids"] == [made["id"]]
    for answer in (http.get(f"/memories/{made['id']}"), http.delete(f"/memories/{made['id']}")):
        _problem(answer, 404, "not_found")
    _memory(http, tags=["draft"])
    assert http.post("/memories/forget", json={"tags": ["draft"]}).json()["memories"] == 1
    http.put("/kv/n/k", json={"value": 1})
    assert http.post("/memories/forget", json={"everything": True}).json()["entries"] == 1
    _problem(http.post("/memories/forget", json={}), 400, "invalid_input")


def test_old_memories_are_pruned_after_a_dry_run(http: httpx.Client) -> None:
    made = _memory(http, said_at="2001-01-01T00:00:00Z")
    policy = {"older_than": 3600}
    assert http.post("/memories/prune", json=policy).json()["ids"] == [made["id"]]
    assert http.post("/memories/prune", json={**policy, "dry_run": False}).json()["ids"] == [made["id"]]
    assert http.post("/memories/prune", json=policy).json()["ids"] == []


def test_a_doubtful_source_is_quarantined_and_released(http: httpx.Client) -> None:
    made = _memory(http, source="scraper")
    wanted = {"filter": {"source": "scraper"}}
    assert http.post("/memories/quarantine", json={**wanted, "reason": "poisoned"}).json() == {"ids": [made["id"]]}
    assert http.post("/recall", json={"query": "FastAPI", "threshold": 0}).json()["hits"] == []
    assert http.post("/memories/release", json=wanted).json() == {"ids": [made["id"]]}


def test_what_was_reconciled_is_linked_and_undone(http: httpx.Client) -> None:
    first = _memory(http, content="Sarah prefers Python", kind="preference", reconcile=True)
    second = _memory(http, content="Sarah prefers TypeScript now, not Python", kind="preference", reconcile=True)
    links = http.get(f"/memories/{second['id']}/links").json()["links"]
    assert [(each["relation"], each["other"]) for each in links] == [("supersedes", first["id"])]
    undone = http.post(f"/memories/{second['id']}/undo", json={"other": first["id"]}).json()
    assert len(undone["links"]) == 1
    assert http.get(f"/memories/{first['id']}").json()["superseded_by"] is None


def test_feedback_reaches_all_that_a_recall_returned(http: httpx.Client) -> None:
    made = _memory(http)
    receipt = http.post("/recall", json={"query": "FastAPI or Flask?", "threshold": 0}).json()["receipt"]
    assert http.post("/feedback", json={"target": receipt, "signal": "used"}).json() == {"memories": 1}
    assert http.post("/feedback", json={"target": made["id"], "signal": "wrong"}).json() == {"memories": 1}
    _problem(http.post("/feedback", json={"target": "nobody", "signal": "used"}), 404, "not_found")


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_conversation_is_learned_now_or_later(http: httpx.Client) -> None:
    said = [{"role": "user", "name": "Sarah", "content": "I prefer TypeScript now, not Python."}, "Bob: I prefer tea."]
    now = http.post("/learn", json={"messages": said, "session": "standup", "wait": True})
    assert now.status_code == 200
    assert len(now.json()["messages"]) == 2
    assert any("TypeScript" in each["text"] for each in now.json()["memories"])
    later = http.post("/learn", json={"text": "Ann: We decided to use Rust.", "every": 10, "idle": 3000})
    assert later.status_code == 202
    assert later.json()["jobs"] == [each["number"] for each in http.get("/jobs").json()["jobs"]]
    assert http.post("/jobs/work", json={"hurry": True}).json()["done"] in (0, 1)  # the server's thread may be quicker
    until(lambda: http.get("/jobs").json() == {"jobs": []})
    assert http.post("/jobs/work").json() == {"done": 0}
    assert http.post("/jobs/retry", json={}).json() == {"retried": 0}
    _problem(http.post("/jobs/retry", json={"number": 99}), 404, "not_found")
    _problem(http.post("/learn", json={}), 400, "invalid_input")


def test_entries_stand_under_any_name(http: httpx.Client) -> None:
    for key in ("a", "a/b", "a%2Fc", "%E2%82%AC", "..%2Fother", "a?b".replace("?", "%3F")):
        answer = http.put(f"/kv/n%2Fm/{key}", json={"value": key})
        assert (answer.status_code, answer.headers["etag"]) == (200, '"1"'), answer.text
        assert http.get(f"/kv/n%2Fm/{key}").json()["value"] == key
    assert http.get("/kv").json() == {"namespaces": ["n/m"]}
    assert http.get("/kv/n%2Fm").json()["keys"] == sorted(["a", "a/b", "a/c", "€", "../other", "a?b"])
    assert http.get("/kv/n%2Fm", params={"prefix": "a/"}).json()["keys"] == ["a/b", "a/c"]


def test_an_entry_is_set_compared_appended_and_deleted(http: httpx.Client) -> None:
    assert http.put("/kv/n/k", json={"value": [1]}, headers={"If-None-Match": "*"}).status_code == 200
    again = http.put("/kv/n/k", json={"value": [2]}, headers={"If-None-Match": "*"})
    assert _problem(again, 409, "conflict")["current"] == 1
    added = http.post("/kv/n/k", json={"items": [2, {"three": 3}]})
    assert (added.json()["value"], added.headers["etag"]) == ([1, 2, {"three": 3}], '"2"')
    _problem(http.delete("/kv/n/k", headers={"If-Match": '"1"'}), 409, "conflict")
    assert http.delete("/kv/n/k", headers={"If-Match": '"2"'}).json() == {"deleted": True}
    assert http.delete("/kv/n/k").json() == {"deleted": False}
    _problem(http.get("/kv/n/k"), 404, "not_found")
    assert http.put("/kv/n/nothing", json={"value": None, "ttl": 60}).json()["value"] is None


def test_a_file_is_written_patched_read_back_and_erased(http: httpx.Client) -> None:
    place = "/canvases/story/files/part/one.md"
    assert http.put(place, json={"content": "Once\n", "author": "a"}).headers["etag"] == '"1"'
    _problem(http.put(place, json={"content": "x"}, headers={"If-None-Match": "*"}), 409, "conflict")
    patch = "--- a/part/one.md\n+++ b/part/one.md\n@@ -1 +1 @@\n-Once\n+Once upon a time\n"
    applied = http.post("/canvases/story/patch", json={"patch": patch, "if_version": {"part/one.md": 1}}).json()
    assert [each["revision"] for each in applied["files"]] == [2]
    _problem(http.post("/canvases/story/patch", json={"patch": patch}), 409, "stale_patch")
    assert http.get(place, params={"revision": 1}).json()["content"] == "Once\n"
    assert http.get("/canvases/story/diff/part/one.md", params={"old": 1}).json()["diff"].endswith("time\n")
    assert http.get("/canvases").json() == {"canvases": ["story"]}
    assert http.get("/canvases/story").json() == {"files": {"part/one.md": 2}}
    deleted = http.delete(place, params={"author": "b"}, headers={"If-Match": '"2"'}).json()
    assert (deleted["deleted"], deleted["author"]) == (True, "b")
    revisions = http.get("/canvases/story/revisions/part/one.md").json()["revisions"]
    assert [each["revision"] for each in revisions] == [1, 2, 3]
    assert http.post("/canvases/story/forget", json={"path": "part/one.md"}).json() == {"revisions": 3}
    _problem(http.get(place), 404, "not_found")


def test_a_transcript_is_said_read_and_erased(http: httpx.Client) -> None:
    lines = [{"content": f"line {n}", "role": "user", "name": "Ann"} for n in range(4)]
    lines.append({"content": {"any": ["json"]}, "metadata": {"a": 1}, "said_at": "2026-05-04T09:30:00Z"})  # type: ignore[dict-item]
    said = http.post("/transcripts/standup", json={"messages": lines})
    assert said.status_code == 201
    assert [each["number"] for each in said.json()["messages"]] == [1, 2, 3, 4, 5]

    def numbers(**query: int) -> list[int]:
        return [each["number"] for each in http.get("/transcripts/standup", params=query).json()["messages"]]

    assert numbers() == [1, 2, 3, 4, 5]
    assert numbers(start=2, limit=2) == [2, 3]
    assert numbers(after=4) == [5]
    assert numbers(tail=2) == [4, 5]
    _problem(http.get("/transcripts/standup", params={"tail": 1, "start": 2}), 400, "invalid_input")
    assert http.get("/transcripts").json() == {"transcripts": ["standup"]}
    assert http.delete("/transcripts/standup").json() == {"messages": 5}


def test_a_space_has_stats_and_a_check(http: httpx.Client) -> None:
    _memory(http)
    assert read(Stats, http.get("/stats").json()).memories == 1
    assert read(Check, http.get("/check", params={"deep": True}).json()).ok


def test_an_export_is_imported_elsewhere_without_loss(http: httpx.Client, running: Running) -> None:
    http.post("/memories/batch", json={"memories": [{"content": f"note {n}"} for n in range(450)]})
    http.put("/kv/n/k", json={"value": 1})
    exported = http.get("/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    lines = exported.text.splitlines()
    assert json.loads(lines[-1]) == {"type": "end", "records": len(lines) - 1}
    with httpx.Client(base_url=f"{str(http.base_url).rstrip('/')}-copy", timeout=30) as other:
        assert other.post("/import", content=exported.content, headers=LINES).json() == {"records": 451}
        assert other.post("/import", content=exported.content, headers=LINES).json() == {"records": 0}
        copied = other.get("/export").text.splitlines()
    assert copied[1:] == lines[1:]


def test_an_incomplete_or_wrong_import_changes_nothing(http: httpx.Client) -> None:
    _memory(http)
    lines = http.get("/export").text.splitlines(keepends=True)
    http.post("/memories/forget", json={"everything": True})
    for wrong in (
        [*lines[:-2], lines[-1]],
        [*lines[:-1], "{"],
        [*lines[:-1], '{"type": "error"}'],
        [*lines[:-1], "[]"],
        [*lines, lines[1]],
        [*lines[:-1], '{"type": "unheard of"}'],
    ):
        _problem(http.post("/import", content="".join(wrong), headers=LINES), 400, "invalid_input")
    assert http.get("/memories").json()["memories"] == []
    _problem(http.post("/import", json={}), 415, "unsupported_media_type")


def test_a_backup_is_a_book(http: httpx.Client, tmp_path: Path) -> None:
    made = _memory(http)
    answer = http.get("/backup")
    assert answer.status_code == 200
    (tmp_path / "copy.db").write_bytes(answer.content)
    space = str(http.base_url).rstrip("/").rsplit("/", 1)[1]
    with commonplace.open(tmp_path / "copy.db", space=space) as book:
        assert book.get(str(made["id"])).text == made["text"]


def test_an_invalid_request_is_refused_with_a_problem(http: httpx.Client, running: Running) -> None:
    as_json = {"Content-Type": "application/json"}
    _problem(http.post("/recall", json={"query": "a", "unknown": 1}), 400, "invalid_input")
    _problem(http.post("/recall", json={"query": 1}), 400, "invalid_input")
    _problem(http.post("/recall", json=[]), 400, "invalid_input")
    _problem(http.post("/recall", content=b"{", headers=as_json), 400, "invalid_input")
    _problem(http.post("/recall", content=b"\xff\xfe", headers=as_json), 400, "invalid_input")
    _problem(http.post("/recall", content=b"[" * 200_000, headers=as_json), 400, "invalid_input")
    _problem(http.post("/recall", content=b'{"query": ' + b"9" * 5000 + b"}", headers=as_json), 400, "invalid_input")
    _problem(http.post("/recall", content=b'{"query": "a", "k": NaN}', headers=as_json), 400, "invalid_input")
    _problem(http.post("/recall", content=b"a=b"), 415, "unsupported_media_type")
    _problem(http.post("/recall", data={"query": "a"}), 415, "unsupported_media_type")
    _problem(http.post("/recall", content=b'{"query": "a\\ud800"}', headers=as_json), 400, "invalid_text")
    _problem(http.put("/recall", json={}), 405, "method_not_allowed")
    _problem(http.get("/nowhere"), 404, "not_found")
    _problem(http.get("/recall/"), 404, "not_found")
    _problem(http.get("/kv/n/%FF"), 400, "invalid_text")
    _problem(http.get("/kv/n/a%00b"), 400, "invalid_text")
    _problem(httpx.get(f"{running.url}/v1/spaces/commonplace:planted/stats"), 400, "invalid_input")
    _problem(httpx.get(f"{running.url}/v1/spaces/%20/stats"), 400, "invalid_input")
    nested = b'{"value": ' + b"[" * 400 + b"]" * 400 + b"}"
    _problem(http.put("/kv/n/deep", content=nested, headers=as_json), 400, "invalid_input")


def test_a_path_of_raw_bytes_is_refused_too(running: Running) -> None:
    address = urlsplit(running.url)
    with socket.create_connection((address.hostname, address.port or 80), timeout=10) as connection:
        connection.sendall(b"GET /v1/spaces/a/kv/n/\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert answer.split(b" ", 2)[1] == b"400"


def test_nothing_crosses_from_one_space_to_another(http: httpx.Client) -> None:
    made = _memory(http)
    with httpx.Client(base_url=f"{str(http.base_url).rstrip('/')}-other") as other:
        _problem(other.get(f"/memories/{made['id']}"), 404, "not_found")
        assert other.post("/recall", json={"query": "FastAPI", "threshold": 0}).json()["hits"] == []
        assert len(other.get("/export").text.splitlines()) == 2


def test_answers_may_not_be_cached(http: httpx.Client) -> None:
    for answer in (http.get("/stats"), http.get("/nowhere")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers


def test_a_space_with_a_slash_in_its_name_is_recalled_from(http: httpx.Client) -> None:
    place = httpx.URL(http.base_url.copy_with(raw_path=b"/v1/spaces/a%2Fb"))
    made = httpx.post(f"{place}/memories", json={"content": "We chose FastAPI over Flask"}, timeout=30)
    assert made.status_code == 201
    found = httpx.post(f"{place}/recall", json={"query": "FastAPI or Flask?"}, timeout=30).json()
    assert [hit["memory"]["id"] for hit in found["hits"]] == [made.json()["id"]]


RECALL_BODIES = [
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


@pytest.mark.parametrize("body", RECALL_BODIES)
def test_a_direct_call_answers_like_the_dependencies_of_fastapi(http: httpx.Client, body: bytes) -> None:
    """A request with an idempotency key takes FastAPI's way; one without is parsed and called directly."""
    made = http.post("/memories", json={"content": "We chose FastAPI", "kind": "decision", "scope": {"user": "alice"}})
    assert made.status_code == 201
    kind = {"Content-Type": "application/json"}
    direct = http.post("/recall", content=body, headers=kind)
    usual = http.post("/recall", content=body, headers={**kind, "Idempotency-Key": uuid.uuid4().hex})
    assert without_moments(direct) == without_moments(usual)


def without_moments(answer: httpx.Response) -> object:
    """Return status, type and body of an answer without its receipt, its request and what age changes."""
    told = answer.json()
    if answer.status_code == 200:
        told.pop("receipt")
        for hit in told["hits"]:
            hit.pop("score")
            hit["parts"].pop("recency")
    for name in ("instance", "request", "request_id"):
        told.pop(name, None)
    return answer.status_code, answer.headers["content-type"], told
