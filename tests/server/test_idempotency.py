"""Idempotency keys: a repeated request returns the first answer and changes nothing."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import httpx
import pytest

from commonplace.errors import AnswerLost
from commonplace.memories.core import Place
from commonplace.server.idempotency import IdempotencyRecord
from commonplace.store.tables import requests
from commonplace.values import Learned
from tests.server.server_harness import Running, start

Change = Callable[[httpx.Client, dict[str, str]], httpx.Response]


def _key() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _send_twice(http: httpx.Client, change: Change) -> httpx.Response:
    """Send a request twice and return its answer, which is the same both times."""
    name = _key()
    first, second = change(http, name), change(http, name)
    assert first.status_code < 300, first.text
    assert (second.status_code, second.text) == (first.status_code, first.text)
    assert second.headers.get("etag") == first.headers.get("etag")
    return first


@pytest.mark.slow
def test_one_append_sent_32_times_at_once_is_applied_once(http: httpx.Client) -> None:
    name, barrier = _key(), threading.Barrier(32)

    def send(_: int) -> httpx.Response:
        with httpx.Client(base_url=http.base_url, timeout=30) as own:
            barrier.wait()
            return own.post("/kv/n/list", json={"items": ["once"]}, headers=name)

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(send, range(32)))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.text for answer in answers} == {answers[0].text}
    assert http.get("/kv/n/list").json()["value"] == ["once"]


def test_every_change_of_memories_happens_once(http: httpx.Client) -> None:
    one = _send_twice(http, lambda http, name: http.post("/memories", json={"content": "one"}, headers=name)).json()
    content = {"base64": "AAEC", "text": "bytes", "metadata": {"a": [1, {"b": None}]}}
    _send_twice(http, lambda http, name: http.post("/memories", json=content, headers=name))
    batch = {"memories": [{"content": "two"}, {"content": {"three": 3}}]}
    _send_twice(http, lambda http, name: http.post("/memories/batch", json=batch, headers=name))
    assert len(http.get("/memories").json()["memories"]) == 4
    place = f"/memories/{one['id']}"
    guarded = {"If-Match": '"1"'}
    _send_twice(http, lambda http, name: http.patch(place, json={"importance": 0.9}, headers={**name, **guarded}))
    assert http.get(place).json()["version"] == 2
    why = {"ids": [one["id"]], "reason": "doubt"}
    _send_twice(http, lambda http, name: http.post("/memories/quarantine", json=why, headers=name))
    _send_twice(http, lambda http, name: http.post("/memories/release", json={"ids": [one["id"]]}, headers=name))
    used = {"target": one["id"], "signal": "used"}
    _send_twice(http, lambda http, name: http.post("/feedback", json=used, headers=name))
    _send_twice(http, lambda http, name: http.delete(place, headers=name))
    gone = _send_twice(http, lambda http, name: http.post("/memories/forget", json={"kinds": ["note"]}, headers=name))
    assert gone.json()["memories"] == 3
    _send_twice(http, lambda http, name: http.post("/memories/forget", json={"everything": True}, headers=name))


def test_every_change_of_state_happens_once(http: httpx.Client) -> None:
    _send_twice(http, lambda http, name: http.put("/kv/n/k", json={"value": {"a": 1}, "ttl": 60}, headers=name))
    new = {"If-None-Match": "*"}
    _send_twice(http, lambda http, name: http.put("/kv/n/new", json={"value": 1}, headers={**name, **new}))
    _send_twice(http, lambda http, name: http.delete("/kv/n/k", headers=name))
    place = "/canvases/c/files/a.md"
    _send_twice(http, lambda http, name: http.put(place, json={"content": "Once\n"}, headers={**name, **new}))
    patch = {"patch": "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-Once\n+Once upon\n", "if_version": 1}
    _send_twice(http, lambda http, name: http.post("/canvases/c/patch", json=patch, headers=name))
    assert http.get(place).headers["etag"] == '"2"'
    _send_twice(http, lambda http, name: http.delete(place, headers=name))
    _send_twice(http, lambda http, name: http.post("/canvases/c/forget", json={"path": "a.md"}, headers=name))
    said = {"messages": [{"content": {"a": [1]}, "metadata": {"b": 2}}]}
    _send_twice(http, lambda http, name: http.post("/transcripts/s", json=said, headers=name))
    assert len(http.get("/transcripts/s").json()["messages"]) == 1
    _send_twice(http, lambda http, name: http.delete("/transcripts/s", headers=name))


def test_learning_and_its_jobs_happen_once(http: httpx.Client) -> None:
    told = {"text": "Sarah: I prefer TypeScript now, not Python.", "every": 20, "idle": 3000}
    _send_twice(http, lambda http, name: http.post("/learn", json=told, headers=name))
    assert len(http.get("/jobs").json()["jobs"]) == 1
    worked = _send_twice(http, lambda http, name: http.post("/jobs/work", json={"hurry": True}, headers=name))
    assert worked.json() == {"done": 1}
    _send_twice(http, lambda http, name: http.post("/jobs/retry", json={}, headers=name))
    now = {"text": "Bob: We decided to use Rust for the parser.", "wait": True}
    learned = _send_twice(http, lambda http, name: http.post("/learn", json=now, headers=name))
    assert learned.json()["memories"]
    assert len(http.get("/transcripts").json()["transcripts"]) == 2
    everything = {"keep": 0, "dry_run": False}
    pruned = _send_twice(http, lambda http, name: http.post("/memories/prune", json=everything, headers=name))
    assert pruned.json()["ids"]


def test_reconciliation_and_its_undo_happen_once(http: httpx.Client) -> None:
    draft = {"content": "Sarah prefers Python", "kind": "preference", "reconcile": True}
    first = _send_twice(http, lambda http, name: http.post("/memories", json=draft, headers=name)).json()
    other = {**draft, "content": "Sarah prefers TypeScript now, not Python"}
    second = _send_twice(http, lambda http, name: http.post("/memories", json=other, headers=name)).json()
    assert http.get(f"/memories/{first['id']}").json()["superseded_by"] == second["id"]
    place = f"/memories/{second['id']}/undo"
    _send_twice(http, lambda http, name: http.post(place, json={"other": first["id"]}, headers=name))


def test_an_import_happens_once(http: httpx.Client) -> None:
    http.post("/memories", json={"content": "one"})
    exported = http.get("/export").content
    http.post("/memories/forget", json={"everything": True})
    lines = {"Content-Type": "application/x-ndjson"}
    name = _key()
    for _ in range(2):
        answer = http.post("/import", content=exported, headers={**lines, **name})
        assert answer.json() == {"records": 1}
    other = http.post("/import", content=exported + b"\n", headers={**lines, **name})
    assert (other.status_code, other.json()["code"]) == (422, "request_reused")


def test_a_key_belongs_to_one_request(http: httpx.Client) -> None:
    name = _key()
    assert http.post("/kv/n/list", json={"items": [1]}, headers=name).status_code == 200
    for other in (
        http.post("/kv/n/list", json={"items": [2]}, headers=name),
        http.post("/kv/n/other", json={"items": [1]}, headers=name),
        http.put("/kv/n/list", json={"value": [1]}, headers=name),
        http.delete("/kv/n/list", params={"a": "b"}, headers=name),
    ):
        assert (other.status_code, other.json()["code"]) == (422, "request_reused")
    assert http.get("/kv/n/list").json()["version"] == 1


def test_a_key_is_unknown_in_another_space(http: httpx.Client) -> None:
    name = _key()
    http.post("/kv/n/list", json={"items": [1]}, headers=name)
    with httpx.Client(base_url=f"{str(http.base_url).rstrip('/')}-other") as other:
        assert other.post("/kv/n/list", json={"items": [1]}, headers=name).json()["version"] == 1
        assert other.get("/kv/n/list").json()["value"] == [1]


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_a_key_is_neither_empty_nor_long(http: httpx.Client, name: str) -> None:
    answer = http.put("/kv/n/k", json={"value": 1}, headers={"Idempotency-Key": name})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


def test_a_failed_request_leaves_its_key_free(http: httpx.Client) -> None:
    name = _key()
    guarded = {**name, "If-Match": '"1"'}
    assert http.put("/kv/n/k", json={"value": 2}, headers=guarded).status_code == 409
    http.put("/kv/n/k", json={"value": 1})
    assert http.put("/kv/n/k", json={"value": 2}, headers=guarded).status_code == 200


def test_an_answer_too_large_to_keep_is_lost_and_its_effect_is_not_doubled(http: httpx.Client) -> None:
    name, large = _key(), {"items": ["x" * 1_100_000]}
    assert http.post("/kv/n/list", json=large, headers=name).status_code == 200
    again = http.post("/kv/n/list", json=large, headers=name)
    assert (again.status_code, again.json()["code"]) == (409, "answer_lost")
    assert http.get("/kv/n/list").json()["version"] == 1


@pytest.mark.slow
def test_a_request_is_not_repeated_after_a_restart(tmp_path: Path) -> None:
    name, place = _key(), "/v1/spaces/a/kv/n/list"
    answers = []
    for _ in range(2):
        served = start(tmp_path / "book.db")
        answers.append(httpx.post(served.url + place, json={"items": [1]}, headers=name, timeout=30).json())
        stands = httpx.get(served.url + place).json()
        served.stop()
    assert answers[0] == answers[1] == stands


def test_a_recorded_row_is_a_plain_tuple_in_the_book(tmp_path: Path) -> None:
    """Servers of other versions on the same book read the records, so their form is part of the file format."""
    served = start(tmp_path / "book.db")
    with httpx.Client(base_url=f"{served.url}/v1/spaces/a", timeout=30) as http:
        http.post("/memories", json={"content": "tea", "id": "m"}, headers=_key())
        http.patch("/memories/m", json={"content": "green tea"}, headers=_key())
    served.stop()
    with closing(apsw.Connection(str(tmp_path / "book.db"))) as book:
        made, revised = (json.loads(str(text)) for (text,) in book.execute("SELECT result FROM request ORDER BY rowid"))
    assert (made[0], made[1][0], made[1][1][0], made[1][1][2]) == ("write", "l", "t", "m")
    assert (revised[0], revised[1][0], revised[1][2]) == ("write", "t", "m")


def test_recorded_answers_contain_nothing_forgotten(tmp_path: Path) -> None:
    served = start(tmp_path / "book.db")
    with httpx.Client(base_url=f"{served.url}/v1/spaces/a", timeout=30) as http:
        name = _key()
        draft = {"content": "the secret of the garden"}
        made = http.post("/memories", json=draft, headers=name).json()
        assert _recorded(tmp_path, "secret") == 1
        http.delete(f"/memories/{made['id']}")
        assert _recorded(tmp_path, "secret") == 0
        again = http.post("/memories", json=draft, headers=name)
        assert (again.status_code, again.json()["code"]) == (409, "answer_lost")
        assert http.get("/memories").json()["memories"] == []
        http.post("/memories/forget", json={"everything": True})
        assert _recorded(tmp_path, "") == 0
    served.stop()


def _recorded(place: Path, words: str) -> int:
    # By the library that has the book open: with another copy of SQLite, closing drops the locks of the process.
    book = apsw.Connection(str(place / "book.db"))
    try:
        query = "SELECT count(*) FROM request WHERE ifnull(result, '') LIKE ?"
        ((found,),) = book.execute(query, [f"%{words}%"])
        return int(str(found))
    finally:
        book.close()


@pytest.mark.slow
def test_old_keys_are_removed_in_small_portions(http: httpx.Client, running: Running) -> None:
    http.put("/kv/n/k", json={"value": 1}, headers=_key())
    store = running.core.store
    long_ago = time.time_ns() // 1000 - requests.KEPT - 1_000_000
    space = str(http.base_url).rstrip("/").rsplit("/", 1)[1]
    number = store.read(lambda tx: tx.run("SELECT number FROM space WHERE name = :name", {"name": space}), None)[0][0]
    count = "SELECT count(*) FROM request WHERE space = :space"
    for n in range(150):
        store.write(lambda tx, n=n: requests.add(tx, number, f"old {n}", "", None, now=long_ago), number)  # type: ignore[misc]
    for left in (52, 3):
        http.put("/kv/n/k", json={"value": 1}, headers=_key())
        assert store.read(lambda tx: tx.run(count, {"space": number}), number)[0][0] == left


def test_an_answer_is_not_kept_after_its_texts_were_forgotten(http: httpx.Client, running: Running) -> None:
    """Simulate a forget between the end of a long call and the recording of its answer."""
    http.put("/kv/n/k", json={"value": 1})
    space = str(http.base_url).rstrip("/").rsplit("/", 1)[1]
    store, place = running.core.store, Place(running.core.store, space)
    record = IdempotencyRecord(":learn", "digest")
    store.write(lambda tx: record.run(tx, place.find(), lambda tx: 7), place.find())
    store.write(lambda tx: requests.purge(tx, place.find()), place.find())
    record.keep_answer(store, place.find(), Learned(session="s", messages=("forgotten",)), is_repeated=False)
    with pytest.raises(AnswerLost):
        record.find(store, place.find())
