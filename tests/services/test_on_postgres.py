"""The dialects on a book in PostgreSQL: the real clients, and the order of writes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.services import test_clients
from tests.services.serving import Served, run_client, serving, talking
from tests.support.postgres import SCHEMAS


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place: Path = tmp_path_factory.mktemp("postgres")
    with serving(SCHEMAS.url(place)) as running:
        yield running
    SCHEMAS.release()


def test_botwire_works_unmodified(served: Served) -> None:
    assert run_client(test_clients.BOTWIRE, "botwire-0.2.1", BOTWIRE_URL=served.at("botwire")) == "done\n"


def test_zerolatency_works_unmodified(served: Served) -> None:
    code = test_clients.ZEROLATENCY.format(loading=test_clients.PLAIN, url=served.at("zerolatency"))
    assert run_client(code, "zerolatency-0.1.0") == "done\n"


def test_memstore_counts_and_pages(served: Served) -> None:
    with talking(served.at("memstore") + "/v1/memory") as client:
        for number in range(5):
            made = client.post("/remember", json={"content": f"note {number}", "session": "s", "tags": ["t"]})
            assert made.status_code == 201
        for params in ({"limit": 2, "offset": 1}, {"limit": 2, "offset": 1, "session": "s"}):
            told = client.get("/list", params=params).json()  # type: ignore[arg-type]
            assert [each["content"] for each in told["memories"]] == ["note 3", "note 2"]
            assert told["total"] == 5
        assert client.get("/recall", params={"q": "note 3", "tags": "t", "threshold": 0}).json()["count"] == 5


def test_concurrent_appends_and_posts_are_all_kept_in_order(served: Served) -> None:
    with talking(served.at("together")) as client:
        client.post("/channels/news/create", json={"agent_id": "a"})

        def write(number: int) -> None:
            entry = {"agent_id": "a", "type": "data", "data": number}
            assert client.post("/channels/news/post", json=entry).status_code == 200
            assert client.post("/memory/ns/list/append", json={"value": number}).status_code == 200

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(30)))
        entries = client.get("/channels/news/messages").json()["entries"]
        kept = json.loads(client.get("/memory/ns/list").json()["value"])
    assert sorted(kept) == sorted(entry["data"] for entry in entries) == list(range(30))
    times = [entry["timestamp"] for entry in entries]
    assert all(before < after for before, after in itertools.pairwise(times))
