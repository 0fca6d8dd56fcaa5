"""Limits are exact: of a thousand requests from four processes at once, exactly the allowed number succeeds."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from commonplace.access import keys
from commonplace.local import LocalBook
from commonplace.memories.core import Core
from commonplace.store.tables import keys as rows
from tests.access.keys_harness import NAMESPACE, Crew, Worker, door_of, put

PROCESSES = 4


def used(core: Core, id: str, name: str) -> float | None:
    return {each.name: each.used for each in keys.usage(core.store, id, namespace=NAMESPACE)}[name]


def total(answers: list[Any], what: str) -> int:
    assert [answer["others"] for answer in answers] == [[]] * len(answers)
    return sum(answer[what] for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "limit", "calls"),
    [("put", "operations_month", 250), ("recall", "recalls_month", 250), ("put", "namespace_writes_day", 50)],
)
def test_of_many_requests_at_once_exactly_137_pass(
    core: Core, where: str, crew: Crew, kind: str, limit: str, calls: int
) -> None:
    key = keys.create(core.store, limits={limit: 137})
    answers = crew.together(do="many", where=where, tokens=[key.token], kind=kind, calls=calls)
    assert (total(answers, "passed"), total(answers, "refused")) == (137, PROCESSES * calls - 137)
    assert used(core, key.key.id, limit) == 137
    assert len(LocalBook(core, "default").kv(NAMESPACE).keys()) == (137 if kind == "put" else 0)


@pytest.mark.slow
def test_a_bucket_never_gives_more_than_it_held_and_got(core: Core, where: str, crew: Crew) -> None:
    key = keys.create(core.store, limits={"rate": 2, "burst": 30})
    answers = crew.together(do="many", where=where, tokens=[key.token], kind="recall", calls=100)
    seconds = max(each["ended"] for each in answers) - min(each["began"] for each in answers)
    assert 30 <= total(answers, "passed") <= 30 + 2 * seconds
    assert total(answers, "refused") > 0


@pytest.mark.slow
def test_no_more_memories_stand_than_may(core: Core, where: str, crew: Crew) -> None:
    key = keys.create(core.store, limits={"memories": 137})
    answers = crew.together(do="many", where=where, tokens=[key.token], kind="remember", calls=50)
    assert (total(answers, "passed"), total(answers, "refused")) == (137, 200 - 137)
    assert LocalBook(core, "default").stats().memories == 137


@pytest.mark.slow
def test_no_more_bytes_stand_in_a_namespace_than_may(core: Core, where: str, crew: Crew) -> None:
    # As JSON each value has 1,000 bytes: 137 fit, and half of another.
    key = keys.create(core.store, limits={"namespace_bytes": 137_500})
    answers = crew.together(do="many", where=where, tokens=[key.token], kind="put", value="x" * 998, calls=50)
    assert (total(answers, "passed"), total(answers, "refused")) == (137, 200 - 137)
    assert used(core, key.key.id, "namespace_bytes") == 137_000


def test_keys_that_meet_in_several_spaces_keep_one_count_each(core: Core, where: str, crew: Crew) -> None:
    # Callers of one process and space share a commit: those of two spaces hold the counts of both keys crosswise.
    both = [keys.create(core.store, spaces=["a", "b"], limits={"operations_month": 37}) for _ in range(2)]
    for worker in crew.workers:
        worker.ask(do="open", where=where)
    for me, worker in enumerate(crew.workers):
        tokens = [key.token for key in (both if me < 2 else both[::-1])]
        worker.say(do="many", me=me, tokens=tokens, kind="put", space="ab"[me % 2], calls=50)
    answers = [worker.hear() for worker in crew.workers]
    for worker in crew.workers:
        worker.ask(do="close")
    assert total(answers, "passed") == 2 * 37
    assert [used(core, key.key.id, "operations_month") for key in both] == [37, 37]


def test_a_revoked_key_is_refused_at_once_by_other_processes(core: Core, where: str, crew: Crew) -> None:
    key = keys.create(core.store)
    worker = crew.workers[0]
    worker.ask(do="open", where=where)
    assert worker.ask(do="admit", token=key.token) == "let in"
    keys.revoke(core.store, key.key.id)
    assert "revoked" in worker.ask(do="admit", token=key.token)
    worker.ask(do="close")


def test_a_key_that_is_made_while_a_server_is_open_closes_it(core: Core, where: str, crew: Crew) -> None:
    worker = crew.workers[0]
    worker.ask(do="open", where=where)
    assert worker.ask(do="admit", token=None) == "let in"
    key = keys.create(core.store)
    assert "needs a key" in worker.ask(do="admit", token=None)
    keys.revoke(core.store, key.key.id)
    assert "needs a key" in worker.ask(do="admit", token=None)
    worker.ask(do="close")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["put", "recall"])
def test_who_is_killed_has_paid_for_what_was_answered_and_no_more(core: Core, where: str, kind: str) -> None:
    key = keys.create(core.store, limits={"operations_month": 1_000_000})
    worker = Worker()
    worker.ask(do="open", where=where)
    worker.say(do="one by one", me=0, tokens=[key.token], kind=kind)
    answered = 0
    while answered < 40:
        answered = worker.hear()
    os.kill(worker.process.pid, signal.SIGKILL)
    assert worker.process.stdout is not None
    answered += len(worker.process.stdout.read().splitlines())
    worker.close()
    # A server of PostgreSQL may still be at the last one: what comes next takes its turn behind it.
    put(door_of(core), keys.create(core.store).token, "after")
    core.store.write(lambda tx: None, rows.lane(key.key.id))
    charged = used(core, key.key.id, "operations_month")
    assert charged in (answered, answered + 1)
    if kind == "put":
        assert len(LocalBook(core, "default").kv(NAMESPACE).keys()) == charged + 1
