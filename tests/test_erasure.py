"""An erasure is a job of short transactions that survives a crash; its receipts cannot be changed unnoticed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

import commonplace
from commonplace import Draft, Scope, Settings
from commonplace.location import copy
from commonplace.store.base import Tx
from commonplace.store.tables import links, memories, spaces
from commonplace.testing import HashEmbedder

EMBEDDER = HashEmbedder()
SETTINGS = Settings(durability="normal", backup_days=30)
SARAH = Scope(user="sarah")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


def opened(path: Path) -> commonplace.Book:
    return commonplace.open(path, embedder=EMBEDDER, reader=None, settings=SETTINGS)


def run_sql(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def erase(book: commonplace.Book, user: str) -> commonplace.Receipt:
    receipt = book.forget(user=user).receipt
    assert receipt is not None
    return receipt


# -- the job -------------------------------------------------------------------------------------------


def test_a_long_erasure_is_made_of_short_transactions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    forget = memories.forget

    def counted(tx: Tx, space: int, ids: Sequence[str]) -> None:
        sizes.append(len(ids))
        forget(tx, space, ids)

    with opened(path) as book:
        book.remember([Draft(content=f"note {n}", scope=SARAH) for n in range(450)])
        monkeypatch.setattr(memories, "forget", counted)
        assert book.forget(user="sarah").memories == 450
    assert sum(sizes) == 450
    assert max(sizes) <= 200


def test_large_records_are_removed_one_by_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    forget = memories.forget

    def counted(tx: Tx, space: int, ids: Sequence[str]) -> None:
        sizes.append(len(ids))
        forget(tx, space, ids)

    monkeypatch.setattr(memories, "forget", counted)
    with opened(path) as book:
        book.remember([Draft(content=b"x" * 300_000, text=f"file {n}", scope=SARAH) for n in range(4)])
        book.forget(user="sarah")
    assert sizes == [1, 1, 1, 1]


CRASH = """
import os, sys
import commonplace
from commonplace.store.tables import jobs
from commonplace.testing import HashEmbedder

save, steps = jobs.save, []

def die(*args, **options):
    save(*args, **options)
    steps.append(1)
    if len(steps) == 4:
        os._exit(9)

