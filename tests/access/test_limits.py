"""Charges: what is charged and when; failed calls, other limits, other periods."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

from commonplace.access import keys, plans
from commonplace.access.keys import NewKey
from commonplace.access.plans import Limits
from commonplace.book import Book
from commonplace.errors import Conflict, InvalidInput, NotFound, QuotaExceeded, RateLimited
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from commonplace.store.tables import keys as rows
from commonplace.values import times
from tests.access.keys_harness import NAMESPACE, ON_SQLITE, call_of, door_of, put, recall, remember

EVERY = {"operations_month": 10, "recalls_month": 10, "namespace_writes_day": 10, "rate": 0.01, "burst": 10}


def limited(core: Core, **limits: float) -> NewKey:
    return keys.create(core.store, limits=limits)


def used(core: Core, key: NewKey) -> dict[str, float | None]:
    return {each.name: each.used for each in keys.usage(core.store, key.key.id, namespace=NAMESPACE)}


def at(core: Core, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Let it be that moment from now on."""
    monkeypatch.setattr(times, "now", lambda: times.to_micros(datetime.fromisoformat(moment)))


def test_each_request_counts_towards_what_it_is(core: Core) -> None:
    key, door = limited(core, **EVERY), door_of(core)
    put(door, key.token, "a")
    recall(door, key.token)
    door.run_here(call_of(key.token, "read"), lambda book: book.kv(NAMESPACE).get("a"))
    expected = {"burst": 3, "operations_month": 3, "recalls_month": 1, "namespace_writes_day": 1}
    assert used(core, key) == expected


@pytest.mark.parametrize("operation", ["read", "recall", "write"])
def test_a_failed_call_is_not_charged(core: Core, operation: str) -> None:
    key, door = limited(core, **EVERY), door_of(core)

    def fail(book: Book) -> None:
        if operation == "write":
            book.kv(NAMESPACE).set("a", 1, if_version=7)
        raise NotFound("there is none")

    for _ in range(3):
        with pytest.raises((NotFound, Conflict)):
            door.run_here(call_of(key.token, operation, namespace=NAMESPACE), fail)  # type: ignore[arg-type]  # three words
    assert set(used(core, key).values()) == {0}
    put(door, key.token, "a")
    assert used(core, key)["operations_month"] == 1


