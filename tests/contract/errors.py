"""Errors: one tree, the same class for the same mistake, and no partial changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from commonplace.testing.contract.harness import Harness, Shelf, case, each, wrong

from commonplace.book import Book
from commonplace.errors import CommonplaceError, Conflict, InvalidInput, InvalidText, NotFound, StoreClosed
from commonplace.values import Scope, Within

# Each with a book that holds one memory "m"; a value of a wrong type never leaks a TypeError.
MISUSES: dict[str, Callable[[Book], object]] = {
    "remember a number": lambda book: book.remember(wrong(5)),
    "remember nothing": lambda book: book.remember(wrong(None)),
    "remember a set": lambda book: book.remember(wrong({"a"})),
    "tags a number": lambda book: book.remember("x", tags=wrong(5)),
    "a tag a number": lambda book: book.remember("x", tags=wrong([5])),
    "supersedes a number": lambda book: book.remember("x", supersedes=wrong(5)),
    "supersedes a text": lambda book: book.remember("x", supersedes="m"),
    "metadata a text": lambda book: book.remember("x", metadata=wrong("m")),
    "metadata a list": lambda book: book.remember("x", metadata=wrong([1])),
    "scope a text": lambda book: book.remember("x", scope=wrong("ada")),
    "said_at a text": lambda book: book.remember("x", said_at=wrong("2026-03-01")),
    "said_at a number": lambda book: book.remember("x", said_at=wrong(5)),
    "importance a text": lambda book: book.remember("x", importance=wrong("high")),
    "importance true": lambda book: book.remember("x", importance=True),
    "text a number": lambda book: book.remember(b"x", text=wrong(5)),
    "reason a number": lambda book: book.remember("x", reason=wrong(5)),
    "id a number": lambda book: book.remember("x", id=wrong(5)),
    "get a number": lambda book: book.get(wrong(5)),
    "get nothing": lambda book: book.get(wrong(None)),
    "history of a number": lambda book: book.history(wrong(5)),
    "forget a number": lambda book: book.forget(wrong(5)),
    "forget numbers": lambda book: book.forget(wrong([5])),
    "list kinds a number": lambda book: book.list(kinds=wrong(5)),
    "list kinds a text": lambda book: book.list(kinds="note"),
    "list tags a number": lambda book: book.list(tags=wrong(5)),
    "list order": lambda book: book.list(order=wrong("time")),
    "within a number": lambda book: book.list(within=Within(users=wrong(5))),
    "within a text": lambda book: book.list(within=Within(agents=wrong("ada"))),
    "within numbers": lambda book: book.recall("x", within=Within(sessions=wrong((5,)))),
    "revise a number": lambda book: book.revise(wrong(5), "x"),
    "load a number": lambda book: book.load(wrong([5])),
    "load a text": lambda book: book.load(wrong("text")),
    "space a number": lambda book: book.in_space(wrong(5)),
    "namespace a number": lambda book: book.kv(wrong(5)).keys(),
    "prefix a number": lambda book: book.kv("n").keys(wrong(5)),
    "canvas a number": lambda book: book.canvas(wrong(5)).files(),
    "patch a number": lambda book: book.canvas("c").apply(wrong(5)),
    "author a number": lambda book: book.canvas("c").write("a.md", "x", author=wrong(5)),
    "session a number": lambda book: book.transcript(wrong(5)).read(),
    "messages a text": lambda book: book.transcript("s").extend(wrong("text")),
    "origin unknown": lambda book: book.remember("x", origin=wrong("heaven")),
    "learn nothing": lambda book: book.learn([]),
    "learn a message": lambda book: book.learn(wrong({"role": "user", "content": "x"})),
    "learn none": lambda book: book.learn(wrong(None)),
    "learn blank": lambda book: book.learn(""),
    "learn a number": lambda book: book.learn(wrong([5])),
    "learn without content": lambda book: book.learn([{"role": "user"}]),
    "learn an unknown field": lambda book: book.learn([{"content": "x", "colour": "red"}]),
    "learn a session twice": lambda book: book.learn("x", scope=Scope(session="s")),
    "learn from heaven": lambda book: book.learn("x", origin=wrong("heaven")),
    "prune nothing": lambda book: book.prune(),
    "prune before time": lambda book: book.prune(older_than=-1),
    "prune to less than none": lambda book: book.prune(keep=-1),
    "quarantine nothing": lambda book: book.quarantine(reason="x"),
    "quarantine in two ways": lambda book: book.quarantine("m", kinds=["fact"], reason="x"),
    "quarantine for no reason": lambda book: book.quarantine("m", reason=wrong(None)),
    "release nothing": lambda book: book.release(),
    "retry a text": lambda book: book.retry(wrong("1")),
    "undo a number": lambda book: book.undo(wrong(5), "x"),
    "role a number": lambda book: book.transcript("s").append("x", role=wrong(5)),
}

VERBS: dict[str, Callable[[Book], object]] = {
    "remember": lambda book: book.remember("x"),
    "remember many": lambda book: book.remember(["x", "y"]),
    "recall": lambda book: book.recall("x"),
    "get": lambda book: book.get("m"),
    "list": lambda book: book.list(),
    "revise": lambda book: book.revise("m", "y"),
    "forget": lambda book: book.forget("m"),
    "history": lambda book: book.history("m"),
    "feedback": lambda book: book.feedback("m", "used"),
    "learn": lambda book: book.learn("x"),
    "jobs": lambda book: book.jobs(),
    "work": lambda book: book.work(),
    "retry": lambda book: book.retry(),
    "links": lambda book: book.links("m"),
    "undo": lambda book: book.undo("m", "n"),
    "prune": lambda book: book.prune(keep=1),
    "quarantine": lambda book: book.quarantine("m", reason="x"),
    "release": lambda book: book.release("m"),
    "stats": lambda book: book.stats(),
    "check": lambda book: book.check(),
    "export": lambda book: list(book.export()),
    "load": lambda book: book.load([]),
    "namespaces": lambda book: book.namespaces(),
    "canvases": lambda book: book.canvases(),
    "transcripts": lambda book: book.transcripts(),
    "kv get": lambda book: book.kv("n").get("k"),
    "kv set": lambda book: book.kv("n").set("k", 1),
    "canvas read": lambda book: book.canvas("c").read("a.md"),
    "canvas write": lambda book: book.canvas("c").write("a.md", "x"),
    "transcript read": lambda book: book.transcript("s").read(),
    "transcript append": lambda book: book.transcript("s").append("x"),
    "another space": lambda book: book.in_space("other").list(),
}


class ErrorConformance(Harness):
    """Wrong calls and their errors."""

    @each("name", MISUSES)
    def test_a_misuse_is_invalid_input_and_changes_nothing(self, book: Book, name: str) -> None:
        book.remember("x", id="m")
        before = list(book.export())[1:]
        with pytest.raises(InvalidInput) as caught:
            MISUSES[name](book)
        assert str(caught.value)
        assert list(book.export())[1:] == before

    def test_a_closed_book_says_so(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.remember("x", id="m")
        book.close()
        for name, verb in VERBS.items():
            with case(name), pytest.raises(StoreClosed):
                verb(book)

    def test_closing_twice_is_harmless(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.remember("x")
        book.close()
        book.close()

    def test_a_book_closes_itself_after_with(self, shelf: Shelf) -> None:
        with shelf.open() as book:
            book.remember("x", id="m")
        with pytest.raises(StoreClosed):
            book.get("m")
        assert shelf.open().get("m").content == "x"

    def test_closing_one_handle_leaves_the_other_open(self, shelf: Shelf) -> None:
        one, two = shelf.open(), shelf.open()
        one.remember("x", id="m")
        one.close()
        assert two.get("m").content == "x"

    def test_errors_carry_what_machines_need(self, book: Book) -> None:
        book.remember("x", id="m")
        raised: list[tuple[Callable[[], object], type[CommonplaceError], str, int]] = [
            (lambda: book.get("nobody"), NotFound, "not_found", 404),
            (lambda: book.remember("x", id="m"), Conflict, "conflict", 409),
            (lambda: book.remember("\0"), InvalidText, "invalid_text", 400),
            (lambda: book.remember("x", kind=wrong("rumour")), InvalidInput, "invalid_input", 400),
        ]
        for call, kind, code, status in raised:
            with pytest.raises(kind) as caught:
                call()
            assert (caught.value.code, caught.value.status, caught.value.retryable) == (code, status, False)
            assert isinstance(caught.value, CommonplaceError)

    def test_stats_and_check_tell_what_there_is(self, book: Book) -> None:
        book.remember([f"note {i}" for i in range(3)], kind="fact")
        book.remember("x", id="m")
        book.revise("m", "y")
        book.kv("n").set("k", 1)
        book.canvas("c").write("a.md", "x")
        book.transcript("s").append("hi")
        stats = book.stats()
        assert (stats.space, stats.memories, stats.versions) == (book.space, 4, 5)
        assert (dict(stats.by_kind), stats.entries, stats.files, stats.messages) == ({"fact": 3, "note": 1}, 1, 1, 1)
        assert stats.embedder
        assert stats.dimension > 0
        assert stats.engine
        assert stats.bytes > 0
        for deep in (False, True):
            verdict = book.check(deep=deep)
            assert (verdict.ok, verdict.problems) == (True, ())
