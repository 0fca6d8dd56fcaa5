"""List: every memory once, page by page."""

from __future__ import annotations

import base64
import json

import pytest
from commonplace.testing.contract.harness import Harness, each, ids, moment, wrong

from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.values import Draft, Memory, Scope, Within


class ListConformance(Harness):
    """`list`, and `within`, `kinds` and `tags` wherever they are options."""

    def test_the_newest_comes_first_unless_asked_otherwise(self, book: Book) -> None:
        book.remember([Draft(content=f"{i}", id=f"m{i}", said_at=moment(i)) for i in (2, 0, 1)])
        assert ids(book.list()) == ["m2", "m1", "m0"]
        assert ids(book.list(order="oldest")) == ["m0", "m1", "m2"]

    def test_an_empty_book_is_one_empty_page(self, book: Book) -> None:
        page = book.list()
        assert (page.memories, page.cursor, len(page), list(page)) == ((), None, 0, [])

    @each("order", ["newest", "oldest"])
    @each("limit", [1, 3, 7, 20, 21])
    def test_pages_show_each_memory_once_though_all_were_said_at_once(self, book: Book, order: str, limit: int) -> None:
        made = book.remember([Draft(content=f"{i}", said_at=moment(i // 10)) for i in range(20)])
        pages = walk(book, order=order, limit=limit)
        assert sorted(memory.id for page in pages for memory in page) == sorted(ids(made))
        assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
        said = [memory.said_at for page in pages for memory in page]
        assert said == sorted(said, reverse=order == "newest")

    def test_a_last_page_that_is_full_has_no_cursor(self, book: Book) -> None:
        book.remember(["a", "b", "c"])
        assert book.list(limit=3).cursor is None

    @each("gone", ["m4", "m5", "m6"])
    def test_a_deletion_between_pages_loses_and_repeats_nothing(self, book: Book, gone: str) -> None:
        book.remember([Draft(content=f"{i}", id=f"m{i}", said_at=moment()) for i in range(10)])
        first = book.list(order="oldest", limit=5)
        book.forget(gone)
        rest = book.list(order="oldest", limit=10, cursor=first.cursor)
        seen = ids(first) + ids(rest)
        assert len(set(seen)) == len(seen)
        assert set(seen) | {gone} == {f"m{i}" for i in range(10)}

    def test_what_comes_between_pages_disturbs_nothing(self, book: Book) -> None:
        book.remember([Draft(content=f"{i}", id=f"m{i}", said_at=moment(i)) for i in range(6)])
        first = book.list(limit=3)
        book.remember("newer", id="newer", said_at=moment(100))
        assert ids(first) + ids(book.list(limit=10, cursor=first.cursor)) == [f"m{i}" for i in (5, 4, 3, 2, 1, 0)]

    def test_pages_hold_only_what_the_filter_admits(self, book: Book) -> None:
        book.remember([Draft(content=f"{i}", id=f"m{i}", said_at=moment(i), metadata={"n": i}) for i in range(9)])
        first = book.list(filter={"metadata.n": {"$gte": 4}}, limit=2)
        rest = book.list(filter={"metadata.n": {"$gte": 4}}, limit=9, cursor=first.cursor)
        assert ids(first) + ids(rest) == ["m8", "m7", "m6", "m5", "m4"]

    def test_a_cursor_of_another_order_is_refused(self, book: Book) -> None:
        book.remember(["a", "b"])
        cursor = book.list(limit=1).cursor
        with pytest.raises(InvalidInput):
            book.list(order="oldest", cursor=cursor)

    @each(
        "cursor",
        ["", "x", "é", 5, base64.urlsafe_b64encode(b"[]").decode(), base64.urlsafe_b64encode(b"\xff").decode()],
    )
    def test_a_text_that_is_no_cursor_is_refused(self, book: Book, cursor: object) -> None:
        book.remember(["a", "b"])
        with pytest.raises(InvalidInput):
            book.list(cursor=wrong(cursor))

    @each("place", [["newest", 10**30, "x"], ["newest", 1, "\ud800"], ["newest", 1.5, "x"]])
    def test_a_forged_cursor_is_refused(self, book: Book, place: list[object]) -> None:
        forged = base64.urlsafe_b64encode(json.dumps(place).encode()).decode()
        with pytest.raises(InvalidInput):
            book.list(cursor=forged)

    @each("limit", [0, -1, 1.5, True, None, 10**9])
    def test_a_limit_is_a_whole_number_within_reason(self, book: Book, limit: object) -> None:
        with pytest.raises(InvalidInput):
            book.list(limit=wrong(limit))

    def test_kinds_admit_any_of_them(self, book: Book) -> None:
        book.remember([Draft(content="x", id=kind, kind=kind) for kind in ("note", "fact", "decision")])
        assert set(ids(book.list(kinds=["fact", "decision"]))) == {"fact", "decision"}
        with pytest.raises(InvalidInput):
            book.list(kinds=["rumour"])

    def test_tags_must_all_be_there(self, book: Book) -> None:
        book.remember([Draft(content="x", id="ab", tags=["a", "b"]), Draft(content="x", id="a", tags=["a"])])
        assert set(ids(book.list(tags=["a"]))) == {"ab", "a"}
        assert ids(book.list(tags=["b", "a"])) == ["ab"]
        assert ids(book.list(tags=["a", "c"])) == []
        assert ids(book.list(tags=["A"])) == []

    def test_a_scope_sees_its_own_and_what_is_shared(self, book: Book) -> None:
        scoped(book)
        assert seen(book, Scope(user="ada")) == {"ada", "ada+scribe", "scribe", "clerk", "team"}
        assert seen(book, Scope(user="ada", agent="scribe")) == {"ada", "ada+scribe", "scribe", "team"}
        assert seen(book, Scope(agent="clerk")) == {"ada", "bob", "clerk", "team"}
        assert seen(book, Scope()) == {"ada", "bob", "scribe", "clerk", "ada+scribe", "team"}

    def test_within_names_groups_and_may_leave_out_what_is_shared(self, book: Book) -> None:
        scoped(book)
        assert seen(book, Within(users=("ada", "bob"), shared=False)) == {"ada", "bob", "ada+scribe"}
        assert seen(book, Within(users=("ada",), agents=("scribe",), shared=False)) == {"ada+scribe"}
        assert seen(book, Within(agents=("scribe", "clerk"))) == {
            "ada", "bob", "scribe", "clerk", "ada+scribe", "team",
        }  # fmt: skip
        assert seen(book, Within(sessions=("s1",), shared=False)) == set()
        assert seen(book, Within(users=(), shared=False)) == set()
        assert seen(book, Within(users=())) == {"scribe", "clerk", "team"}


def walk(book: Book, *, order: str, limit: int) -> list[list[Memory]]:
    """All pages of a listing."""
    pages, cursor = [], None
    while True:
        page = book.list(order=wrong(order), limit=limit, cursor=cursor)
        pages.append(list(page))
        cursor = page.cursor
        if cursor is None:
            return pages


def scoped(book: Book) -> None:
    """Memories of two users, two agents, both at once, and everybody."""
    scopes = {
        "ada": Scope(user="ada"),
        "bob": Scope(user="bob"),
        "scribe": Scope(agent="scribe"),
        "clerk": Scope(agent="clerk"),
        "ada+scribe": Scope(user="ada", agent="scribe"),
        "team": Scope(),
    }
    book.remember([Draft(content=f"harbour {id}", id=id, scope=scope) for id, scope in scopes.items()])


def seen(book: Book, within: Within | Scope) -> set[str]:
    """The ids inside; list and recall must agree."""
    listed = set(ids(book.list(within=within)))
    recalled = book.recall("harbour", within=within, threshold=0, k=50, max_tokens=None)
    assert {hit.memory.id for hit in recalled} == listed
    return listed
