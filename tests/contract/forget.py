"""Forget: forgotten memories are gone everywhere, permanently."""

from __future__ import annotations

import time

import pytest
from commonplace.testing.contract.harness import TTL, Harness, Shelf, all_of, each, ids, now, wrong

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import Draft, Forgotten, Scope

SELECTORS: dict[str, dict[str, object]] = {
    "kinds": {"kinds": ["fact"]},
    "tags": {"tags": ["t"]},
    "filter": {"filter": {"metadata.n": 1}},
    "scope": {"scope": Scope(user="ada")},
    "all of them": {"kinds": ["fact"], "tags": ["t"], "filter": {"metadata.n": 1}, "scope": Scope(user="ada")},
}


class ForgetConformance(Harness):
    """`forget`."""

    def test_a_forgotten_memory_is_gone_everywhere_and_stays_gone(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.remember("the harbour secret", id="gone", tags=["t"], metadata={"n": 1})
        book.revise("gone", "the harbour secret, revised")
        book.remember("the harbour stays", id="kept")
        then = now()
        book.feedback("gone", "used")
        assert all_of(book) == {"gone", "kept"}
        forgotten = book.forget("gone")
        assert forgotten == Forgotten(ids=("gone",), memories=1, entries=0, files=0, messages=0)
        for view in shelf.now_and_reopened(book):
            for ask in (view.get, view.history, view.forget):
                with pytest.raises(NotFound):
                    ask("gone")
            with pytest.raises(NotFound):
                view.revise("gone", "back again")
            with pytest.raises(NotFound):
                view.get("gone", version=1)
            with pytest.raises(NotFound):
                view.feedback("gone", "used")
            assert ids(view.list(superseded=True)) == ["kept"]
            assert ids(view.list(tags=["t"])) == ids(view.list(filter={"metadata.n": 1})) == []
            assert all_of(view) == {"kept"}
            past = view.recall("harbour", threshold=0, as_of=then)
            assert [hit.memory.id for hit in past] == ["kept"]
            assert "secret" not in repr(list(view.export()))
            assert (view.stats().memories, view.stats().versions) == (1, 1)
            assert view.check(deep=True).ok

    def test_a_forgotten_id_may_be_used_again(self, book: Book) -> None:
        book.remember("the harbour before", id="m")
        book.revise("m", importance=1)
        book.forget("m")
        assert book.remember("the harbour after", id="m").version == 1
        assert [step.memory.text for step in book.history("m")] == ["the harbour after"]
        assert [hit.memory.text for hit in book.recall("harbour", threshold=0)] == ["the harbour after"]

    def test_several_ids_go_together_or_not_at_all(self, book: Book) -> None:
        book.remember([Draft(content=f"harbour {i}", id=f"m{i}") for i in range(4)])
        with pytest.raises(NotFound):
            book.forget(["m0", "nobody", "m1"])
        assert len(book.list()) == 4
        assert book.forget(["m0", "m1", "m0"]).memories == 2
        assert all_of(book) == {"m2", "m3"}

    def test_no_ids_forget_nothing(self, book: Book) -> None:
        book.remember("x")
        assert book.forget([]).memories == 0
        assert len(book.list()) == 1

    @each("name", SELECTORS)
    def test_each_selector_takes_exactly_what_it_selects(self, book: Book, name: str) -> None:
        chosen = Draft(
            content="harbour yes", id="yes", kind="fact", tags=["t"], metadata={"n": 1}, scope=Scope(user="ada")
        )
        book.remember(
            [chosen, Draft(content="harbour no", id="no"), Draft(content="x", id="bob", scope=Scope(user="bob"))]
        )
        options = wrong(SELECTORS[name])
        foreseen = book.forget(**options, dry_run=True)
        assert len(book.list()) == 3
        assert book.forget(**options) == foreseen
        assert foreseen.ids == ("yes",)
        assert all_of(book) == {"no", "bob"}
        assert book.forget(**options).memories == 0

    def test_a_selector_takes_superseded_memories_too(self, book: Book) -> None:
        book.remember("old", id="old", tags=["t"])
        book.remember("new", id="new", tags=["t"], supersedes=["old"])
        assert set(book.forget(tags=["t"]).ids) == {"old", "new"}
        assert len(book.list(superseded=True)) == 0

    def test_what_has_expired_may_still_be_forgotten_by_a_selector(self, book: Book) -> None:
        book.remember("harbour", id="m", tags=["t"], ttl=TTL)
        time.sleep(TTL * 1.5)
        book.forget(tags=["t"])
        assert book.stats().versions == 0

    def test_forgetting_the_new_one_keeps_the_old_one_closed(self, book: Book) -> None:
        book.remember("old", id="old")
        book.remember("new", id="new", supersedes=["old"])
        book.forget("new")
        assert ids(book.list()) == []
        assert book.get("old").superseded_by == "new"

    def test_a_scope_takes_only_its_own(self, book: Book) -> None:
        book.remember("shared", id="shared")
        book.remember("ada's", id="ada", scope=Scope(user="ada"))
        assert book.forget(scope=Scope(user="ada")).ids == ("ada",)
        with pytest.raises(InvalidInput):
            book.forget(scope=Scope())
        assert ids(book.list()) == ["shared"]

    def test_everything_is_everything(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.remember(["harbour one", "harbour two"])
        book.kv("n").set("k", 1)
        book.canvas("c").write("a.md", "text")
        book.canvas("c").write("a.md", "more")
        book.transcript("s").extend([{"content": "hi"}, {"content": "ho"}])
        foreseen = book.forget(everything=True, dry_run=True)
        assert (foreseen.memories, foreseen.entries, foreseen.files, foreseen.messages) == (2, 1, 1, 2)
        assert book.forget(everything=True) == foreseen
        for view in shelf.now_and_reopened(book):
            assert len(list(view.export())) == 1
            assert (view.namespaces(), view.canvases(), view.transcripts()) == ([], [], [])
            assert all_of(view) == set()
            assert view.kv("n").get("k") is None
            assert view.transcript("s").read() == []
            with pytest.raises(NotFound):
                view.canvas("c").read("a.md")
        again = shelf.open()
        again.remember("harbour anew", id="anew")
        assert all_of(again) == {"anew"}

    @each(
        "options",
        [
            {}, {"dry_run": True}, {"filter": {}}, {"kinds": []}, {"tags": []}, {"id": "m", "everything": True},
            {"id": "m", "tags": ["t"]}, {"everything": True, "kinds": ["note"]},
            {"id": ["m"], "filter": {"kind": "note"}},
            {"kinds": ["rumour"]}, {"tags": "t"}, {"scope": "ada"}, {"id": ""}, {"id": [""]},
        ]
    )  # fmt: skip
    def test_what_to_forget_is_said_in_one_way(self, book: Book, options: dict[str, object]) -> None:
        book.remember("x", id="m", tags=["t"])
        with pytest.raises(InvalidInput):
            book.forget(**wrong(options))
        assert len(book.list()) == 1

    def test_unknown_ids_are_not_found_in_a_dry_run_too(self, book: Book) -> None:
        with pytest.raises(NotFound):
            book.forget("nobody", dry_run=True)
