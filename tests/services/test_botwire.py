"""BotWire's dialect, request by request; tests/services/test_clients.py runs its package."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.integrations.services import botwire
from commonplace.local import LocalBook
from commonplace.location import open_core
from commonplace.store.base import Store, Tx
from tests.services.serving import Served, talking

T = TypeVar("T")


@pytest.fixture
def client(at: str) -> Iterator[httpx.Client]:
    with talking(at) as made:
        yield made


def ok(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_entry_is_answered_whole(client: httpx.Client) -> None:
    put = ok(client.put("/memory/ns/key", json={"value": "hello"}))
    got = client.get("/memory/ns/key")
    told = ok(got)
    assert told == put
    assert got.headers["etag"] == '"1"'
    assert set(told) == {"namespace", "key", "value", "version", "created_at", "updated_at"}
    assert (told["namespace"], told["key"], told["value"]) == ("ns", "key", "hello")
    assert told["created_at"] == told["updated_at"]
    ok(client.put("/memory/ns/key", json={"value": "again"}))
    assert ok(client.get("/memory/ns/key"))["version"] == 2
    assert ok(client.get("/memory/ns")) == {"namespace": "ns", "count": 1, "keys": ["key"]}


def test_what_is_not_there_is_404_with_a_detail(client: httpx.Client) -> None:
    for call in (client.get, client.delete):
        answer = call("/memory/ns/missing")
        assert answer.status_code == 404
        assert set(answer.json()) == {"detail"}


@pytest.mark.parametrize("value", ["null", None])
def test_null_deletes(client: httpx.Client, value: str | None) -> None:
    ok(client.put("/memory/ns/key", json={"value": "there"}))
    assert ok(client.put("/memory/ns/key", json={"value": value}))["deleted"] is True
    assert ok(client.put("/memory/ns/key", json={"value": value}))["deleted"] is False
    assert client.get("/memory/ns/key").status_code == 404


def test_a_stale_write_is_refused(client: httpx.Client) -> None:
    ok(client.put("/memory/ns/key", json={"value": "1"}, headers={"If-None-Match": "*"}))
    tag = client.get("/memory/ns/key").headers["etag"]
    ok(client.put("/memory/ns/key", json={"value": "2"}, headers={"If-Match": tag}))
    for headers in ({"If-Match": tag}, {"If-None-Match": "*"}):
        for answer in (
            client.put("/memory/ns/key", json={"value": "3"}, headers=headers),
            client.put("/memory/ns/key", json={"value": "null"}, headers=headers),
        ):
            assert answer.status_code == 412
            assert set(answer.json()) == {"detail"}
    assert client.delete("/memory/ns/key", headers={"If-Match": tag}).status_code == 412
    assert ok(client.get("/memory/ns/key"))["value"] == "2"
    assert client.put("/memory/ns/key", json={"value": "3"}, headers={"If-Match": "two"}).status_code == 400


def test_concurrent_appends_are_all_kept(client: httpx.Client) -> None:
    def add(number: int) -> None:
        ok(client.post("/memory/ns/history/append", json={"value": json.dumps({"n": number})}))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    kept = json.loads(ok(client.get("/memory/ns/history"))["value"])
    assert sorted(each["n"] for each in kept) == list(range(40))
    ok(client.put("/memory/ns/text", json={"value": "no list"}))
    assert client.post("/memory/ns/text/append", json={"value": "x"}).status_code == 400


def test_a_time_to_live_is_kept(client: httpx.Client, served: Served, space: str) -> None:
    ok(client.put("/memory/ns/key", json={"value": "short", "ttl": 60}))
    entry = served.book(space).kv("ns").entry("key")
    assert entry is not None
    assert entry.expires_at is not None


def test_what_an_unescaped_question_mark_cut_off_is_refused(client: httpx.Client, at: str) -> None:
    answer = client.put("/memory/ns/what?", json={"value": "v"}, params={"x": "1"})
    assert answer.status_code == 400
    assert "%3F" in answer.json()["detail"]
    ok(client.put(f"{at}/memory/ns/what%3F", json={"value": "v"}))
    assert ok(client.get("/memory/ns"))["keys"] == ["what?"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/memory/ns/key", {}),
        ("PUT", "/memory/ns/key", []),
        ("PUT", "/memory/ns/", {"value": "v"}),
        ("PUT", "/memory/%00/key", {"value": "v"}),
        ("PUT", "/memory/ns/%ff", {"value": "v"}),
        ("PUT", f"/memory/ns/{'k' * 600}", {"value": "v"}),
        ("PUT", "/memory/ns/key", {"value": "v", "ttl": -1}),
        ("POST", "/identity/register", {"name": ""}),
        ("POST", "/identity/register", {}),
        ("POST", "/channels/c/create", {}),
        ("POST", "/channels/c/join", {}),
        ("GET", "/channels/c/messages?limit=0", None),
    ],
)
def test_what_is_wrong_is_told_as_detail(client: httpx.Client, method: str, path: str, body: Any) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code in (400, 413, 422), answer.text
    assert isinstance(answer.json()["detail"], str)
    assert answer.json()["detail"]


def test_agents_are_found_by_what_they_can(client: httpx.Client, served: Served, space: str) -> None:
    for name, can in (("bull", ["trade"]), ("owl", ["read", "trade"])):
        ok(client.post("/identity/register", json={"name": name, "capabilities": can, "accept_terms": True}))
    everybody = ok(client.get("/identity/search?capability="))
    assert [each["name"] for each in everybody["results"]] == ["bull", "owl"]
    assert everybody["count"] == 2
    assert [each["agent_id"] for each in ok(client.get("/identity/search?capability=read"))["results"]] == ["owl"]
    assert served.book(space).kv("botwire/agents").keys() == ["bull", "owl"]


def opened(client: httpx.Client, channel: str = "news") -> None:
    ok(client.post(f"/channels/{channel}/create", json={"agent_id": "a", "visibility": "public", "description": ""}))


def posted(client: httpx.Client, data: Any, type: str = "data") -> dict[str, Any]:
    told: dict[str, Any] = ok(client.post("/channels/news/post", json={"agent_id": "a", "type": type, "data": data}))
    return told


def test_a_channel_is_made_once_and_kept_as_a_transcript(client: httpx.Client, served: Served, space: str) -> None:
    opened(client)
    again = client.post("/channels/news/create", json={"agent_id": "b"})
    assert again.status_code == 409
    assert set(again.json()) == {"detail"}
    assert ok(client.post("/channels/news/join", params={"agent_id": "b"}))["agent_id"] == "b"
    posted(client, {"ticker": "NVDA"}, "signal")
    (message,) = served.book(space).transcript("botwire/channels/news").read()
    assert (message.content, message.name, message.metadata) == ({"ticker": "NVDA"}, "a", {"type": "signal"})
    for answer in (
        client.get("/channels/none/messages"),
        client.post("/channels/none/post", json={"agent_id": "a", "type": "data", "data": 1}),
        client.post("/channels/none/join", params={"agent_id": "a"}),
    ):
        assert answer.status_code == 404
    answer = client.post("/channels/news/post", json={"agent_id": "a", "type": "nonsense", "data": 1})
    assert answer.status_code == 400


def test_entries_come_oldest_first_and_nothing_after_a_moment_is_skipped(client: httpx.Client) -> None:
    opened(client)
    made = [posted(client, number, "signal" if number % 3 == 0 else "status") for number in range(25)]

    def read(**params: Any) -> list[Any]:
        return [entry["data"] for entry in ok(client.get("/channels/news/messages", params=params))["entries"]]

    assert read() == list(range(25))
    assert read(limit=4) == [21, 22, 23, 24]
    assert read(limit=4, type="signal") == [15, 18, 21, 24]
    assert read(since=made[9]["timestamp"]) == list(range(10, 25))
    assert read(since=made[9]["timestamp"], limit=3) == [10, 11, 12]
    assert read(since=made[9]["timestamp"], limit=2, type="signal") == [12, 15]
    assert read(since=0) == list(range(25))
    assert read(since=made[-1]["timestamp"]) == []
    # As the client watches: page by page, each from the last moment that it saw.
    seen: list[Any] = []
    moment = 0.0
    while entries := ok(client.get("/channels/news/messages", params={"since": moment, "limit": 4}))["entries"]:
        seen += [entry["data"] for entry in entries]
        moment = entries[-1]["timestamp"]
    assert seen == list(range(25))


def test_the_times_of_concurrent_posts_rise_with_their_order(client: httpx.Client) -> None:
    opened(client)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: posted(client, number), range(60)))
    times = [entry["timestamp"] for entry in ok(client.get("/channels/news/messages?limit=100"))["entries"]]
    assert len(times) == 60
    assert all(before < after for before, after in itertools.pairwise(times))


class Held:
    """A store that lets one writer wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waits: threading.Thread | None = None
        self.there, self.go = threading.Event(), threading.Event()

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        if threading.current_thread() is self.waits:
            self.there.set()
            assert self.go.wait(20)
        return self._store.write(work, space)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_post_that_waited_for_another_is_the_later_one(tmp_path: Path) -> None:
    core = open_core(tmp_path / "book.db")
    held = Held(core.store)
    core.store = cast(Store, held)
    book = LocalBook(core, "default")
    botwire.create_channel(book, "news", agent_id="a")
    botwire.post_entry(book, "news", agent_id="a", type="data", data="first")
    held.waits = threading.Thread(
        target=botwire.post_entry, args=(book, "news"), kwargs={"agent_id": "a", "type": "data", "data": 1}
    )
    held.waits.start()
    assert held.there.wait(20)
    seen = botwire.post_entry(book, "news", agent_id="b", type="data", data=2)
    held.go.set()
    held.waits.join()
    assert [entry["data"] for entry in botwire.read_entries(book, "news", since=float(str(seen["timestamp"])))] == [1]
    book.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=6,
)


