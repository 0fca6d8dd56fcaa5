"""A book copied between two stores is the same book, even if the copy is interrupted and repeated."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import psycopg
import pytest

import commonplace
from commonplace import Book, Draft, NotFound, Scope
from commonplace.location import compare, copy, open_store
from commonplace.settings import Settings
from commonplace.store.base import Store
from commonplace.store.tables import files as file_table
from commonplace.store.tables import table, versions
from commonplace.testing import HashEmbedder
from commonplace.transfer.copy import Copied
from tests.support.postgres import SCHEMAS, server, with_options

pytestmark = pytest.mark.slow

Places = Callable[[str], str]
ENGINES: dict[str, Callable[[Path], Places]] = {
    "sqlite": lambda directory: lambda name: str(directory / f"{name}.db"),
    "postgres": lambda directory: lambda name: SCHEMAS.url(directory / name),
}
"""How each engine is given a place for a new book."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ends, and how a third one is made."""

    source: str
    target: str
    engines: tuple[str, str]


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """Two files, unless a test asks for more."""
    source, target = getattr(request, "param", ("sqlite", "sqlite"))
    yield Pair(ENGINES[source](tmp_path)("source"), ENGINES[target](tmp_path)("target"), (source, target))
    SCHEMAS.release()


EVERY_PAIR = pytest.mark.parametrize(
    "pair", [(a, b) for a in ENGINES for b in ENGINES], ids=lambda pair: f"{pair[0]} to {pair[1]}", indirect=True
)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of three, so that a small book has many."""
    monkeypatch.setattr(table, "MOST_ROWS", 3)
    monkeypatch.setattr(versions, "MOST_ROWS", 3)


def opened(where: str, space: str = "default", embedder: HashEmbedder | None = None) -> Book:
    return commonplace.open(where, space=space, embedder=embedder or HashEmbedder())


def fill(where: str) -> None:
    """A book with a little of everything, in three spaces."""
    with opened(where) as book:
        first = book.remember("We deploy on Fridays", kind="decision", tags=["ops", "déjà"], id="deploy")
        book.remember("We deploy on Mondays", supersedes=[first.id], reason="weekend incidents", source="marta")
        for number in range(4):
            book.revise("deploy", f"We deployed on Fridays, note {number}", importance=number / 4)
        book.remember(b"\x89PNG\0\xff", text="a drawing of a lighthouse", mime="image/png", id="image")
        book.remember({"service": "billing", "owner": "Zoë"}, metadata={"n": [1, {"x": None}]}, id="json")
        book.remember("# Title\n\nMarkdown, and a NUL-free text: ‽", mime="text/markdown")
        book.remember(
            Draft(content="With a vector of its own", vector=[1.0] + [0.5] * 63, scope=Scope(user="u", agent="a"))
        )
        book.remember(
            [
                Draft(content=f"Fact {i} of many", said_at=datetime(2026, 5, 4, i, tzinfo=timezone.utc))
                for i in range(20)
            ]
        )
        book.remember("Gone soon", ttl=0.01, id="expired")  # last: a later one would sweep it away
        book.feedback("deploy", "used")
        book.feedback("image", "wrong")
        state = book.kv("release")
        state.set("plan", {"step": 1})
        state.set("plan", {"step": 2})
        state.set("gone", "soon")
        state.delete("gone")
        state.set("lease", 1, ttl=0.01)
        canvas = book.canvas("design")
        for number in range(3):
            canvas.write("notes.md", f"Goal {number}\n", author="ann")
        canvas.write("old.md", "Old\n")
        canvas.delete("old.md")
        chat = book.transcript("standup")
        for number in range(5):
            chat.append(f"Message {number}", role="user", name="maria", metadata={"n": number})
        book.in_space("ops").remember("Another space", id="deploy")
        book.in_space("state only").kv("n").set("k", [1, 2])
    time.sleep(0.02)  # past the times to live


def exported(where: str, space: str = "default") -> list[dict[str, Any]]:
    """Every record of a space, vectors too, but for the time of the export."""
    with opened(where, space) as book:
        return list(book.export(vectors=True))[1:]


def sweep(*places: str) -> None:
    """Have the books remove what has expired, as any later write does in its own time."""
    for where in places:
        with opened(where) as book:
            book.forget(filter={"expires_at": {"$lt": datetime.now(timezone.utc)}})


def ended(where: str) -> list[Any]:
    """When each version ended, which no export says."""
    store = open_store(where, Settings())
    try:
        sql = "SELECT s.name, m.id, m.version, m.ended_at FROM memory m JOIN space s ON s.number = m.space"
        return sorted(store.read(lambda tx: tx.run(sql), None))
    finally:
        store.close()


def assert_same(pair: Pair) -> None:
    for space in ("default", "ops", "state only"):
        assert exported(pair.target, space) == exported(pair.source, space)
    assert ended(pair.target) == ended(pair.source)
    with opened(pair.target) as book:
        assert book.check(deep=True).problems == ()
        assert book.recall("when do we deploy?").hits[0].memory.content == "We deploy on Mondays"


def written(done: Copied) -> int:
    return sum(part.copied for part in done.parts)


def change(where: str, sql: str) -> None:
    """Change a SQLite book behind its back."""
    connection = apsw.Connection(where)
    connection.execute(sql)
    connection.close()


# -- the whole book ------------------------------------------------------------------------------------


@EVERY_PAIR
def test_a_copy_holds_all_that_the_source_holds(pair: Pair) -> None:
    fill(pair.source)
    done = copy(pair.source, pair.target)
    assert (done.ok, done.problems) == (True, ())
    assert [part.checksum for part in done.parts] == [part.found for part in done.parts]
    counted = {(part.space, part.part): part.records for part in done.parts}
    assert counted["default", "memories"] == 27
    assert counted["default", "feedback"] == 2
    assert counted["default", "entries"] == 3
    assert counted["default", "files"] == 5
    assert counted["default", "messages"] == 5
    assert counted["state only", "entries"] == 1
    assert_same(pair)


def test_a_copy_in_small_pages_is_the_same(pair: Pair, small_pages: None) -> None:
    fill(pair.source)
    assert copy(pair.source, pair.target).ok
    assert_same(pair)


def test_large_contents_make_short_pages(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_BYTES", 100)
    with opened(pair.source) as book:
        book.remember([Draft(content=bytes(90), text=f"blob {i}", id=f"b{i}") for i in range(5)])
        book.canvas("c").write("a", "x" * 90)
        book.canvas("c").write("b", "x" * 90)
    store = open_store(pair.source, Settings())
    try:
        memories = store.read(lambda tx: versions.MEMORIES.page(tx, 2, versions.MEMORIES.start), 2)
        files = store.read(lambda tx: file_table.FILES.page(tx, 2, file_table.FILES.start), 2)
    finally:
        store.close()
    assert (len(memories), len(files)) == (2, 2)
    assert copy(pair.source, pair.target).ok
    assert exported(pair.target) == exported(pair.source)


@EVERY_PAIR
def test_a_second_copy_writes_nothing(pair: Pair) -> None:
    fill(pair.source)
    first = copy(pair.source, pair.target)
    again = copy(pair.source, pair.target)
    assert written(first) == sum(part.records for part in first.parts)
    assert (written(again), again.ok) == (0, True)
    assert [part.checksum for part in again.parts] == [part.checksum for part in first.parts]


def test_what_waits_to_be_learned_is_copied_and_learned_once(pair: Pair) -> None:
    said = [{"content": "I prefer TypeScript.", "name": "Sarah"}]
    with opened(pair.source) as book:
        book.learn(said, session="s", every=9, idle=9999)
    for _ in range(2):
        copy(pair.source, pair.target)
        with opened(pair.target) as book:
            assert len(book.jobs()) == 1
    with opened(pair.source) as book:
        book.work(hurry=True)
    copy(pair.source, pair.target)
    with opened(pair.target) as book:
        assert (book.jobs(), [memory.text for memory in book.list(kinds=["preference"])]) == (
            [], ["I prefer TypeScript."]
        )  # fmt: skip


def test_open_stores_can_be_copied_and_stay_open(pair: Pair) -> None:
    fill(pair.source)
    source, target = open_store(pair.source, Settings()), open_store(pair.target, Settings())
    assert copy(source, target).ok
    assert compare(source, target).ok
    source.close()
    target.close()
    assert_same(pair)


def test_one_space_can_be_copied_alone(pair: Pair) -> None:
    fill(pair.source)
    done = copy(pair.source, pair.target, names=["ops"])
    assert {part.space for part in done.parts} == {"ops"}
    assert exported(pair.target, "ops") == exported(pair.source, "ops")
    assert exported(pair.target) == []


def test_an_unknown_space_is_refused(pair: Pair) -> None:
    fill(pair.source)
    with pytest.raises(commonplace.NotFound, match=r"no space 'opps'; it has: default, ops, state only"):
        copy(pair.source, pair.target, names=["opps"])


def test_a_missing_source_is_not_made(pair: Pair, tmp_path: Path) -> None:
    with pytest.raises(commonplace.NotFound, match="no book"):
        copy(tmp_path / "mistyped.db", pair.target)
    assert not (tmp_path / "mistyped.db").exists()


def test_a_book_is_not_copied_onto_itself(pair: Pair) -> None:
    fill(pair.source)
    with pytest.raises(commonplace.InvalidInput, match="onto itself"):
        copy(pair.source, pair.source)


def test_a_book_without_memories_is_copied_without_an_embedder(pair: Pair) -> None:
    with opened(pair.source) as book:
        book.kv("n").set("k", 1)
    assert copy(pair.source, pair.target).ok
    with opened(pair.target, embedder=HashEmbedder(name="another")) as book:
        assert book.kv("n").get("k") == 1
        book.remember("The target is still free to choose")


def test_a_source_that_gets_its_first_memory_meanwhile_stops_the_copy(pair: Pair) -> None:
    with opened(pair.source) as book:
        book.kv("n").set("k", 1)

        def interfere(done: int, total: int) -> None:
            if done == 0:
                book.remember("The first one")

        with pytest.raises(commonplace.EmbedderMismatch, match="run the copy again"):
            copy(pair.source, pair.target, progress=interfere)
    assert copy(pair.source, pair.target).ok
    assert exported(pair.target) == exported(pair.source)


def test_progress_ends_where_it_said_it_would(pair: Pair) -> None:
    fill(pair.source)
    steps: list[tuple[int, int]] = []
    copy(pair.source, pair.target, progress=lambda done, total: steps.append((done, total)))
    assert steps[0][0] == 0
    assert steps[-1][0] == steps[-1][1] > 0
    assert steps == sorted(steps)


# -- again, after the source changed -------------------------------------------------------------------


def go_on(where: str) -> None:
    """Change a little of everything, without forgetting anything but what has expired."""
    with opened(where) as book:
        book.revise("image", importance=0.9)
        book.revise("image", importance=0.1)
        book.remember("Newly remembered")
        book.feedback("deploy", "ignored")
        book.feedback("json", "used")
        book.kv("release").set("plan", {"step": 3})
        book.kv("release").set("new", 1)
        book.canvas("design").write("notes.md", "Goal 4\n")
        book.transcript("standup").append("One more", role="assistant")


@EVERY_PAIR
def test_what_changed_in_the_source_is_fetched_by_the_next_copy(pair: Pair) -> None:
    fill(pair.source)
    copy(pair.source, pair.target)
    go_on(pair.source)
    done = copy(pair.source, pair.target)
    counts = {part.part: part.copied for part in done.parts if part.space == "default"}
    # Setting an entry sweeps the expired one away, which is a change, too.
    assert counts == {"memories": 2, "feedback": 2, "links": 0, "entries": 3, "files": 1, "messages": 1, "receipts": 0}
    assert done.ok
    sweep(pair.target)
    assert_same(pair)


def test_an_open_target_finds_what_arrives(pair: Pair) -> None:
    fill(pair.source)
    copy(pair.source, pair.target)
    with opened(pair.target) as book:
        assert not book.recall("submarine")
        with opened(pair.source) as other:
            other.remember("The submarine is yellow")
            other.revise("image", text="a drawing of a submarine cable")
        copy(pair.source, pair.target)
        assert {hit.memory.text for hit in book.recall("submarine")} == {
            "The submarine is yellow",
            "a drawing of a submarine cable",
        }


def test_what_the_source_forgot_stays_and_is_reported_as_extra(pair: Pair) -> None:
    fill(pair.source)
    copy(pair.source, pair.target)
    before = exported(pair.target)
    with opened(pair.source) as book:
        book.forget(["image", "json"])
        book.canvas("design").forget("old.md")
        book.transcript("standup").forget()
    done = copy(pair.source, pair.target)
    extra = {part.part: part.extra for part in done.parts if part.space == "default"}
    assert extra == {"memories": 2, "feedback": 1, "links": 0, "entries": 0, "files": 2, "messages": 5, "receipts": 0}
    assert (done.ok, written(done)) == (True, 0)
    assert exported(pair.target) == before


@EVERY_PAIR
def test_a_mirror_forgets_what_the_source_forgot(pair: Pair, small_pages: None) -> None:
    fill(pair.source)
    copy(pair.source, pair.target)
    with opened(pair.target) as book:
        book.remember("Only here", id="only here")
        book.in_space("elsewhere").remember("A space of the target alone")
    with opened(pair.source) as book:
        book.forget(["image", "json"])
        book.forget("deploy")
        book.remember("Another memory under the same id", id="deploy")
        book.canvas("design").forget("notes.md")
        book.canvas("design").write("notes.md", "Begun anew\n")
        book.transcript("standup").forget()
    done = copy(pair.source, pair.target, mirror=True)
    assert done.ok
    assert sum(part.extra for part in done.parts) == 0
    removed = {part.part: part.removed for part in done.parts if part.space == "default"}
    # What was forgotten takes its feedback and links with it; those of the memory under an old id go by themselves.
    assert removed == {"memories": 3, "feedback": 1, "links": 1, "entries": 0, "files": 2, "messages": 5, "receipts": 0}
    for space in ("default", "ops"):
        assert exported(pair.target, space) == exported(pair.source, space)
    assert len(exported(pair.target, "elsewhere")) == 1
    with opened(pair.target) as book:
        assert book.check(deep=True).ok


def test_what_is_further_on_in_the_target_is_left_alone(pair: Pair) -> None:
    fill(pair.source)
    copy(pair.source, pair.target)
    go_on(pair.target)
    sweep(pair.source)
    before = exported(pair.target)
    done = copy(pair.source, pair.target)
    kept = {part.part: part.kept for part in done.parts if part.space == "default"}
    assert kept == {"memories": 1, "feedback": 1, "links": 0, "entries": 2, "files": 0, "messages": 0, "receipts": 0}
    assert (done.ok, written(done)) == (True, 0)
    assert exported(pair.target) == before
    assert copy(pair.source, pair.target, mirror=True).ok
    assert_same(pair)


# -- quarrels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "what"),
    [
        (lambda book, text: book.remember(text, id="x"), "another memory with id 'x'"),
        (lambda book, text: book.kv("n").set("k", text), "n/k"),
        (lambda book, text: book.canvas("c").write("f", text), "c/f/1"),
        (lambda book, text: book.transcript("s").append(text), "s/1"),
    ],
    ids=["memory", "entry", "file", "message"],
)
def test_something_else_under_the_same_key_is_a_conflict(pair: Pair, write: Any, what: str) -> None:
    for where in (pair.source, pair.target):
        with opened(where, "ops") as book:
            write(book, where)
    before = exported(pair.target, "ops")
    with pytest.raises(commonplace.Conflict, match=r"target.*space 'ops'.*" + what + r".*--mirror"):
        copy(pair.source, pair.target)
    assert exported(pair.target, "ops") == before
    assert copy(pair.source, pair.target, mirror=True).ok
    assert exported(pair.target, "ops") == exported(pair.source, "ops")


@pytest.mark.parametrize("other", [HashEmbedder(name="other"), HashEmbedder(version="2"), HashEmbedder(dimension=32)])
def test_vectors_of_another_embedder_are_not_mixed_in(pair: Pair, other: HashEmbedder) -> None:
    fill(pair.source)
    with opened(pair.target, embedder=other) as book:
        book.remember("Vectors of another make")
    with pytest.raises(commonplace.EmbedderMismatch, match=r"source\S* was written with embedder hash 1 \(64.*reindex"):
        copy(pair.source, pair.target)
    with opened(pair.target, embedder=other) as book:
        assert book.stats().memories == 1


def test_an_empty_target_takes_over_the_embedder(pair: Pair) -> None:
    fill(pair.source)
    commonplace.reindex(pair.source, embedder=HashEmbedder(version="2"))
    copy(pair.source, pair.target)
    with pytest.raises(commonplace.EmbedderMismatch, match="hash 2"):
        opened(pair.target)
    with opened(pair.target, embedder=HashEmbedder(version="2")) as book:
        assert book.recall("when do we deploy?")


@pytest.mark.parametrize(("ours", "theirs"), [(2, 0), (0, 2)], ids=["a newer source", "an older source"])
@EVERY_PAIR
def test_generations_of_one_embedder_agree(pair: Pair, ours: int, theirs: int) -> None:
    fill(pair.source)
    copy(pair.source, pair.target)
    for where, times in ((pair.source, ours), (pair.target, theirs)):
        for _ in range(times):
            commonplace.reindex(where, embedder=HashEmbedder())
    with opened(pair.target) as book:
        book.recall("when do we deploy?")
        done = copy(pair.source, pair.target)
        # The memory with a given vector lost it in one of the two, and now has the source's.
        assert {part.part: part.copied for part in done.parts if part.space == "default"} == {
            "memories": 1, "feedback": 0, "links": 0, "entries": 0, "files": 0, "messages": 0, "receipts": 0,
        }  # fmt: skip
        book.remember("An open book goes on after the copy")
        book.forget(filter={"text": "An open book goes on after the copy"})
    sweep(pair.source)
    assert_same(pair)


@EVERY_PAIR
def test_a_source_that_is_re_embedded_meanwhile_stops_the_copy(pair: Pair, small_pages: None) -> None:
    fill(pair.source)

    def interfere(done: int, total: int) -> None:
        if done == 6:
            commonplace.reindex(pair.source, embedder=HashEmbedder())

    with pytest.raises(commonplace.EmbedderMismatch, match="run the copy again"):
        copy(pair.source, pair.target, progress=interfere)
    assert copy(pair.source, pair.target).ok
    assert_same(pair)


# -- verification --------------------------------------------------------------------------------------

TAMPERING = {
    "memories": "UPDATE memory SET text = 'changed' WHERE id = 'json'",
    "feedback": "UPDATE feedback SET used = 9 WHERE id = 'deploy'",
    "entries": "UPDATE entry SET value = '9' WHERE key = 'plan'",
    "files": "UPDATE file SET content = 'changed' WHERE revision = 2 AND path = 'notes.md'",
    "messages": "UPDATE message SET content = '\"changed\"' WHERE number = 2",
}


@pytest.mark.parametrize("part", TAMPERING)
def test_a_comparison_finds_what_was_tampered_with(pair: Pair, part: str) -> None:
    if pair.engines[1] != "sqlite":
        pytest.skip("tampers with a SQLite file")
    fill(pair.source)
    copy(pair.source, pair.target)
    assert compare(pair.source, pair.target).ok
    change(pair.target, TAMPERING[part])
    found = compare(pair.source, pair.target)
    (problem,) = found.problems
    assert f"space 'default', {part}:" in problem
    assert "0 are missing in the target and 1 differ (" in problem


class Meddled:
    """A store whose first write of memories is followed by another writer's."""

    def __init__(self, store: Store, meddle: Callable[[], None], after: int) -> None:
        self._store, self._meddle, self._left = store, meddle, after

    def write(self, work: Callable[[Any], Any], space: int | None) -> Any:
        result = self._store.write(work, space)
        self._left -= 1
        if self._left == 0:
            self._meddle()
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        (TAMPERING["memories"], "0 are missing in the target and 1 differ (json)"),
        ("UPDATE trace SET vector = zeroblob(128) WHERE vector IS NOT NULL", "27 differ"),
        ("UPDATE memory SET ended_at = ended_at + 1 WHERE version = 2", "1 differ (deploy)"),
        ("DELETE FROM memory WHERE id = 'image'", "1 are missing"),
        ("DELETE FROM trace WHERE space <> 1", "0 are missing in the target and 27 differ"),
    ],
    ids=["text", "vectors", "end of a version", "lost", "lost traces"],
)
def test_the_copy_reads_back_what_arrived(pair: Pair, sql: str, complaint: str) -> None:
    if pair.engines[1] != "sqlite":
        pytest.skip("tampers with a SQLite file")
    fill(pair.source)
    target = open_store(pair.target, Settings())
    # The writes are: the identity, the space, the memories.
    meddled: Any = Meddled(target, lambda: change(pair.target, sql), after=3)
    done = copy(pair.source, meddled)
    target.close()
    assert not done.ok
    assert complaint in done.problems[0]
    assert done.problems[0].startswith("space 'default', memories: of 27 in the source")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE trace SET vector = zeroblob(128) WHERE vector IS NOT NULL",
        "DELETE FROM trace WHERE seq IN (SELECT seq FROM memory WHERE id IN ('image', 'deploy'))",
        "UPDATE memory SET ended_at = ended_at + 1 WHERE version = 2",
    ],
    ids=["vectors", "lost traces", "end of a version"],
)
def test_a_damaged_index_in_the_target_is_mended_by_the_next_copy(pair: Pair, sql: str) -> None:
    if pair.engines[1] != "sqlite":
        pytest.skip("tampers with a SQLite file")
    fill(pair.source)
    copy(pair.source, pair.target)
    change(pair.target, sql + (" AND space <> 1" if "trace" in sql else ""))
    assert copy(pair.source, pair.target).ok
    assert_same(pair)


