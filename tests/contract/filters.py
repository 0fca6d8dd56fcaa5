"""Filters: every operator on every sort of field; `list`, `recall` and `forget` understand the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, timezone

import pytest
from commonplace.testing.contract.harness import Harness, each, ids, moment, wrong
from commonplace.testing.contract.model import fields, matches

from commonplace.book import Book
from commonplace.errors import InvalidFilter, InvalidInput
from commonplace.values import MARKDOWN, Draft, Scope

SHELF = [
    Draft(
        content="harbour one", id="one", kind="note", importance=0.1, said_at=moment(1), tags=["a"],
        metadata={"n": 1, "s": "apple", "t": True, "l": [1, "x", True], "d": {"e": {"f": 7}}},
    ),
    Draft(
        content="harbour two", id="two", kind="fact", importance=0.5, said_at=moment(2), tags=["a", "b"],
        metadata={"n": 1.5, "s": "banana", "t": False, "l": [2, "y"], "d": {"e": 5}}, source="minutes",
    ),
    Draft(
        content="Harbour Three", id="three", kind="decision", importance=0.9, said_at=moment(3), ttl=9999,
        metadata={"n": "1", "s": "1", "t": 1, "l": "x", "d": None}, scope=Scope(user="ada"),
    ),
    Draft(
        content="four", id="four", importance=0, said_at=moment(4), mime=MARKDOWN, tags=["ä", "None"],
        metadata={"n": 0, "s": "", "t": 0, "l": [], "d": []}, scope=Scope(agent="scribe", session="s1"),
    ),
    Draft(content={"harbour": "five"}, id="five", importance=1, said_at=moment(5)),
    Draft(
        content="six", id="six", said_at=moment(6), metadata={"n": -(2**53) - 1, "s": "Zoo", "t": None, "l": [None]},
    ),
]  # fmt: skip

# The filter, and exactly the memories that it admits.
CASES: list[tuple[Mapping[str, object], str]] = [
    ({}, "one two three four five six"),
    ({"id": "two"}, "two"),
    ({"kind": "note"}, "one four five six"),
    ({"kind": "fact", "importance": 0.5}, "two"),
    ({"kind": "fact", "importance": 0.6}, ""),
    # missing columns
    ({"source": "minutes"}, "two"),
    ({"source": None}, "one three four five six"),
    ({"source": {"$ne": None}}, "two"),
    ({"source": {"$ne": "minutes"}}, "one three four five six"),
    ({"source": {"$nin": ["minutes", "x"]}}, "one three four five six"),
    ({"source": {"$in": ["minutes"]}}, "two"),
    ({"source": {"$in": []}}, ""),
    ({"source": {"$nin": []}}, "one two three four five six"),
    ({"source": {"$exists": True}}, "two"),
    ({"source": {"$exists": False}}, "one three four five six"),
    ({"source": {"$gt": ""}}, "two"),
    ({"$not": {"source": {"$gt": ""}}}, "one three four five six"),
    ({"user": "ada"}, "three"),
    ({"agent": "scribe", "session": "s1"}, "four"),
    ({"agent": {"$ne": "scribe"}}, "one two three five six"),
    ({"mime": MARKDOWN}, "four"),
    ({"mime": {"$in": [MARKDOWN, "application/json"]}}, "four five"),
    # numbers
    ({"importance": {"$gt": 0.5}}, "three five"),
    ({"importance": {"$gte": 0.5, "$lt": 1}}, "two three six"),
    ({"importance": {"$lte": 0.1}}, "one four"),
    ({"importance": {"$in": [0, 1]}}, "four five"),
    ({"importance": {"$ne": 0.5}}, "one three four five"),
    ({"version": 1}, "one two three four five six"),
    ({"version": {"$gt": 1}}, ""),
    # times
    ({"said_at": moment(3)}, "three"),
    ({"said_at": moment(3).isoformat()}, "three"),
    ({"said_at": "2026-03-01T12:00:03Z"}, "three"),
    ({"said_at": moment(3).astimezone(timezone(timedelta(hours=5)))}, "three"),
    ({"said_at": {"$gt": moment(4)}}, "five six"),
    ({"said_at": {"$gte": "2026-03-01T14:00:04+02:00", "$lt": moment(6)}}, "four five"),
    ({"said_at": {"$in": [moment(1), moment(2).isoformat()]}}, "one two"),
    ({"said_at": {"$lt": "2026-03-01"}}, ""),
    ({"expires_at": {"$exists": True}}, "three"),
    ({"expires_at": None}, "one two four five six"),
    ({"expires_at": {"$gt": moment()}}, "three"),
    ({"created_at": {"$gt": moment()}, "updated_at": {"$gt": moment()}}, "one two three four five six"),
    # tags and text
    ({"tags": {"$contains": "a"}}, "one two"),
    ({"tags": {"$contains": "ä"}}, "four"),
    ({"tags": {"$contains": "A"}}, ""),
    ({"tags": {"$exists": True}}, "one two four"),
    ({"tags": {"$exists": False}}, "three five six"),
    ({"$not": {"tags": {"$contains": "a"}}}, "three four five six"),
    ({"text": {"$contains": "harbour"}}, "one two five"),
    ({"text": {"$contains": "Harbour"}}, "three"),
    ({"text": {"$contains": "%"}}, ""),
    ({"text": {"$contains": ""}}, "one two three four five six"),
    ({"text": "four"}, "four"),
    ({"text": {"$gte": "harbour two"}}, "two five six"),
    # metadata: a value only compares with its own type
    ({"metadata.n": 1}, "one"),
    ({"metadata.n": 1.0}, "one"),
    ({"metadata.n": "1"}, "three"),
    ({"metadata.n": True}, ""),
    ({"metadata.t": True}, "one"),
    ({"metadata.t": 1}, "three"),
    ({"metadata.t": False}, "two"),
    ({"metadata.t": 0}, "four"),
    ({"metadata.t": None}, "six"),
    ({"metadata.t": {"$in": [True, 0]}}, "one four"),
    ({"metadata.t": {"$nin": [True, 0]}}, "two three five six"),
    ({"metadata.n": {"$gt": 0}}, "one two"),
    ({"metadata.n": {"$gte": 0}}, "one two four"),
    ({"metadata.n": {"$lt": 1.5}}, "one four six"),
    ({"metadata.n": {"$lte": -(2**53) - 1}}, "six"),
    ({"metadata.n": -(2**53) - 1}, "six"),
    ({"metadata.n": -(2**53)}, ""),
    ({"metadata.n": {"$gt": ""}}, "three"),
    ({"metadata.n": {"$ne": 1}}, "two three four five six"),
    ({"metadata.s": {"$gt": "apple"}}, "two"),
    ({"metadata.s": {"$lt": "a"}}, "three four six"),
    ({"metadata.s": ""}, "four"),
    ({"metadata.n": {"$exists": True}}, "one two three four six"),
    ({"metadata.n": {"$exists": False}}, "five"),
    ({"metadata.t": {"$exists": True}}, "one two three four six"),
    ({"metadata.d": None}, "three"),
    ({"metadata.d": {"$exists": True}}, "one two three four"),
    ({"metadata.d.e": {"$exists": True}}, "one two"),
    ({"metadata.d.e": 5}, "two"),
    ({"metadata.d.e.f": 7}, "one"),
    ({"metadata.d.e.f": {"$ne": 7}}, "two three four five six"),
    ({"metadata.nothing": {"$in": [None, 1]}}, ""),
    ({"metadata.nothing": {"$ne": None}}, "one two three four five six"),
    # metadata lists
    ({"metadata.l": {"$contains": "x"}}, "one"),
    ({"metadata.l": {"$contains": 1}}, "one"),
    ({"metadata.l": {"$contains": True}}, "one"),
    ({"metadata.l": {"$contains": 2.0}}, "two"),
    ({"metadata.l": {"$contains": None}}, "six"),
    ({"metadata.l": {"$contains": "1"}}, ""),
    ({"metadata.l": "x"}, "three"),
    ({"$not": {"metadata.l": {"$contains": "x"}}}, "two three four five six"),
    # and, or, not
    ({"$and": []}, "one two three four five six"),
    ({"$or": []}, ""),
    ({"$not": {}}, ""),
    ({"$and": [{"kind": "note"}, {"importance": 0}]}, "four"),
    ({"$or": [{"kind": "fact"}, {"id": "six"}]}, "two six"),
    ({"$or": [{"kind": "fact"}, {}]}, "one two three four five six"),
    ({"$not": {"$not": {"kind": "fact"}}}, "two"),
    ({"$not": {"kind": "note", "importance": 0}}, "one two three five six"),
    ({"$or": [{"$and": [{"kind": "note"}, {"$not": {"tags": {"$exists": True}}}]}, {"user": "ada"}]}, "three five six"),
    ({"kind": "note", "$or": [{"id": "one"}, {"id": "two"}], "$not": {"id": "six"}}, "one"),
    ({"$not": {"$or": [{"metadata.n": {"$gt": 0}}, {"metadata.nothing": 1}]}}, "three four five six"),
]  # fmt: skip

BAD: list[object] = [
    {"colour": 1}, {"metadata": 1}, {"metadata.": 1}, {"metadata..a": 1}, {"": 1}, {1: 1}, {None: 1},
    {"$nor": []}, {"$eq": 1}, {"kind": {"$like": "x"}}, {"kind": {}}, {"kind": {"eq": 1}}, {"kind": {None: 1}},
    {"kind": 1}, {"kind": True}, {"kind": ["note"]}, {"importance": "0.5"}, {"importance": True},
    {"importance": None}, {"importance": float("nan")}, {"importance": float("inf")}, {"version": "1"},
    {"said_at": 5}, {"said_at": "yesterday"}, {"said_at": True}, {"said_at": {"$gt": None}},
    {"kind": {"$in": "note"}}, {"kind": {"$in": 5}}, {"kind": {"$in": [1]}}, {"kind": {"$in": {"note": 1}}},
    {"kind": {"$exists": 1}}, {"kind": {"$exists": "true"}}, {"kind": {"$contains": "n"}},
    {"tags": "a"}, {"tags": {"$eq": "a"}}, {"tags": {"$in": ["a"]}}, {"tags": {"$nin": ["a"]}}, {"tags": {"$gt": "a"}},
    {"tags": {"$contains": 1}}, {"tags": {"$contains": None}}, {"text": {"$contains": 1}},
    {"text": {"$contains": None}}, {"$not": {"text": {"$contains": None}}},
    {"metadata.n": [1]}, {"metadata.n": {"$eq": {}}}, {"metadata.n": {"$eq": [1]}}, {"metadata.n": {"$gt": True}},
    {"metadata.n": {"$gt": None}}, {"metadata.n": {"$gt": 10**30}}, {"metadata.n": float("nan")},
    {"metadata.n": 1j}, {"metadata.n": b"x"}, {"metadata.n": "\0"}, {"metadata.n": "\ud800"},
    {"metadata.\ud800": 1}, {"kind": "\0"}, {"kind": {"$in": ["\ud800"]}},
    {"$and": {}}, {"$or": {"kind": "note"}}, {"$or": [1]}, {"$or": "x"}, {"$not": []}, {"$not": None}, {"$and": None},
    "kind", 5, [], ["kind"], [{"kind": "note"}],
]  # fmt: skip


class FilterConformance(Harness):
    """`filter=` of list, recall and forget."""

    def test_each_filter_admits_exactly_its_memories(self, book: Book) -> None:
        memories = book.remember(SHELF)
        for filter, expected in CASES:
            wanted = set(expected.split())
            assert set(ids(book.list(filter=filter))) == wanted, filter
            # The model that the state machine trusts must agree, too.
            assert {memory.id for memory in memories if matches(filter, fields(memory))} == wanted, filter

    def test_recall_understands_the_same_filters(self, book: Book) -> None:
        book.remember(SHELF)
        for filter, expected in CASES:
            recall = book.recall("harbour", filter=filter, threshold=0, k=50, max_tokens=None)
            assert {hit.memory.id for hit in recall} == set(expected.split()), filter

    def test_forget_understands_the_same_filters(self, book: Book) -> None:
        book.remember(SHELF)
        for filter, expected in CASES:
            if filter and filter != {"$and": []}:
                assert set(book.forget(filter=filter, dry_run=True).ids) == set(expected.split()), filter

    @each("filter", BAD)
    def test_what_is_no_filter_is_refused_by_every_verb(self, book: Book, filter: object) -> None:
        book.remember("x", tags=["a"], metadata={"n": 1})
        with pytest.raises(InvalidFilter):
            book.list(filter=wrong(filter))
        with pytest.raises(InvalidFilter):
            book.recall("x", filter=wrong(filter))
        with pytest.raises(InvalidFilter):
            book.forget(filter=wrong(filter))
        assert len(book.list()) == 1

    @each("key", ["a b", "a'b", "ä", "a\\b", "$x", "[0]", "0", "a/b", "\\u0041", "日本", "%", "a-b", "#"])
    def test_any_name_in_metadata_can_be_asked_for(self, book: Book, key: str) -> None:
        book.remember(
            [Draft(content="x", id="has", metadata={key: 1}), Draft(content="x", id="not", metadata={"z": 1})]
        )
        assert ids(book.list(filter={f"metadata.{key}": 1})) == ["has"]
        assert ids(book.list(filter={f"metadata.{key}": {"$exists": False}})) == ["not"]

    def test_a_place_in_a_list_is_no_name(self, book: Book) -> None:
        book.remember("x", metadata={"l": [5]})
        assert len(book.list(filter={"metadata.l.0": 5})) == 0

    def test_numbers_beyond_a_double_are_compared_exactly(self, book: Book) -> None:
        book.remember("x", metadata={"n": 2**53 + 1})
        assert len(book.list(filter={"metadata.n": 2**53 + 1})) == 1
        assert len(book.list(filter={"metadata.n": 2**53})) == 0
        assert len(book.list(filter={"metadata.n": {"$gt": 2**53}})) == 1
        assert len(book.list(filter={"metadata.n": {"$gt": float(2**53)}})) == 1

    def test_huge_whole_numbers_in_metadata_break_nothing(self, book: Book) -> None:
        book.remember("x", id="x", metadata={"n": 10**400})
        assert book.get("x").metadata == {"n": 10**400}
        assert ids(book.list(filter={"metadata.n": {"$gt": 5}})) == ["x"]
        assert ids(book.list(filter={"metadata.n": {"$lt": 5}})) == []

    @each("size", [999, 5_000, 40_000])
    def test_in_takes_many_values(self, book: Book, size: int) -> None:
        book.remember([Draft(content="x", id="five", metadata={"n": 5}), Draft(content="x", id="none")])
        assert ids(book.list(filter={"metadata.n": {"$in": list(range(size))}})) == ["five"]
        assert ids(book.list(filter={"metadata.n": {"$nin": list(range(size))}})) == ["none"]
        assert ids(book.list(filter={"id": {"$in": [*map(str, range(size)), "five"]}})) == ["five"]

    def test_many_alternatives_work_or_are_refused_in_words(self, book: Book) -> None:
        book.remember("x", id="x", importance=0.5)
        try:
            listed = ids(book.list(filter={"$or": [{"importance": n / 4000} for n in range(4000)]}))
        except InvalidFilter:
            return
        assert listed == ["x"]

    def test_deep_nesting_works_or_is_refused_in_words(self, book: Book) -> None:
        book.remember("x", kind="fact")
        filter: dict[str, object] = {"kind": "fact"}
        for _ in range(10):
            filter = {"$not": {"$and": [filter]}}
        assert len(book.list(filter=filter)) == 1
        for _ in range(5_000):
            filter = {"$not": filter}
        with pytest.raises(InvalidInput):
            book.list(filter=filter)

    def test_a_filter_sees_only_the_version_that_stands(self, book: Book) -> None:
        book.remember("x", id="x", metadata={"n": 1}, tags=["old"])
        book.revise("x", metadata={"n": 2}, tags=["new"])
        assert len(book.list(filter={"metadata.n": 1})) == len(book.list(tags=["old"])) == 0
        assert ids(book.list(filter={"metadata.n": 2, "version": 2}, tags=["new"])) == ["x"]

    def test_a_filter_joins_the_other_options(self, book: Book) -> None:
        book.remember(SHELF)
        assert ids(book.list(filter={"importance": {"$lt": 1}}, kinds=["note"], tags=["a"])) == ["one"]