jobs.save = die
book = commonplace.open(sys.argv[1], embedder=HashEmbedder(), reader=None)
book.forget(user="sarah")
"""


def test_an_erasure_that_was_killed_goes_on_where_it_stopped(path: Path) -> None:
    with opened(path) as book:
        book.remember([Draft(content=f"note {n}", scope=SARAH) for n in range(120)])
        book.kv("prefs").set("tea", True, scope=SARAH)
    assert subprocess.run([sys.executable, "-c", CRASH, str(path)], check=False).returncode == 9
    with opened(path) as book:
        assert 0 < len(book.list(limit=1000)) < 120
        (job,) = book.jobs()
        assert (job.kind, job.state) == ("erase", "running")
        assert book.receipts() == []
    run_sql(path, "UPDATE job SET due_at = 0")  # as if its lease had run out
    with opened(path) as book:
        assert book.work() == 1
        assert book.users() == []
        assert book.jobs() == []
        (receipt,) = book.receipts()
        assert (receipt.counts["memories"], receipt.counts["entries"]) == (120, 1)
        assert book.check(deep=True).ok


def test_a_job_that_waits_to_learn_from_a_person_and_others_keeps_the_others(path: Path) -> None:
    with opened(path) as book:
        said = [{"name": "Sarah", "content": "I prefer tea."}, {"name": "Bob", "content": "I prefer coffee."}]
        book.core.works = False  # type: ignore[attr-defined]
        learned = book.learn(said, session="s")
        book.forget(source="Sarah")
        (job,) = book.jobs()
        assert job.payload["ids"] == [learned.messages[1]]
        book.work()
        assert [memory.source for memory in book.list(kinds=["preference"])] == ["Bob"]


def test_a_memory_learned_from_two_speakers_stays_and_is_listed(path: Path) -> None:
    with opened(path) as book:
        book.learn([{"name": "Sarah", "content": "I prefer tea."}], session="s", wait=True)
        (known,) = book.list(kinds=["preference"])
        bobs = book.remember("Bob said so, too", source="Bob", kind="message")
        (link,) = [each for each in book.links(known.id) if each.relation == "learned from"]
        also = replace(link, other=bobs.id)
        book._store.write(lambda tx: links.put(tx, spaces.number(tx, "default"), [also]), None)  # type: ignore[attr-defined]
        book.revise(known.id, source="both")
        run_sql(path, "UPDATE memory SET source = 'both' WHERE kind = 'preference'")
        foreseen = book.forget(source="Sarah", dry_run=True)
        gone = book.forget(source="Sarah")
        assert {each.place for each in gone.mentions if each.reason == "learned from"} == {known.id}
        assert foreseen.mentions == gone.mentions
        assert book.get(known.id).id == known.id


# -- receipts ------------------------------------------------------------------------------------------


@pytest.fixture
def chain(path: Path) -> Path:
    """A book with three receipts."""
    with opened(path) as book:
        for user in ("ada", "bob", "cid"):
            book.remember(f"about {user}", scope=Scope(user=user))
            erase(book, user)
        assert book.verify_receipts().ok
    return path


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM erasure WHERE number = 2", "missing"),
        ("DELETE FROM erasure WHERE number = 3", "3 were written"),
        ("DELETE FROM erasure", "receipt 3 of"),
        (
            "UPDATE erasure SET body = replace(body, '\"memories\":1', '\"memories\":0') WHERE number = 1",
            "1 was changed",
        ),
        ("UPDATE erasure SET hash = 'x' WHERE number = 3", "changed"),
        ("UPDATE erasure SET settled_at = 5 WHERE number = 1", "settlement"),
        ("UPDATE erasure SET settled_at = NULL, seal = NULL WHERE number = 1", None),
        ("UPDATE erasure SET body = '{' WHERE number = 1", "cannot be read"),
        ("UPDATE erasure SET number = 7 WHERE number = 2", "missing"),
    ],
)
def test_a_receipt_that_was_changed_or_removed_is_noticed(chain: Path, statement: str, problem: str | None) -> None:
    with opened(chain) as book:
        known = book.receipts()
    run_sql(chain, statement)
    with opened(chain) as book:
        problems = book.verify_receipts(known).problems
        assert problems == () if problem is None else problem in " ".join(problems), problems


def test_a_receipt_tells_until_when_backups_are_kept(chain: Path) -> None:
    with opened(chain) as book:
        receipt = book.receipts()[0]
        assert receipt.copies["backups"] is not None
        assert receipt.copies["backups"] > receipt.at.isoformat()


def test_receipts_are_copied_with_the_book_and_the_chain_goes_on(chain: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    assert copy(chain, target).ok
    with opened(chain) as book, opened(target) as other:
        known = book.receipts()
        assert [each.hash for each in other.receipts()] == [each.hash for each in known]
        assert erase(other, "dan").number == 4
        assert other.verify_receipts(known).ok
        book.settle_receipts()
    assert copy(target, chain).ok


def test_chains_that_have_parted_are_not_merged(chain: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "copy.db") as other:
        erase(other, "eve")
        with pytest.raises(commonplace.Conflict, match="another receipt 1"):
            copy(chain, tmp_path / "copy.db")
        assert other.verify_receipts().ok
    assert copy(chain, tmp_path / "copy.db", mirror=True).ok
    with opened(tmp_path / "copy.db") as other:
        assert len(other.receipts()) == 3
        assert other.verify_receipts().ok


def test_forgetting_everything_keeps_the_receipts(chain: Path) -> None:
    with opened(chain) as book:
        book.forget(everything=True)
        assert len(book.receipts()) == 3
        assert book.verify_receipts().ok


def test_a_restored_backup_takes_the_later_receipts_and_erases_again(path: Path) -> None:
    backup = path.with_name("backup.db")
    with opened(path) as book:
        book.remember("about ada", scope=Scope(user="ada"))
        book.remember("about bob", scope=Scope(user="bob"))
        erase(book, "bob")
        book.backup(backup)
        erase(book, "ada")
        known = book.receipts()
    with opened(backup) as restored:
        assert not restored.verify_receipts(known).ok
        assert [user.name for user in restored.users()] == ["ada"]
        assert [each.number for each in restored.erase_again(known)] == [3]
        assert restored.users() == []
        assert restored.verify_receipts(known).ok


def test_the_salted_hash_tells_whose_receipt_it_is(path: Path) -> None:
    from commonplace.memories.receipts import hash_name

    with opened(path) as book:
        first, second = erase(book, "ada"), erase(book, "ada")
    assert first.subject != second.subject
    assert hash_name(first.salt, "user", "ada") == first.subject
    assert hash_name(first.salt, "agent", "ada") != first.subject