@ON_SQLITE
def test_a_failure_of_our_own_is_not_charged_either(core: Core) -> None:
    key, door = limited(core, **EVERY), door_of(core)
    with pytest.raises(ZeroDivisionError):
        recall(door, key.token, lambda book: 1 // 0)
    assert set(used(core, key).values()) == {0}


def test_a_refused_call_does_nothing_and_takes_nothing_of_the_other_limits(core: Core) -> None:
    key, door = limited(core, operations_month=3, recalls_month=10, rate=0.01, burst=10), door_of(core)
    for number in range(3):
        put(door, key.token, str(number))
    with pytest.raises(QuotaExceeded):
        put(door, key.token, "one too many")
    with pytest.raises(QuotaExceeded):
        recall(door, key.token)
    assert used(core, key) == {"burst": 3, "operations_month": 3, "recalls_month": 0}
    assert LocalBook(core, "default").kv(NAMESPACE).keys() == ["0", "1", "2"]


@ON_SQLITE
def test_a_write_that_finds_nothing_to_write_is_a_request_all_the_same(core: Core) -> None:
    key, door = limited(core, operations_month=2), door_of(core)
    for _ in range(2):
        door.run_here(call_of(key.token, "write"), lambda book: None)
    assert used(core, key) == {"operations_month": 2}
    with pytest.raises(QuotaExceeded):
        door.run_here(call_of(key.token, "write"), lambda book: None)


@ON_SQLITE
def test_what_is_used_up_is_refused_before_anything_is_embedded(core: Core) -> None:
    key, door = limited(core, operations_month=1), door_of(core)
    put(door, key.token, "a")
    ran: list[bool] = []
    with pytest.raises(QuotaExceeded):
        door.run_here(call_of(key.token, "write"), lambda book: ran.append(True))
    assert ran == []


def test_a_month_ends_with_the_calendar_in_utc(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    at(core, monkeypatch, "2026-12-31T23:59:50+00:00")
    key, door = limited(core, operations_month=2), door_of(core)
    recall(door, key.token)
    recall(door, key.token)
    with pytest.raises(QuotaExceeded, match="2027-01-01T00:00:00") as caught:
        recall(door, key.token)
    assert caught.value.retry_after == 10
    at(core, monkeypatch, "2027-01-01T00:00:00+00:00")
    assert used(core, key) == {"operations_month": 0}
    recall(door, key.token)
    (usage,) = keys.usage(core.store, key.key.id)
    assert (usage.used, usage.limit, usage.resets_at) == (1, 2, datetime(2027, 2, 1, tzinfo=timezone.utc))


def test_a_server_whose_clock_is_behind_does_not_begin_a_month_again(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(core, monkeypatch, "2027-01-01T00:00:00+00:00")
    key, door = limited(core, operations_month=2), door_of(core)
    recall(door, key.token)
    at(core, monkeypatch, "2026-12-31T23:59:59+00:00")
    recall(door, key.token)
    for moment in ("2026-12-31T23:59:59+00:00", "2027-01-01T00:00:01+00:00"):
        at(core, monkeypatch, moment)
        with pytest.raises(QuotaExceeded):
            recall(door, key.token)


@ON_SQLITE
def test_what_a_failed_call_gives_back_is_of_the_month_that_it_was_taken_from(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(core, monkeypatch, "2026-12-31T23:59:59+00:00")
    key, door = limited(core, operations_month=5), door_of(core)

    def late(book: Book) -> None:
        at(core, monkeypatch, "2027-01-01T00:00:01+00:00")
        recall(door, key.token)
        raise NotFound("it took too long")

    with pytest.raises(NotFound):
        recall(door, key.token, late)
    assert used(core, key) == {"operations_month": 1}


def test_a_bucket_fills_up_at_its_rate(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    at(core, monkeypatch, "2026-05-04T12:00:00+00:00")
    key, door = limited(core, rate=2, burst=3), door_of(core)
    for _ in range(3):
        recall(door, key.token)
    with pytest.raises(RateLimited, match="2 a second, and 3 at once") as caught:
        recall(door, key.token)
    assert caught.value.retry_after == 0.5
    at(core, monkeypatch, "2026-05-04T12:00:00.499999+00:00")
    with pytest.raises(RateLimited):
        recall(door, key.token)
    at(core, monkeypatch, "2026-05-04T12:00:00.500000+00:00")
    recall(door, key.token)
    with pytest.raises(RateLimited):
        recall(door, key.token)
    at(core, monkeypatch, "2026-05-05T12:00:00+00:00")
    for _ in range(3):
        recall(door, key.token)
    with pytest.raises(RateLimited):
        recall(door, key.token)


def test_writes_are_counted_for_each_namespace_and_day(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    at(core, monkeypatch, "2026-05-04T23:00:00+00:00")
    key, door = limited(core, namespace_writes_day=1), door_of(core)

    def write(namespace: str) -> None:
        door.run_here(call_of(key.token, "write", namespace=namespace), lambda book: book.kv(namespace).set("a", 1))

    write("one")
    write("two")
    with pytest.raises(QuotaExceeded, match="writes a day") as caught:
        write("one")
    assert caught.value.retry_after == 3600
    remember(door, key.token, "a memory is no entry")
    at(core, monkeypatch, "2026-05-05T00:00:00+00:00")
    write("one")


def test_what_was_counted_long_ago_is_dropped_and_no_name_is_left_behind(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, door = limited(core, namespace_writes_day=5), door_of(core)
    for day in range(1, 8):
        at(core, monkeypatch, f"2026-05-0{day}T12:00:00+00:00")
        name = f"a name of day {day}"
        door.run_here(call_of(key.token, "write", namespace=name), lambda book, name=name: book.kv(name).set("a", 1))  # type: ignore[misc]  # bound now
    places = core.store.read(lambda tx: tx.run("SELECT place FROM meter"), rows.lane(""))
    assert len(places) == 2
    assert "name" not in repr(places)


def test_at_the_level_one_may_revise_and_forget_and_then_remember_again(core: Core) -> None:
    key, door = limited(core, memories=2), door_of(core)
    first = remember(door, key.token, "the first thing worth keeping")
    remember(door, key.token, "the second thing worth keeping")
    with pytest.raises(QuotaExceeded, match="forget some") as caught:
        remember(door, key.token, "the third")
    assert caught.value.retry_after > 0
    door.run_here(call_of(key.token, "write"), lambda book: book.revise(first, "the first, said better"))
    door.run_here(call_of(key.token, "write"), lambda book: book.forget(first))
    remember(door, key.token, "the third")
    assert used(core, key) == {"memories": 2}


@ON_SQLITE
def test_above_the_level_nothing_more_is_taken_in_but_less_is_let_through(core: Core) -> None:
    book = LocalBook(core, "default")
    held = [memory.id for memory in book.remember([f"thing number {number}" for number in range(5)])]
    key, door = limited(core, memories=2), door_of(core)
    with pytest.raises(QuotaExceeded):
        remember(door, key.token, "one more")
    door.run_here(call_of(key.token, "write"), lambda book: book.revise(held[0], "thing number nought"))
    door.run_here(call_of(key.token, "write"), lambda book: book.forget(held[0]))
    assert book.stats().memories == 4


def test_a_batch_that_does_not_fit_leaves_nothing(core: Core) -> None:
    key, door = limited(core, memories=3, operations_month=10), door_of(core)
    with pytest.raises(QuotaExceeded):
        door.run_here(
            call_of(key.token, "write"), lambda book: book.remember([f"item {number}" for number in range(4)])
        )
    assert LocalBook(core, "default").stats().memories == 0
    assert used(core, key) == {"operations_month": 0, "memories": 0}
    assert core.store.check(deep=True).ok


def test_a_full_namespace_may_shrink(core: Core) -> None:
    key, door = limited(core, namespace_bytes=100), door_of(core)
    put(door, key.token, "a", "x" * 90)
    with pytest.raises(QuotaExceeded, match="100 bytes"):
        put(door, key.token, "b", "x" * 90)
    put(door, key.token, "a", "x" * 40)
    put(door, key.token, "b", "x" * 40)
    door.run_here(call_of(key.token, "write", namespace=NAMESPACE), lambda book: book.kv(NAMESPACE).delete("a"))
    assert used(core, key)["namespace_bytes"] == 42


def test_bytes_are_those_of_utf_8(core: Core) -> None:
    key, door = limited(core, namespace_bytes=100), door_of(core)
    put(door, key.token, "a", "ü" * 49)
    assert used(core, key)["namespace_bytes"] == 100


@ON_SQLITE
def test_a_limit_of_nothing_allows_nothing(core: Core) -> None:
    key, door = limited(core, recalls_month=0, memories=0), door_of(core)
    with pytest.raises(QuotaExceeded):
        recall(door, key.token)
    with pytest.raises(QuotaExceeded):
        remember(door, key.token, "nothing fits")
    put(door, key.token, "a")


@ON_SQLITE
@pytest.mark.parametrize(("name", "limits"), plans.PLANS.items())
def test_every_plan_can_be_had_and_changed(core: Core, name: str, limits: Limits) -> None:
    assert keys.create(core.store, plan=name).key.limits == limits
    changed = keys.create(core.store, plan=name, limits={"memories": 7})
    assert changed.key.limits.given == {**limits.given, "memories": 7}
    assert keys.find(core.store, changed.key.id).limits == changed.key.limits


def test_the_free_plans_are_what_their_services_advertise() -> None:
    assert plans.PLANS["memstore-free"].operations_month == 1_000
    assert plans.PLANS["memstore-free"].rate is not None
    assert (plans.PLANS["zerolatency-free"].memories, plans.PLANS["zerolatency-free"].recalls_month) == (1_000, 10_000)
    botwire = plans.PLANS["botwire-free"]
    assert (botwire.namespace_writes_day, botwire.namespace_bytes) == (1_000, 50_000_000)
    assert plans.PLANS["unlimited"] == plans.UNLIMITED


@pytest.mark.parametrize(
    ("moment", "day_ends", "month_ends"),
    [
        ("2026-01-31T23:59:59.999999+00:00", "2026-02-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"),
        ("2028-02-28T12:00:00+00:00", "2028-02-29T00:00:00+00:00", "2028-03-01T00:00:00+00:00"),
        ("2026-12-01T00:00:00+00:00", "2026-12-02T00:00:00+00:00", "2027-01-01T00:00:00+00:00"),
        ("2026-06-01T01:00:00+02:00", "2026-06-01T00:00:00+00:00", "2026-06-01T00:00:00+00:00"),
    ],
)
def test_periods_are_calendar_days_and_months_in_utc(moment: str, day_ends: str, month_ends: str) -> None:
    now = times.to_micros(datetime.fromisoformat(moment))
    for period, expected in (("day", day_ends), ("month", month_ends)):
        start = plans.period_start(period, now)  # type: ignore[arg-type]  # one of the two words
        ends = plans.period_end(period, start)  # type: ignore[arg-type]  # as above
        assert start <= now < ends
        assert times.from_micros(ends) == datetime.fromisoformat(expected)


@ON_SQLITE
def test_usage_of_a_space_that_the_key_does_not_open_is_not_told(core: Core) -> None:
    key = limited(core, memories=5)
    with pytest.raises(Exception, match="does not open"):
        keys.usage(core.store, key.key.id, space="elsewhere")
    with pytest.raises(InvalidInput):
        keys.usage(core.store, key.key.id, namespace="a\0b")


def test_every_limit_and_plan_is_documented() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "keys.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", page.split("## Limits")[1], re.MULTILINE))
    named = {name for cell in rows for name in re.findall(r"`([\w-]+)`", cell)}
    assert named == {*plans.NAMES, *plans.PLANS}
    for name, limits in plans.PLANS.items():
        told = {what: float(value) for what, value in re.findall(r"(\w+)=([\d.]+)", rows[f"`{name}`"])}
        assert told == pytest.approx(limits.given, abs=1e-4)
