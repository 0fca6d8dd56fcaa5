"""Revise, supersede, history: nothing is overwritten, and every handle sees the current version."""

from __future__ import annotations

import dataclasses
import time
from datetime import timedelta

import pytest
from commonplace.testing.contract.harness import TTL, Harness, Shelf, all_of, each, found, ids, moment, wrong
from commonplace.testing.contract.memories import PNG, unit

from commonplace.book import Book
from commonplace.errors import Conflict, DimensionMismatch, InvalidInput, InvalidText, NotFound, TooLarge
from commonplace.values import MARKDOWN, Draft, Scope

CHANGES: dict[str, object] = {
    "kind": "fact",
    "tags": ("c",),
    "metadata": {"y": 2},
    "importance": 0.9,
    "source": "letter",
    "said_at": moment(50),
    "text": "shown",
    "mime": MARKDOWN,
}


class RevisionConformance(Harness):
    """`revise`, `history`, `get(version=)`, `supersedes`."""

    def test_a_memory_is_superseded_once(self, book: Book) -> None:
        first = book.remember("We deploy on Fridays")
        second = book.remember("We deploy on Mondays", supersedes=[first.id])
        with pytest.raises(Conflict, match=second.id):
            book.remember("We deploy on Tuesdays", supersedes=[first.id])
        assert [memory.id for memory in book.list()] == [second.id]

    def test_a_revision_that_changes_nothing_is_refused(self, book: Book) -> None:
        memory = book.remember("as it is")
        with pytest.raises(InvalidInput, match="nothing to revise"):
            book.revise(memory.id, reason="no reason")
        assert book.get(memory.id).version == 1

    def test_a_revision_keeps_the_old_version(self, shelf: Shelf) -> None:
        book = shelf.open()
        first = book.remember("The harbour closes at nine", id="h", reason="told so")
        second = book.revise("h", "The harbour closes at ten", reason="summer")
        third = book.revise("h", importance=0.9)
        assert [first.version, second.version, third.version] == [1, 2, 3]
        for view in shelf.now_and_reopened(book):
            assert [view.get("h", version=n) for n in (1, 2, 3)] == [first, second, third]
            assert view.get("h") == third
            history = view.history("h")
            assert [step.memory for step in history] == [first, second, third]
            assert [step.action for step in history] == ["remembered", "revised", "revised"]
            assert [step.reason for step in history] == ["told so", "summer", None]
            assert [step.at for step in history] == [step.memory.updated_at for step in history]

    @each("field", CHANGES)
    def test_what_is_not_named_stays(self, book: Book, field: str) -> None:
        before = book.remember(
            "content", id="m", kind="decision", tags=["a", "b"], metadata={"x": 1}, importance=0.3,
            scope=Scope(user="ada"), source="minutes", said_at=moment(), ttl=3600,
        )  # fmt: skip
        after = book.revise("m", **wrong({field: CHANGES[field]}))
        expected = dataclasses.replace(before, version=2, updated_at=after.updated_at, **wrong({field: CHANGES[field]}))
        assert after == book.get("m") == expected
        assert after.updated_at >= before.updated_at
        assert after.created_at == before.created_at

    def test_a_revision_changes_search_at_once(self, book: Book) -> None:
        book.remember("The anchor is rusty", id="m", tags=["old"])
        book.remember("Nothing to see", id="other")
        assert found(book.recall("anchor rusty"))[0] == "m"
        book.revise("m", "Seagulls nest on the roof", tags=["new"])
        assert found(book.recall("anchor rusty")) == []
        assert found(book.recall("Seagulls nest on the roof"))[0] == "m"
        assert found(book.recall("Seagulls", tags=["old"], threshold=0)) == []
        assert found(book.recall("Seagulls", tags=["new"], threshold=0)) == ["m"]
        assert book.recall("Seagulls nest on the roof").hits[0].memory == book.get("m")

    def test_a_memory_is_recalled_once_however_often_it_was_revised(self, book: Book) -> None:
        book.remember("harbour zero", id="m")
        for i in range(10):
            book.revise("m", f"harbour number{i}")
        assert found(book.recall("harbour", threshold=0)) == ["m"]
        assert (book.stats().memories, book.stats().versions) == (1, 11)

    def test_the_form_of_a_content_may_change(self, book: Book) -> None:
        book.remember("text", id="m")
        assert book.revise("m", {"now": "JSON"}).content == {"now": "JSON"}
        assert book.revise("m", PNG, text="now bytes", mime="image/png").content == PNG
        assert book.revise("m", [1, 2]).content == [1, 2]
        assert book.revise("m", "text again").content == "text again"
        assert [step.memory.content for step in book.history("m")] == [
            "text", {"now": "JSON"}, PNG, [1, 2], "text again",
        ]  # fmt: skip

    def test_new_bytes_need_new_words(self, book: Book) -> None:
        book.remember(PNG, id="m", text="old words")
        with pytest.raises(InvalidInput):
            book.revise("m", PNG + b"more")
        assert book.revise("m", PNG + b"more", text="new words").text == "new words"

    def test_a_markdown_stays_markdown_when_its_text_changes(self, book: Book) -> None:
        book.remember("# One", id="m", mime=MARKDOWN)
        assert book.revise("m", "# Two").mime == MARKDOWN

    def test_a_vector_may_be_revised_alone(self, book: Book) -> None:
        size = book.stats().dimension
        book.remember("one", id="m", vector=unit(size, 0))
        book.remember("two", id="n", vector=unit(size, 1))
        book.revise("m", vector=unit(size, 2))
        assert found(book.recall("x", vector=unit(size, 2), threshold=0))[0] == "m"
        with pytest.raises(DimensionMismatch):
            book.revise("m", vector=[1.0])

    def test_a_vector_of_ones_own_stays_when_other_things_change(self, book: Book) -> None:
        size = book.stats().dimension
        book.remember("one", id="m", vector=unit(size, 0))
        book.remember("two", id="n", vector=unit(size, 1))
        book.revise("m", tags=["t"], importance=0.5)
        assert found(book.recall("x", vector=unit(size, 0), threshold=0))[0] == "m"

    def test_one_of_two_writers_of_a_memory_wins(self, book: Book) -> None:
        book.remember("zero", id="m")
        assert book.revise("m", "one", if_version=1).version == 2
        with pytest.raises(Conflict) as caught:
            book.revise("m", "also one", if_version=1)
        assert caught.value.current == 2
        assert book.get("m").content == "one"
        assert book.revise("m", "two", if_version=caught.value.current).version == 3
        with pytest.raises(Conflict):
            book.revise("m", "three", if_version=0)
        with pytest.raises(Conflict):
            book.revise("m", "three", if_version=4)

    def test_a_refused_revision_changes_nothing(self, book: Book) -> None:
        before = book.remember("harbour", id="m")
        bad: list[tuple[type[Exception], dict[str, object]]] = [
            (InvalidText, {"content": "a\0"}), (InvalidText, {"text": "\ud800"}), (InvalidInput, {"content": 5}),
            (InvalidInput, {"content": None}), (TooLarge, {"content": "x" * 2_000_000}),
            (InvalidInput, {"kind": "rumour"}), (InvalidInput, {"tags": "a"}), (InvalidInput, {"metadata": [1]}),
            (InvalidInput, {"importance": 2}), (InvalidInput, {"ttl": 0}), (InvalidInput, {"said_at": "now"}),
            (InvalidInput, {"if_version": -1}), (InvalidInput, {"if_version": "1"}), (InvalidInput, {"source": ""}),
        ]  # fmt: skip
        for error, change in bad:
            with pytest.raises(error):
                book.revise("m", **wrong(change))
        assert book.get("m") == before
        assert len(book.history("m")) == 1

    def test_what_is_not_there_cannot_be_revised(self, book: Book) -> None:
        for options in ({}, {"if_version": 1}, {"if_version": 0}):
            with pytest.raises(NotFound):
                book.revise("nobody", "x", **wrong(options))
        with pytest.raises(NotFound):
            book.history("nobody")
        with pytest.raises(NotFound):
            book.get("nobody", version=1)

    @each("version", [0, -1, 1.5, True, "1"])
    def test_a_version_is_a_whole_number_from_1(self, book: Book, version: object) -> None:
        book.remember("x", id="x")
        with pytest.raises(InvalidInput):
            book.get("x", version=wrong(version))

    def test_a_time_to_live_may_be_given_and_taken_by_a_revision(self, book: Book) -> None:
        book.remember("the harbour stays", id="stays", ttl=TTL)
        book.remember("the harbour goes", id="goes")
        assert book.revise("stays", ttl=None).expires_at is None
        goes = book.revise("goes", ttl=TTL)
        assert goes.expires_at == goes.updated_at + timedelta(seconds=TTL)
        time.sleep(TTL * 1.5)
        assert ids(book.list()) == ["stays"]
        assert all_of(book) == {"stays"}

    # -- superseding -----------------------------------------------------------------------------

    def test_a_superseded_memory_is_closed_and_points_to_the_new_one(self, shelf: Shelf) -> None:
        book = shelf.open()
        old = book.remember("Ada likes tea", id="tea", said_at=moment())
        new = book.remember("Ada likes coffee", id="coffee", said_at=moment(9), supersedes=["tea"], reason="she said")
        for view in shelf.now_and_reopened(book):
            closed = view.get("tea")
            assert (closed.superseded_by, closed.valid_to, closed.content) == ("coffee", moment(9), old.content)
            assert view.get("tea", version=1) == old
            assert [(s.action, s.reason) for s in view.history("tea")] == [
                ("remembered", None), ("superseded", "she said"),
            ]  # fmt: skip
            assert (view.get("coffee"), new.superseded_by) == (new, None)
            assert ids(view.list()) == ["coffee"]
            assert ids(view.list(superseded=True)) == ["coffee", "tea"]
            assert all_of(view, "Ada likes") == {"coffee"}
            assert view.stats().memories == 1

    def test_a_chain_of_superseding_leaves_only_the_last(self, book: Book) -> None:
        book.remember("v0", id="m0")
        for i in range(1, 6):
            book.remember(f"v{i}", id=f"m{i}", supersedes=[f"m{i - 1}"])
        assert ids(book.list()) == ["m5"]
        assert [book.get(f"m{i}").superseded_by for i in range(6)] == ["m1", "m2", "m3", "m4", "m5", None]

    def test_one_memory_may_supersede_several(self, book: Book) -> None:
        book.remember([Draft(content=f"v{i}", id=f"m{i}") for i in range(3)])
        book.remember("all", id="new", supersedes=["m0", "m1", "m2"])
        assert ids(book.list()) == ["new"]

    def test_superseding_what_is_not_there_leaves_nothing(self, book: Book) -> None:
        book.remember("old", id="old")
        with pytest.raises(NotFound):
            book.remember("new", id="new", supersedes=["old", "nobody"])
        assert ids(book.list()) == ["old"]
        assert book.get("old").superseded_by is None
        assert len(book.history("old")) == 1

    def test_a_memory_cannot_supersede_itself(self, book: Book) -> None:
        with pytest.raises(InvalidInput):
            book.remember("x", id="x", supersedes=["x"])
        assert len(book.list(superseded=True)) == 0

    def test_naming_a_superseded_memory_twice_closes_it_once(self, book: Book) -> None:
        book.remember("old", id="old")
        book.remember("new", id="new", supersedes=["old", "old"])
        assert [step.version for step in book.history("old")] == [1, 2]

    def test_revising_a_superseded_memory_does_not_open_it_again(self, book: Book) -> None:
        book.remember("harbour old", id="old")
        book.remember("harbour new", id="new", supersedes=["old"])
        assert book.revise("old", "harbour older").superseded_by == "new"
        assert ids(book.list()) == ["new"]
        assert all_of(book) == {"new"}
