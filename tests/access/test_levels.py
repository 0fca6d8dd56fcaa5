"""Levels: whatever a key stores counts, by whatever way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from commonplace.access import keys
from commonplace.book import Book
from commonplace.errors import QuotaExceeded
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from tests.access.keys_harness import NAMESPACE, call_of, door_of, put
from tests.server.server_harness import Running, start

PAGE = "x" * 600
WRITES: dict[str, Callable[[Book], object]] = {
    "memories": lambda book: book.remember(PAGE),
    "metadata": lambda book: book.remember("small", metadata={"page": PAGE}),
    "files": lambda book: book.canvas("plan").write("page.md", PAGE),
    "messages": lambda book: book.transcript("talk").append(PAGE),
    "entries": lambda book: book.kv("elsewhere").set("page", PAGE),
    "import": lambda book: book.load([{"type": "entry", "namespace": "n", "key": "k", "version": 1, "value": PAGE,
                                       "updated_at": "2026-05-04T09:30:00+00:00", "expires_at": None}]),
}  # fmt: skip


@pytest.mark.parametrize("way", WRITES)
def test_a_space_holds_so_many_bytes_whatever_they_are(core: Core, way: str) -> None:
    key, door = keys.create(core.store, limits={"space_bytes": 1000}), door_of(core)
    door.run_here(call_of(key.token, "write"), lambda book: book.canvas("other").write("page.md", PAGE))
    with pytest.raises(QuotaExceeded, match="1,000 bytes"):
        door.run_here(call_of(key.token, "write"), WRITES[way])
    (usage,) = keys.usage(core.store, key.key.id)
    assert (usage.name, usage.used, usage.limit) == ("space_bytes", 600, 1000)
    door.run_here(call_of(key.token, "write"), lambda book: book.canvas("other").forget("page.md"))
    door.run_here(call_of(key.token, "write"), WRITES[way])


def test_every_revision_of_a_file_counts(core: Core) -> None:
    key, door = keys.create(core.store, limits={"space_bytes": 1000}), door_of(core)
    write = WRITES["files"]
    door.run_here(call_of(key.token, "write"), write)
    with pytest.raises(QuotaExceeded):
        door.run_here(call_of(key.token, "write"), write)


def entry(namespace: str, number: int) -> dict[str, object]:
    return {
        "type": "entry", "namespace": namespace, "key": f"k{number}", "version": 1, "value": "x" * 40,
        "updated_at": "2026-05-04T09:30:00+00:00", "expires_at": None,
    }  # fmt: skip


def load(core: Core, token: str, *records: dict[str, object]) -> object:
    call = replace(call_of(token, "write"), is_import=True)
    return door_of(core).run_here(call, lambda book: book.load(records))  # type: ignore[arg-type]  # JSON


def test_an_import_is_held_to_the_limits_of_each_namespace(core: Core) -> None:
    key = keys.create(core.store, limits={"namespace_bytes": 100, "namespace_writes_day": 2})
    with pytest.raises(QuotaExceeded, match="100 bytes"):
        load(core, key.token, *(entry(NAMESPACE, number) for number in range(3)))
    assert LocalBook(core, "default").kv(NAMESPACE).keys() == []
    load(core, key.token, entry(NAMESPACE, 0), entry("other", 0))
    put(door_of(core), key.token, "b")
    with pytest.raises(QuotaExceeded, match="writes a day"):
        load(core, key.token, entry(NAMESPACE, 1))
    load(core, key.token, entry("other", 1))
    used = {each.name: each.used for each in keys.usage(core.store, key.key.id, namespace=NAMESPACE)}
    assert used["namespace_writes_day"] == 2


CHOICES = [{"role": "user", "content": f"We chose alpha{n} over beta{n} because of gamma{n}."} for n in range(4)]


def test_what_is_learned_counts_towards_the_memories_of_the_key(core: Core) -> None:
    key, door, book = keys.create(core.store, limits={"memories": 5}), door_of(core), LocalBook(core, "default")
    with pytest.raises(QuotaExceeded, match="5 memories"):
        door.run_here(call_of(key.token, "write"), lambda book: book.learn(CHOICES, wait=True))
    assert book.stats().memories == 4
    (job,) = book.jobs()
    assert "QuotaExceeded" in (job.error or "")
    roomy = keys.create(core.store, limits={"memories": 50})
    more = [{"role": "user", "content": "We chose alpha9 over beta9 because of gamma9."}]
    door.run_here(call_of(roomy.token, "write"), lambda book: book.learn(more, wait=True))
    assert book.stats().memories > 5


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Running]:
    running = start(tmp_path / "book.db")
    yield running
    running.stop()


@pytest.mark.slow
def test_agents_and_channels_of_botwire_count_towards_their_namespaces(served: Running) -> None:
    key = keys.create(served.core.store, limits={"namespace_writes_day": 2})
    with httpx.Client(base_url=served.url, headers={"X-API-Key": key.token}) as client:
        register = [client.post("/identity/register", json={"name": f"a{n}"}).status_code for n in range(3)]
        assert register == [200, 200, 429]
        assert client.post("/channels/news/create", json={"agent_id": "a"}).status_code == 200
        entries = [{"agent_id": "a", "type": "data", "data": {"n": n}} for n in range(3)]
        posted = [client.post("/channels/news/post", json=each).status_code for each in entries]
        assert posted == [200, 200, 429]


@pytest.mark.slow
def test_an_import_over_http_is_held_to_them(served: Running) -> None:
    key = keys.create(served.core.store, limits={"namespace_bytes": 100})
    records = [{"type": "header", "commonplace": 1}, *(entry("n", number) for number in range(3))]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    headers = {"X-API-Key": key.token, "Content-Type": "application/x-ndjson"}
    answer = httpx.post(f"{served.url}/v1/spaces/default/import", content=lines, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