@given(JSON | st.text())
def test_what_is_sent_comes_back_to_the_byte(value: Any) -> None:
    sent = value if isinstance(value, str) else json.dumps(value)
    assert botwire.encode_value(botwire.decode_value(sent)) == sent


@pytest.mark.parametrize(
    "sent",
    ["5", "5.0", "1e5", "-0", "007", "NaN", "[Infinity]", '"quoted"', '{"a": 1, "a": 2}', '{"a":1}', "[1,2]", "[1, 2]",
     '["\\ud800"]', '["\\u0000"]', "[" * 400 + "]" * 400, "[" * 20_000, "9" * 5000, "true", "null ", "ü", '["ü"]'],
)  # fmt: skip
def test_unusual_texts_come_back_to_the_byte_from_the_server(client: httpx.Client, sent: str) -> None:
    ok(client.put("/memory/ns/key", json={"value": sent}))
    assert ok(client.get("/memory/ns/key"))["value"] == sent


def test_what_was_set_natively_is_read_as_text(client: httpx.Client, served: Served, space: str) -> None:
    entries = served.book(space).kv("ns")
    for key, value, text in (
        ("a", {"x": [1, None]}, '{"x": [1, null]}'),
        ("b", 5, "5"),
        ("c", "5", "5"),
        ("d", "t", "t"),
    ):
        entries.set(key, value)  # type: ignore[arg-type]
        assert ok(client.get(f"/memory/ns/{key}"))["value"] == text
