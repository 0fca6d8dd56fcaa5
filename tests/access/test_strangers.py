"""Strangers: those who sign up, and those who try keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from commonplace.access import keys, plans
from commonplace.errors import Forbidden, RateLimited, Unauthorized
from commonplace.memories.core import Core
from commonplace.server.auth import Call, KeyGate, WrongKeys
from commonplace.server.config import Config
from commonplace.store.tables import keys as rows
from commonplace.values import times
from tests.access.keys_harness import ON_SQLITE
from tests.server.server_harness import Running, start

PLAN = "memstore-free"


@pytest.fixture
def owned(core: Core) -> Core:
    """A book whose owner has a key."""
    keys.create(core.store, role="admin", spaces=["*"])
    return core


def sign_up(core: Core, address: str | None) -> bool:
    """Return whether somebody at an address got a key."""
    try:
        keys.sign_up(core.store, "me", PLAN, address=address)
    except RateLimited:
        return False
    return True


def test_an_address_gets_few_keys_and_all_together_get_not_many(owned: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    now = times.now()
    monkeypatch.setattr(times, "now", lambda: now)
    assert [sign_up(owned, "192.0.2.1") for _ in range(30)].count(True) == plans.SIGN_UPS_OF_ONE.burst
    assert sign_up(owned, "192.0.2.2")
    everybody = [sign_up(owned, f"198.51.100.{number}") for number in range(200)]
    assert everybody.count(True) == (plans.SIGN_UPS.burst or 0) - (plans.SIGN_UPS_OF_ONE.burst or 0) - 1
    now += 3600 * 1_000_000
    assert sign_up(owned, "192.0.2.1")


@ON_SQLITE
def test_addresses_are_not_kept_longer_than_they_count(owned: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    now = times.now()
    monkeypatch.setattr(times, "now", lambda: now)
    for number in range(20):
        assert sign_up(owned, f"198.51.100.{number}")
    now += 86400 * 1_000_000
    assert sign_up(owned, "192.0.2.1")
    places = owned.store.read(lambda tx: tx.run("SELECT place FROM meter WHERE key = 'sign-up'"), rows.lane(""))
    assert len(places) == 2
    assert "192" not in str(places)


@ON_SQLITE
def test_the_first_stranger_does_not_lock_the_owner_out(core: Core) -> None:
    with pytest.raises(Forbidden, match="owner first needs a key"):
        keys.sign_up(core.store, "me", PLAN)
    assert not keys.exist(core.store)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Running]:
    running = start(tmp_path / "book.db", Config(sign_up=PLAN))
    yield running
    running.stop()


@pytest.mark.slow
def test_over_http_strangers_wait_and_the_owner_does_not(served: Running) -> None:
    with httpx.Client(base_url=served.url) as client:
        assert client.post("/v1/agents", json={"name": "me"}).status_code == 403
        assert client.get("/v1/spaces/a/stats").status_code == 200
        owner = keys.create(served.core.store, role="admin", spaces=["*"])
        statuses = [client.post("/v1/agents", json={"name": "me"}) for _ in range(30)]
        assert [answer.status_code for answer in statuses] == [201] * 10 + [429] * 20
        assert int(statuses[-1].headers["Retry-After"]) > 0
        bearer = {"Authorization": f"Bearer {owner.token}"}
        assert client.get("/v1/spaces/a/stats", headers=bearer).status_code == 200
        wrong = {"Authorization": f"Bearer cp_{'a' * 12}_{'b' * 40}"}
        tried = [client.get("/v1/spaces/a/stats", headers=wrong).status_code for _ in range(WrongKeys.AT_ONCE + 10)]
        assert tried[: WrongKeys.AT_ONCE] == [401] * WrongKeys.AT_ONCE
        assert 429 in tried[WrongKeys.AT_ONCE :]
        assert client.get("/v1/spaces/a/stats", headers=bearer).status_code == 200


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_who_sends_wrong_keys_is_slowed_down_and_others_are_not() -> None:
    clock = Clock()
    wrong = WrongKeys(clock)
    wrong.clear("valid")
    for number in range(WrongKeys.AT_ONCE):
        wrong.ensure_may_try("192.0.2.1", str(number))
        wrong.add("192.0.2.1", str(number))
    with pytest.raises(RateLimited) as told:
        wrong.ensure_may_try("192.0.2.1", "next")
    assert 0 < told.value.retry_after <= 1
    wrong.ensure_may_try("192.0.2.1", "valid")
    wrong.ensure_may_try("192.0.2.2", "next")
    clock.now += 1
    wrong.ensure_may_try("192.0.2.1", "next")


def test_the_tables_of_wrong_and_valid_keys_are_bounded() -> None:
    wrong = WrongKeys(Clock())
    for number in range(10_100):
        wrong.add(str(number), "wrong")
        wrong.clear(str(number))
    assert len(wrong._full_at) == len(wrong._valid) == 10_000


@ON_SQLITE
def test_a_key_that_was_revoked_is_a_wrong_one_from_then_on(owned: Core) -> None:
    gate, made = KeyGate(owned.store, "default"), keys.create(owned.store)
    call = Call(secret=made.token, address="192.0.2.1", space=None, role="read", operation="read")
    gate.admit(call)
    keys.revoke(owned.store, made.key.id)
    for _ in range(WrongKeys.AT_ONCE):
        with pytest.raises(Unauthorized):
            gate.admit(call)
    with pytest.raises(RateLimited):
        gate.admit(call)
