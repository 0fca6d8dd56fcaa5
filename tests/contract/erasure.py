"""Erase: a person and everything that belongs to them is gone, with a receipt that proves it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from commonplace.testing.contract.harness import Harness, Shelf, all_of, each, found, ids, wrong

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.values import Draft, Mention, Receipt, Scope, User

SARAH = Scope(user="sarah", agent="helper", session="sarahs")
MARK = "zanzibar"
PERSONS: list[dict[str, str]] = [{"user": "sarah"}, {"agent": "helper"}, {"session": "sarahs"}, {"source": "Sarah"}]


def fill(book: Book) -> None:
    """Write the mark of one person into every place, and other things beside it."""
    book.remember(f"the harbour {MARK}", id="hers", scope=SARAH, source="Sarah", tags=[MARK], metadata={"m": MARK})
    book.revise("hers", f"the harbour {MARK} again", reason=MARK)
    book.remember("the harbour before", id="old")
    book.remember(f"the harbour after {MARK}", id="new", scope=SARAH, source="Sarah", supersedes=["old"], reason=MARK)
    book.feedback("hers", "used")
    said = [{"content": f"I prefer {MARK} tea to coffee.", "name": "Sarah"}]
    book.learn(said, session="sarahs", scope=Scope(user="sarah", agent="helper"), tags=[MARK], wait=True)
    book.learn(said, session="sarahs", scope=Scope(user="sarah", agent="helper"), tags=[MARK], every=9)
    owner = Scope(user="sarah", agent="helper")
    book.transcript("sarahs").append(f"hello {MARK}", name="Sarah", metadata={"m": MARK}, scope=owner)
    book.kv(MARK).set(MARK, {MARK: MARK}, scope=SARAH)
    book.canvas(MARK).write(f"{MARK}.md", MARK, author="Sarah", scope=SARAH)
    book.canvas(MARK).write(f"{MARK}.md", f"{MARK} twice", author="Sarah")
    book.remember("the harbour of bob", id="bobs", scope=Scope(user="bob"))
    book.kv("team").set("k", "v")
    book.transcript("standup").append("good morning")


def everything(book: Book) -> str:
    """All that a book shows of its contents, as text."""
    exported = [record for record in book.export(vectors=True) if record["type"] != "header"]
    jobs = [job.payload for job in book.jobs()]
    return json.dumps([exported, book.namespaces(), book.canvases(), book.transcripts(), jobs], default=str)


class ErasureConformance(Harness):
    """`forget` of a person, `users`, and the receipts."""

    def test_an_erased_user_is_gone_everywhere(self, shelf: Shelf) -> None:
        book = shelf.open()
        fill(book)
        assert MARK in everything(book)
        gone = book.forget(user="sarah")
        for view in shelf.now_and_reopened(book):
            assert MARK not in everything(view)
            assert all_of(view) == {"bobs"}
            assert all_of(view, MARK) <= {"bobs"}
            assert [revision.reason for revision in view.history("old")] == [None, None]
            assert view.users() == [User(name="bob", memories=1, entries=0, files=0, messages=0)]
            assert view.check(deep=True).ok
        assert gone.receipt is not None
        counts = gone.receipt.counts
        assert (gone.memories, gone.entries, gone.files, gone.messages) == (counts["memories"], 1, 1, 3)
        assert (counts["revisions"], counts["jobs"], counts["feedback"]) == (2, 1, 1)
        assert counts["versions"] > counts["memories"] > 2

    @each("person", PERSONS)
    def test_an_agent_a_session_and_a_source_are_erased_likewise(self, book: Book, person: dict[str, str]) -> None:
        fill(book)
        foreseen = book.forget(**wrong(person), dry_run=True)
        assert "hers" in foreseen.ids
        assert book.get("hers").version == 2
        assert foreseen.receipt is None
        gone = book.forget(**wrong(person))
        assert (gone.memories, gone.entries, gone.files, gone.messages) == (
            foreseen.memories, foreseen.entries, foreseen.files, foreseen.messages,
        )  # fmt: skip
        assert (gone.memories, gone.messages) == (len(foreseen.ids), 3)
        assert gone.ids == ()
        left = everything(book)
        assert "harbour before" in left
        if "source" not in person:  # entries and tags of jobs have no source
            assert MARK not in left
        assert book.forget(**wrong(person)).memories == 0

    def test_what_was_learned_from_a_person_alone_goes_with_them(self, book: Book) -> None:
        book.learn(
            [{"content": "We decided to use Litestar.", "name": "Sarah"}], session="one", scope=Scope(user="sarah"),
            wait=True,
        )  # fmt: skip
        assert any(memory.kind == "decision" for memory in book.list())
        book.forget(user="sarah")
        assert ids(book.list(superseded=True)) == []

    def test_what_others_wrote_is_listed_for_a_decision(self, book: Book) -> None:
        book.remember("Sarah likes tea, bob says", id="named", scope=Scope(user="bob"))
        book.remember("The Sarahan desert", id="other")
        book.kv("birthdays").set("sarah", "in May")
        book.canvas("notes").write("all.md", "thanks to sarah")
        book.transcript("standup").append("where is sarah?", name="Bob")
        book.remember("hers", id="hers", scope=Scope(user="sarah"))
        expected = {
            Mention(part="memory", place="named", reason="named"),
            Mention(part="entry", place="birthdays/sarah", reason="named"),
            Mention(part="file", place="notes/all.md", reason="named"),
            Mention(part="message", place="standup/1", reason="named"),
        }
        assert set(book.forget(user="sarah", dry_run=True).mentions) == expected
        gone = book.forget(user="sarah")
        assert set(gone.mentions) == expected
        assert gone.receipt is not None
        assert gone.receipt.counts["mentions"] == 4
        assert ids(book.list(order="oldest")) == ["named", "other"]

    def test_an_erased_person_may_come_back(self, book: Book) -> None:
        fill(book)
        book.forget(user="sarah")
        book.kv(MARK).set(MARK, "anew", if_version=0)
        assert book.kv(MARK).entry(MARK).scope == Scope()  # type: ignore[union-attr]  # it was just set
        book.remember("the harbour anew", id="hers", scope=SARAH)
        assert book.users()[-1] == User(name="sarah", memories=1, entries=0, files=0, messages=0)

    def test_numbers_of_erased_messages_are_not_used_again(self, book: Book) -> None:
        standup = book.transcript("standup")
        standup.append("one")
        standup.append("two", scope=Scope(user="sarah"))
        standup.append("three", scope=Scope(user="sarah"))
        assert book.forget(user="sarah").messages == 2
        assert [message.number for message in standup.read()] == [1]
        assert standup.append("four").number == 4
        assert [message.number for message in standup.resume(3)] == [4]
        assert [message.content for message in standup.tail(2)] == ["one", "four"]
        again = book.in_space("again")
        again.load(book.export())
        assert [message.content for message in again.transcript("standup").read()] == ["one", "four"]

    def test_entries_files_and_messages_show_and_keep_their_owner(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.kv("n").set("k", [1], scope=SARAH)
        assert book.kv("n").append("k", 2).scope == SARAH
        assert book.kv("n").set("k", 3).scope == SARAH
        book.canvas("c").write("a.md", "one\n", scope=SARAH)
        assert book.canvas("c").write("a.md", "two\n").scope == SARAH
        owner = Scope(user="sarah", agent="helper")
        assert book.transcript("s").extend([{"content": "x"}], scope=owner)[0].scope == owner
        with pytest.raises(InvalidInput):
            book.transcript("s").append("x", scope=SARAH)
        for view in shelf.now_and_reopened(book):
            entry = view.kv("n").entry("k")
            assert entry is not None
            assert entry.scope == view.canvas("c").file("a.md").scope == SARAH
            assert view.transcript("s").read()[0].scope == owner
            assert view.users() == [User(name="sarah", memories=0, entries=1, files=1, messages=1)]
        other = shelf.open("other")
        other.load(shelf.open().export())
        assert other.users() == shelf.open().users()
        shelf.open().kv("n").delete("k")
        assert shelf.open().forget(user="sarah").files == 1
        assert shelf.open().kv("n").set("k", 1).version == 1

    def test_the_export_of_a_user_holds_what_an_erasure_would_remove(self, book: Book) -> None:
        fill(book)
        hers = list(book.export(user="sarah"))
        assert {record["type"] for record in hers} == {
            "header", "memory", "feedback", "link", "entry", "file", "message", "job",
        }  # fmt: skip
        told = json.dumps(hers)
        assert MARK in told
        assert "bob" not in told
        book.forget(user="sarah")
        assert [record["type"] for record in book.export(user="sarah")] == ["header"]
        book.load(hers)
        assert book.get("hers").text == f"the harbour {MARK} again"
        assert book.kv(MARK).get(MARK) == {MARK: MARK}

    @each(
        "options",
        [
            {"user": "sarah", "agent": "helper"}, {"user": "sarah", "id": "m"}, {"user": "sarah", "everything": True},
            {"user": "sarah", "kinds": ["note"]}, {"user": ""}, {"user": "sarah", "scope": Scope(user="sarah")},
        ]
    )  # fmt: skip
    def test_a_person_is_named_in_one_way(self, book: Book, options: dict[str, object]) -> None:
        book.remember("x", id="m", scope=Scope(user="sarah"))
        with pytest.raises(InvalidInput):
            book.forget(**wrong(options))
        assert len(book.list()) == 1

    # -- receipts ------------------------------------------------------------------------------------

    def test_receipts_form_a_chain_without_content(self, shelf: Shelf) -> None:
        book = shelf.open()
        fill(book)
        first, second = book.forget(user="sarah").receipt, book.forget(user="nobody").receipt
        assert first is not None
        assert second is not None
        assert (first.number, second.number, second.previous) == (1, 2, first.hash)
        assert (first.part, first.by, first.copies["backups"]) == ("user", None, None)
        assert not any(word in repr([first, second]) for word in (MARK, "sarah", "nobody", "hers"))
        for view in shelf.now_and_reopened(book):
            assert [each.hash for each in view.receipts()] == [first.hash, second.hash]
            assert view.verify_receipts().ok
            assert view.verify_receipts([first, second]).checked == {"receipts": 2}
        assert shelf.open().in_space("another").receipts() == []

    def test_a_receipt_that_was_changed_or_is_unknown_is_noticed(self, book: Book) -> None:
        known = self._erase(book, "sarah")
        forged = replace(known, counts={**known.counts, "memories": 0})
        assert book.verify_receipts([known]).ok
        assert "changed" in book.verify_receipts([forged]).problems[0]
        other = self._erase(book.in_space("other"), "sarah")
        assert "missing" in book.verify_receipts([other]).problems[0]
        with pytest.raises(InvalidInput):
            book.erase_again([forged])

    def test_settled_receipts_say_when_the_bytes_were_gone(self, book: Book) -> None:
        known = self._erase(book, "sarah")
        (settled,) = book.settle_receipts()
        assert settled.hash == known.hash
        assert settled.settled_at is not None
        assert settled.settled_at >= known.at
        assert book.verify_receipts([known, settled]).ok
        assert book.settle_receipts() == [settled]

    def test_who_came_back_with_a_restore_is_erased_again(self, book: Book) -> None:
        book.remember("the harbour of sarah", scope=Scope(user="sarah"))
        book.remember("the harbour of bob", id="bobs", scope=Scope(user="bob"))
        backup = list(book.export())
        copies = [self._erase(book, "sarah"), self._erase(book, "carol")]
        restored = book.in_space("restored")
        restored.load(backup)
        (again,) = restored.erase_again(copies)
        assert again.counts["memories"] == 1
        assert [user.name for user in restored.users()] == ["bob"]
        assert [each.number for each in restored.receipts()] == [1, 2, 3]
        assert restored.verify_receipts(copies).ok
        assert restored.erase_again(copies) == []
        assert found(restored.recall("harbour", threshold=0)) == ["bobs"]

    def _erase(self, book: Book, user: str) -> Receipt:
        book.remember(Draft(content=f"something of {user}", scope=Scope(user=user)))
        receipt = book.forget(user=user).receipt
        assert receipt is not None
        return receipt
