"""Spaces are separate: two spaces with the same names everywhere never mix, in any call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from commonplace.testing.contract.harness import Harness, Shelf, all_of, each, moment, wrong

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import Draft, Scope

NEAR, FAR = "apricot", "zeppelin"
"""One word for each side of the wall; the other side must never hear it."""

# Every verb that answers something, as a question that would show what is on the other side.
READS: dict[str, Callable[[Book], Any]] = {
    "get": lambda book: (book.get("m"), book.get("m", version=1)),
    "list": lambda book: [
        tuple(book.list(superseded=True)), tuple(book.list(tags=["t"])), tuple(book.list(filter={"metadata.n": 1})),
        tuple(book.list(within=Scope(user="ada"))), tuple(book.list(kinds=["fact"], order="oldest")),
    ],
    "recall": lambda book: [
        sorted(hit.memory.text for hit in book.recall(f"{NEAR} {FAR} harbour", threshold=0, max_tokens=None, **options))
        for options in ({}, {"tags": ["t"]}, {"filter": {"metadata.n": 1}}, {"within": Scope(user="ada")},
                        {"superseded": True}, {"as_of": moment(10**9)}, {"kinds": ["fact"]})
    ],
    "history": lambda book: book.history("m"),
    "feedback": lambda book: [record for record in book.export() if record["type"] == "feedback"],
    "forget": lambda book: [book.forget("m", dry_run=True), book.forget(everything=True, dry_run=True)],
    "stats": lambda book: dataclasses.replace(book.stats(), bytes=0),
    "export": lambda book: list(book.export(vectors=True))[1:],
    "kv": lambda book: (book.kv("n").get("k"), book.kv("n").entry("k"), book.kv("n").keys()),
    "canvas": lambda book: (
        book.canvas("c").read("a.md"), book.canvas("c").files(), book.canvas("c").revisions("a.md"),
        book.canvas("c").diff("a.md", 1),
    ),
    "transcript": lambda book: (
        book.transcript("s").read(), book.transcript("s").tail(), book.transcript("s").resume(1),
    ),
    "links": lambda book: (book.links("new"), book.links("old")),
    "jobs": lambda book: book.jobs(),
    "prune": lambda book: book.prune(keep=0),
    "namespaces": lambda book: book.namespaces(),
    "canvases": lambda book: book.canvases(),
    "transcripts": lambda book: book.transcripts(),
    # Which of two that were said at one moment comes first, a copy may tell otherwise.
    "brief": lambda book: [
        sorted(memory.text for memory in book.brief(user=user, max_tokens=100_000).memories) for user in (None, "ada")
    ],
    "users": lambda book: book.users(),
    "receipts": lambda book: book.receipts(),
    "verify_receipts": lambda book: book.verify_receipts(),
}  # fmt: skip

# Every verb that changes something, in ways that would reach the other space if spaces were not separate.
WRITES: dict[str, list[Callable[[Book], object]]] = {
    "remember": [
        lambda book: book.remember(f"{NEAR} again", id="another", tags=["t"], supersedes=["m"]),
        lambda book: book.remember([f"{NEAR} one", f"{NEAR} two"]),
        lambda book: book.remember(f"{NEAR} harbour of now", reconcile=True, scope=Scope(user="ada")),
    ],
    "revise": [lambda book: book.revise("m", f"{NEAR} revised", if_version=2)],
    "forget": [
        lambda book: book.forget("m"), lambda book: book.forget(tags=["t"]), lambda book: book.forget(kinds=["fact"]),
        lambda book: book.forget(filter={"metadata.n": 1}), lambda book: book.forget(scope=Scope(user="ada")),
        lambda book: book.forget(filter={"$or": [{}]}), lambda book: book.forget(everything=True),
    ],
    "feedback": [
        lambda book: book.feedback("m", "wrong"),
        lambda book: book.feedback(book.recall(NEAR, threshold=0).receipt, "wrong"),
    ],
    "learn": [
        lambda book: book.learn(f"ada: We chose {NEAR} over harbour tea.", session="s", wait=True),
    ],
    "work": [lambda book: book.work()],
    "retry": [lambda book: book.retry()],
    "undo": [lambda book: book.undo("new", "old")],
    "prune": [lambda book: book.prune(keep=0, dry_run=False), lambda book: book.prune(weaker_than=1.2, dry_run=False)],
    "quarantine": [
        lambda book: book.quarantine("new", reason="x"), lambda book: book.quarantine(kinds=["fact"], reason="x"),
    ],
    "release": [lambda book: book.release(kinds=["fact"])],
    "load": [lambda book: book.load(record_of_another_book(book))],
    "kv": [
        lambda book: book.kv("n").set("k", NEAR), lambda book: book.kv("n").append("l", NEAR),
        lambda book: book.kv("n").delete("k"), lambda book: book.kv("n").set("k", NEAR, if_version=1),
    ],
    "canvas": [
        lambda book: book.canvas("c").write("a.md", NEAR), lambda book: book.canvas("c").delete("a.md"),
        lambda book: book.canvas("c").apply(book.canvas("c").diff("a.md", 2, 1)),
    ],
    "transcript": [
        lambda book: book.transcript("s").append(NEAR), lambda book: book.transcript("s").extend([{"content": NEAR}]),
    ],
    "settle_receipts": [lambda book: (book.forget(user="ada"), book.settle_receipts())],
    "erase_again": [lambda book: (book.forget(user="ada"), book.erase_again(book.receipts()))],
}  # fmt: skip

# Verbs that neither read nor change what a space holds.
NEITHER = {"space", "where", "served", "closed", "in_space", "check", "backup", "close"}


class SpaceConformance(Harness):
    """`space` and `in_space`, and every other verb on both sides."""

    def test_every_verb_is_tried_against_the_wall(self) -> None:
        verbs = {name for name in dir(Book) if not name.startswith("_")}
        assert verbs == set(READS) | set(WRITES) | NEITHER

    def test_no_verb_hears_the_other_side(self, book: Book) -> None:
        near, far = two_sides(book)
        for name, read in READS.items():
            assert FAR not in repr(read(near)), name
            assert NEAR not in repr(read(far)), name

    # The other verbs return times, which differ between two books.
    def test_a_verb_answers_as_if_its_space_were_alone(self, shelf: Shelf) -> None:
        near, _ = two_sides(shelf.open("both"))
        alone = shelf.open("alone").in_space("near")
        fill(alone, NEAR)
        for verb in ("recall", "forget", "namespaces", "canvases", "transcripts"):
            assert READS[verb](near) == READS[verb](alone), verb

    @pytest.mark.parametrize("verb", WRITES)
    def test_no_verb_changes_the_other_side(self, book: Book, verb: str) -> None:
        far = book.in_space("far")
        fill(far, FAR)
        before = {name: read(far) for name, read in READS.items()}
        for number, write in enumerate(WRITES[verb]):
            near = book.in_space(f"near {number}")
            fill(near, NEAR)
            write(near)
            for name, read in READS.items():
                assert read(far) == before[name], (number, name)

    def test_the_wall_stands_after_reopening(self, shelf: Shelf) -> None:
        near, far = two_sides(shelf.open())
        before = {name: read(far) for name, read in READS.items()}
        near.forget(everything=True)
        far = shelf.reopen().in_space("far")
        assert {name: read(far) for name, read in READS.items()} == before

    def test_an_id_of_the_other_side_is_not_found(self, book: Book) -> None:
        memory = book.in_space("far").remember("x", id="there")
        near = book.in_space("near")
        asks: list[Callable[[], object]] = [
            lambda: near.get(memory.id), lambda: near.get(memory.id, version=1), lambda: near.history(memory.id),
            lambda: near.revise(memory.id, "y"), lambda: near.forget(memory.id),
            lambda: near.feedback(memory.id, "used"),
            lambda: near.remember("y", supersedes=[memory.id]), lambda: near.links(memory.id),
            lambda: near.undo(memory.id, "x"), lambda: near.quarantine(memory.id, reason="x"),
            lambda: near.release(memory.id),
        ]  # fmt: skip
        for ask in asks:
            with pytest.raises(NotFound):
                ask()
        assert len(near.list()) == 0

    def test_a_receipt_of_the_other_side_touches_nothing_here(self, book: Book) -> None:
        near, far = book.in_space("near"), book.in_space("far")
        far.remember("harbour there")
        near.remember("harbour here")
        assert near.feedback(far.recall("harbour", threshold=0).receipt, "wrong") == 0

    def test_each_side_counts_for_itself(self, book: Book) -> None:
        for side in two_sides(book):
            assert [message.number for message in side.transcript("s").read()] == [1, 2]
            assert [step.version for step in side.history("m")] == [1, 2]
            assert [file.revision for file in side.canvas("c").revisions("a.md")] == [1, 2]
            assert side.kv("n").set("k", 1).version == 2

    @pytest.mark.parametrize("first", ["near", "far"])
    def test_feedback_on_one_side_neither_lifts_nor_lowers_the_other(self, book: Book, first: str) -> None:
        for name in (first, "near", "far"):  # whichever space was made first
            book.in_space(name).kv("n").set("k", 1)
        near, far = book.in_space("near"), book.in_space("far")
        for side in (near, far):
            side.remember("harbour", id="m")
        for _ in range(5):
            near.feedback("m", "wrong")
        strengths = [side.recall("harbour", threshold=0).hits[0].parts.strength for side in (near, far)]
        assert strengths[0] < strengths[1] == 1

    def test_a_cursor_of_the_other_side_shows_nothing_of_it(self, book: Book) -> None:
        near, far = book.in_space("near"), book.in_space("far")
        far.remember([Draft(content=f"{FAR} {i}", said_at=moment(i)) for i in range(4)])
        near.remember(Draft(content=NEAR, said_at=moment()))
        page = near.list(cursor=far.list(limit=1).cursor)
        assert [memory.content for memory in page] == [NEAR]

    def test_what_nothing_matches_here_is_not_looked_for_there(self, book: Book) -> None:
        near, far = book.in_space("near"), book.in_space("far")
        far.remember(f"{FAR} harbour", tags=["t"])
        assert all_of(near, f"{FAR} harbour") == set()
        assert near.recall(f"{FAR} harbour", tags=["t"]).coverage == "unknown"
        near.remember("something else")
        assert FAR not in near.recall(f"{FAR} harbour", threshold=0).text

    def test_a_space_remembers_its_name(self, book: Book) -> None:
        assert (book.space, book.in_space("other").space) == ("default", "other")
        assert book.in_space("other").in_space("third").space == "third"
        assert book.in_space("other").stats().space == "other"

    def test_names_that_look_alike_are_different_spaces(self, book: Book) -> None:
        book.in_space("near").remember("x")
        for name in ("Near", "near ", "nea", "near%", "near/", "ñear", "default"):
            assert len(book.in_space(name).list()) == 0, name

    @each("name", ["", " ", "a\0", "\ud800", "a\nb", "x" * 1000, "commonplace:planted", None, 5])
    def test_a_space_has_a_proper_name(self, book: Book, name: object) -> None:
        with pytest.raises(InvalidInput):
            book.in_space(wrong(name))


def fill(book: Book, word: str) -> None:
    """Put something of everything into a space, with the same names on both sides."""
    shared: dict[str, Any] = {"tags": ["t"], "metadata": {"n": 1}, "scope": Scope(user="ada"), "kind": "fact"}
    book.remember(f"{word} harbour at first", id="m", **shared)
    book.revise("m", f"{word} harbour revised", reason=word)
    book.remember(f"{word} harbour of old", id="old", **shared)
    book.remember(f"{word} harbour of now", id="new", supersedes=["old"], **shared)
    book.feedback("m", "used")
    book.kv("n").set("k", word)
    book.kv("n").set("l", [word])
    book.canvas("c").write("a.md", f"{word} one\n")
    book.canvas("c").write("a.md", f"{word} two\n", author=word)
    book.transcript("s").extend([{"content": f"{word} hello", "name": word}, {"content": f"{word} again"}])


def two_sides(book: Book) -> tuple[Book, Book]:
    """Two spaces of one store that differ in one word alone."""
    near, far = book.in_space("near"), book.in_space("far")
    fill(near, NEAR)
    fill(far, FAR)
    return near, far


def record_of_another_book(book: Book) -> list[dict[str, Any]]:
    """The export of a third space, in words of this one, with further versions under the same names."""
    third = book.in_space(f"third of {book.space}")
    third.remember(f"{NEAR} loaded", id="loaded")
    third.kv("n").set("fresh", NEAR)
    third.canvas("c").write("fresh.md", NEAR)
    third.transcript("fresh").append(NEAR)
    return list(third.export())
