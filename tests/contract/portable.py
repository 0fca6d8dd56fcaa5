"""Export and load: a space as records, without loss."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from commonplace.testing.contract.harness import TTL, Harness, Shelf, all_of, case, found, ids, moment, now, wrong
from commonplace.testing.contract.memories import CONTENTS, PNG
from commonplace.testing.contract.spaces import READS, fill

from commonplace.book import Book
from commonplace.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.values import Draft, Json, Scope

Record = dict[str, Json]

# One change to one record of a sound export, each of which must be refused in words.
SPOILT: dict[str, tuple[str, dict[str, object]]] = {
    "unknown type": ("memory", {"type": "rumour"}),
    "type a list": ("memory", {"type": []}),
    "newer format": ("header", {"commonplace": 99}),
    "text with NUL": ("memory", {"text": "\0"}),
    "text a number": ("memory", {"text": 5}),
    "unknown kind": ("memory", {"kind": "rumour"}),
    "unknown action": ("memory", {"action": "invented"}),
    "version 0": ("memory", {"version": 0}),
    "version a text": ("memory", {"version": "1"}),
    "time a number": ("memory", {"said_at": 5}),
    "no time": ("memory", {"created_at": None}),
    "not a time": ("memory", {"recorded_at": "yesterday"}),
    "reason an object": ("memory", {"reason": {"a": 1}}),
    "reason with a lone surrogate": ("memory", {"reason": "\ud800"}),
    "tags a text": ("memory", {"tags": "t"}),
    "tags a number": ("memory", {"tags": 5}),
    "metadata a list": ("memory", {"metadata": [1]}),
    "not base64": ("memory", {"base64": "%%%"}),
    "wrong dimension": ("memory", {"vector": [1.0]}),
    "importance beyond 1": ("memory", {"importance": 7}),
    "count below 0": ("feedback", {"used": -1}),
    "feedback at no time": ("feedback", {"last_at": 5}),
    "unknown origin": ("memory", {"origin": "heaven"}),
    "unknown relation": ("link", {"relation": "likes"}),
    "link to nothing": ("link", {"other": None}),
    "detail a list": ("link", {"detail": [1]}),
    "key a number": ("entry", {"key": 5}),
    "entry version 0": ("entry", {"version": 0}),
    "value with NUL": ("entry", {"value": "\0"}),
    "path outside the canvas": ("file", {"path": "../../etc/passwd"}),
    "path a number": ("file", {"path": 5}),
    "content a number": ("file", {"content": 5}),
    "revision 0": ("file", {"revision": 0}),
    "message number 0": ("message", {"number": 0}),
    "role a number": ("message", {"role": 5}),
}


class PortableConformance(Harness):
    """`export` and `load`."""

    def test_an_export_is_plain_json_with_a_header_first(self, book: Book) -> None:
        fill(book, "apricot")
        records = list(book.export())
        assert json.loads(json.dumps(records)) == records
        assert (records[0]["type"], records[0]["commonplace"], records[0]["space"]) == ("header", 1, book.space)
        assert {record["type"] for record in records[1:]} == {"memory", "feedback", "link", "entry", "file", "message"}

    @pytest.mark.parametrize("vectors", [False, True])
    def test_export_then_load_is_the_same_book(self, shelf: Shelf, vectors: bool) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        one.remember(list(CONTENTS.values()))
        one.remember(
            PNG, id="full", text="shown", mime="image/png", tags=["b", "a"], metadata={"n": [1, {"z": None}]},
            scope=Scope(user="u", agent="a", session="s"), source="src", said_at=moment(), ttl=9999, importance=0.25,
            reason="why",
        )  # fmt: skip
        one.kv("n").delete("l")
        one.canvas("c").write("gone.md", "x")
        one.canvas("c").delete("gone.md")
        records = list(one.export(vectors=vectors))
        assert two.load(json.loads(json.dumps(records))) == len(records) - 1
        assert list(two.export(vectors=vectors))[1:] == records[1:]
        again = shelf.reopen("two")
        one = shelf.open("one")
        for name, read in READS.items():
            if name != "stats":
                assert read(again) == read(one), name
        assert again.stats().by_kind == one.stats().by_kind
        assert [again.get(memory.id) for memory in one.list(superseded=True)] == list(one.list(superseded=True))

    def test_loading_twice_changes_nothing(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        records = list(one.export())
        two.load(records)
        before = list(two.export())[1:]
        assert two.load(records) == 0
        assert one.load(records) == 0
        assert list(two.export())[1:] == before

    def test_what_was_loaded_can_be_worked_with(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        two.load(one.export())
        assert two.revise("m", "apricot harbour again", if_version=2).version == 3
        assert two.kv("n").set("k", 2, if_version=1).version == 2
        assert two.canvas("c").write("a.md", "x", if_version=2).revision == 3
        assert two.transcript("s").append("on").number == 3
        assert two.forget("new").memories == 1
        assert two.remember("another", id="another").version == 1

    def test_deleted_entries_go_on_with_their_versions(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.kv("n").set("k", 1)
        one.kv("n").delete("k")
        two.load(one.export())
        assert two.kv("n").get("k") is None
        assert two.kv("n").set("k", 2, if_version=0).version == 3

    def test_the_past_is_loaded_too(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.remember("the harbour closes at nine", id="m")
        time.sleep(0.002)
        then = now()
        time.sleep(0.002)
        one.revise("m", "the harbour closes at ten")
        two.load(one.export())
        for book in (one, two):
            (hit,) = book.recall("harbour", threshold=0, as_of=then)
            assert hit.memory.text == "the harbour closes at nine"

    def test_a_later_export_brings_an_older_load_up_to_date(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        two.load(one.export())
        one.revise("m", "apricot harbour at last")
        one.kv("n").set("k", "more")
        one.canvas("c").write("a.md", "three\n")
        one.transcript("s").append("bye")
        one.remember("apricot fresh", id="fresh")
        assert two.load(one.export()) == 5
        assert two.get("m") == one.get("m")
        assert all_of(two) == all_of(one)

    def test_loading_joins_what_is_there(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.remember("harbour one", id="one")
        two.remember("harbour two", id="two")
        assert two.load(one.export()) == 1
        assert all_of(two) == {"one", "two"}

    def test_another_memory_under_the_same_id_is_a_conflict_that_leaves_nothing(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.remember([Draft(content="fine", id="a"), Draft(content="theirs", id="m"), Draft(content="fine", id="z")])
        two.remember("ours", id="m")
        with pytest.raises(Conflict):
            two.load(one.export())
        assert ids(two.list()) == ["m"]
        assert two.get("m").content == "ours"

    def test_a_spoilt_record_is_refused_and_leaves_nothing(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        sound = list(one.export())
        for name, (kind, change) in SPOILT.items():
            records = [dict(record) for record in sound]
            place = max(i for i, record in enumerate(records) if record["type"] == kind)
            records[place].update(wrong(change))
            with case(name):
                with pytest.raises(InvalidInput):
                    two.load(records)
                assert len(list(two.export())) == 1
                assert all_of(two) == set()

    def test_a_record_that_lacks_a_field_is_refused(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        records = list(one.export())
        for kind in ("memory", "feedback", "link", "entry", "file", "message"):
            record = next(record for record in records if record["type"] == kind)
            for field in record:
                if field in ("content", "value", "base64") and kind in ("memory", "entry"):
                    continue  # absent by right
                short = {key: value for key, value in record.items() if key != field}
                with pytest.raises(InvalidInput):
                    two.load([short])
        assert len(list(two.export())) == 1

    def test_a_stream_that_breaks_leaves_nothing(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.remember([f"note {i}" for i in range(20)])

        def broken() -> Iterator[Mapping[str, Json]]:
            for number, record in enumerate(one.export()):
                if number == 15:
                    raise RuntimeError("the stream broke")
                yield record

        with pytest.raises(RuntimeError):
            two.load(broken())
        assert len(two.list()) == 0

    def test_nothing_loads_nothing(self, book: Book) -> None:
        assert book.load([]) == 0
        assert book.load(list(book.export())) == 0

    def test_an_export_of_many_is_whole(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.remember([Draft(content=f"harbour number{i}", id=f"m{i}") for i in range(1200)])
        assert two.load(one.export()) == 1200
        assert found(two.recall("harbour number777"))[0] == "m777"

    def test_an_export_is_not_disturbed_by_writes_meanwhile(self, book: Book) -> None:
        book.remember([Draft(content=f"harbour number{i}", id=f"m{i}") for i in range(700)])
        records = book.export()
        head = [next(records) for _ in range(10)]
        book.remember("meanwhile", id="meanwhile")
        book.kv("n").set("k", 1)
        told = [record["id"] for record in (*head, *records) if record["type"] == "memory"]
        assert {f"m{i}" for i in range(700)} <= set(told)
        assert len(told) == len(set(map(str, told)))

    def test_what_expired_on_the_way_is_gone_after_loading(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        one.remember("harbour short", ttl=TTL)
        one.kv("n").set("k", 1, ttl=TTL)
        records = list(one.export())
        time.sleep(TTL * 1.5)
        two.load(records)
        assert (len(two.list()), all_of(two), two.kv("n").keys()) == (0, set(), [])

    def test_a_loaded_record_never_leaks_another_error(self, shelf: Shelf) -> None:
        one, two = shelf.open("one"), shelf.open("two")
        fill(one, "apricot")
        odd: list[Any] = [None, 5, -1, 1.5, True, "", "x", "\ud800", [], {}, [None], {"a": None}, 10**30]
        kinds = {str(record["type"]): record for record in one.export()}
        for record in kinds.values():
            for field in record:
                for value in odd:
                    try:
                        two.load([{**record, field: value}])
                    except CommonplaceError:
                        continue
                    two.forget(everything=True)