def test_a_damaged_source_is_not_copied_in_part(pair: Pair, small_pages: None) -> None:
    if pair.engines[0] != "sqlite":
        pytest.skip("tampers with a SQLite file")
    fill(pair.source)
    change(pair.source, "DELETE FROM trace WHERE seq IN (SELECT seq FROM memory WHERE id = 'image')")
    with pytest.raises(commonplace.StoreCorrupt, match=r"'image' in .* has lost its vector"):
        copy(pair.source, pair.target)


def test_a_memory_that_lost_its_trace_in_the_target_gets_its_new_versions(pair: Pair) -> None:
    if pair.engines[1] != "sqlite":
        pytest.skip("tampers with a SQLite file")
    fill(pair.source)
    copy(pair.source, pair.target)
    change(pair.target, "DELETE FROM trace WHERE seq IN (SELECT seq FROM memory WHERE id = 'deploy' AND version = 2)")
    with opened(pair.source) as book:
        book.revise("deploy", "We deployed on Fridays, long ago")
    assert copy(pair.source, pair.target).ok
    assert_same(pair)


# -- while others write, and when it is killed ---------------------------------------------------------


@EVERY_PAIR
def test_a_copy_of_a_book_in_use_holds_whole_memories(pair: Pair, small_pages: None) -> None:
    fill(pair.source)
    sweep(pair.source)  # else the writer does, before or after the first copy
    stop = threading.Event()

    def write() -> None:
        with opened(pair.source) as book:
            # Slower than small pages are copied: a copy that had to catch up would end only when this does.
            for number in range(10_000):
                if stop.wait(0.01):
                    return
                fresh = book.remember(f"Written meanwhile {number}", tags=["meanwhile"])
                book.revise(fresh.id, f"Revised meanwhile {number}")
                book.feedback(fresh.id, "used")
                book.kv("live").set("number", number)
                book.transcript("live").append(f"Said meanwhile {number}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            assert copy(pair.source, pair.target).problems == ()
    finally:
        stop.set()
        writer.join()
    with opened(pair.target) as book:
        assert book.check(deep=True).ok
    assert copy(pair.source, pair.target).ok
    assert_same(pair)


# Each line that it reads makes a process that copies; what takes long, its imports, is done once for all. The process
# dies so many calls of functions after it came to a place, wherever that is: no clock says when.
KILLED = """
import os, signal, sys
import commonplace.store.postgres.store, commonplace.store.sqlite.store
from commonplace.location import copy
from commonplace.store.tables import table, versions
table.MOST_ROWS = versions.MOST_ROWS = 7

def count(frame, event, argument):
    global left
    left -= event == "call"
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

def reached(place):
    if place == deadly:
        sys.setprofile(count)

for line in sys.stdin:
    deadly, left = line.split()[0], int(line.split()[1])
    copier = os.fork()
    if not copier:
        reached("ready")
        copy(sys.argv[1], sys.argv[2], progress=lambda done, total: reached("begun" if done == 0 else "going"))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(copier, 0)[1]), flush=True)
"""


@EVERY_PAIR
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process unasked")
def test_a_copy_that_is_killed_goes_on_where_it_stopped(pair: Pair) -> None:
    fill(pair.source)
    with opened(pair.source) as book:
        for batch in range(10):
            book.remember([f"Memory {batch} {i}" for i in range(50)])
            book.revise("deploy", f"We deployed {batch} times")
    chance, killed = random.Random(7), 0
    with copiers(pair) as copier:
        for attempt in range(9):
            # Some die while they open and bind the two ends, most while they copy, all of a sudden.
            place, calls = ("ready", "begun", "going")[attempt % 3], chance.randrange(30_000)
            end = copier(f"{place} {calls}")
            assert end in (0, -signal.SIGKILL)
            killed += end != 0
            with opened(pair.target) as book:
                assert book.check(deep=True).problems == ()
    assert killed >= 3
    done = copy(pair.source, pair.target)
    assert done.ok
    assert written(done) < sum(part.records for part in done.parts)
    assert_same(pair)


@contextmanager
def copiers(pair: Pair) -> Iterator[Callable[[str], int]]:
    """A function that copies in a separate process, and returns its exit status."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, pair.source, pair.target],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        told, said = running.stdin, running.stdout
        assert told is not None
        assert said is not None

        def copied(line: str) -> int:
            print(line, file=told, flush=True)
            return int(said.readline())

        yield copied


class Interrupted(Exception):
    """Stops a copy from inside."""


def test_a_copy_can_stop_after_every_page(pair: Pair, small_pages: None) -> None:
    fill(pair.source)
    stops = 0

    def stop_at(most: int) -> Callable[[int, int], None]:
        def progress(done: int, total: int) -> None:
            if done > most:
                raise Interrupted

        return progress

    for most in range(0, 400, 3):
        try:
            done = copy(pair.source, pair.target, progress=stop_at(most))
            break
        except Interrupted:
            stops += 1
    assert stops > 20
    assert done.ok
    assert_same(pair)


def test_a_copy_from_nowhere_in_postgres_makes_no_book_there(tmp_path: Path) -> None:
    url = SCHEMAS.url(tmp_path / "source")
    with opened(url) as book:
        book.remember("The lamp burns")
    nowhere = with_options(server().url, schema="mistyped")
    with pytest.raises(NotFound, match="no book"):
        copy(nowhere, tmp_path / "copy.db")
    with pytest.raises(NotFound, match="no book"):
        compare(url, nowhere)
    with psycopg.connect(server().url) as connection:
        assert not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'mistyped'").fetchall()
    assert not (tmp_path / "copy.db").exists()
    SCHEMAS.release()


# -- export and load --------------------------------------------------------------------------------------


def test_exported_vectors_come_back_to_the_bit(tmp_path: Path) -> None:
    rows = np.random.default_rng(5).standard_normal((100, 64))
    with opened(str(tmp_path / "one.db")) as one, opened(str(tmp_path / "two.db")) as two:
        one.remember([Draft(content=f"m {i}", vector=row, scope=Scope(user="u")) for i, row in enumerate(rows)])
        told = list(one.export(vectors=True))
        two.load(told)
        again = list(two.export(vectors=True))
        assert [record.get("vector") for record in told] == [record.get("vector") for record in again]
