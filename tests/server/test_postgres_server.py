"""The server on PostgreSQL: two servers of one book share idempotency keys."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from commonplace.access import keys
from tests.server.server_harness import Running, start
from tests.support.postgres import ORDINARY, ordinary_url


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    url = ORDINARY.url(tmp_path)
    first, second = start(url), start(url)
    yield first, second
    first.stop()
    second.stop()
    ORDINARY.release()


def test_one_append_sent_to_two_servers_at_once_is_applied_once(two: tuple[Running, Running], tmp_path: Path) -> None:
    place, name, barrier = "/v1/spaces/a/kv/n/list", {"Idempotency-Key": "once"}, threading.Barrier(16)

    def send(n: int) -> httpx.Response:
        with httpx.Client(timeout=30) as own:
            barrier.wait()
            return own.post(two[n % 2].url + place, json={"items": ["once"]}, headers=name)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(send, range(16)))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.text for answer in answers} == {answers[0].text}
    assert httpx.get(two[0].url + place).json()["value"] == ["once"]
    memory = {"content": "kept", "metadata": {"a": 1}}
    texts = {
        httpx.post(f"{served.url}/v1/spaces/a/memories", json=memory, headers={"Idempotency-Key": "m"}).text
        for served in two
    }
    assert len(texts) == 1
    # Row-level security: a connection that has not named its space sees no requests.
    schema = ORDINARY._taken[tmp_path]
    with psycopg.connect(ordinary_url(), autocommit=True) as connection:
        seen = connection.execute(f'SELECT count(*) FROM "{schema}".request').fetchone()  # noqa: S608  # a test's own
    assert seen == (0,)


def test_a_key_revoked_through_one_server_is_refused_by_the_other_at_once(two: tuple[Running, Running]) -> None:
    admin = {"X-API-Key": keys.create(two[0].core.store, role="admin").token}
    for revoking, other in (two, two[::-1]):
        made = httpx.post(f"{revoking.url}/v1/keys", json={"role": "write"}, headers=admin).json()
        asking = {"X-API-Key": made["token"]}
        with httpx.Client(base_url=other.url, headers=asking, timeout=30) as kept:
            assert kept.get("/v1/spaces/default/stats").status_code == 200
            assert httpx.delete(f"{revoking.url}/v1/keys/{made['key']['id']}", headers=admin).status_code == 200
            assert kept.get("/v1/spaces/default/stats").status_code == 401
