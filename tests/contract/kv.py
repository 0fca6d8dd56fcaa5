"""Key-value entries: JSON under names, with versions, compare-and-set and time to live."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from commonplace.testing.contract.harness import TTL, Harness, Shelf, each, now, wrong
from commonplace.testing.contract.memories import nested

from commonplace.book import Book
from commonplace.errors import Conflict, InvalidInput, InvalidText, TooLarge
from commonplace.values import Json

VALUES: list[Json] = [
    None, True, False, 0, -1, 10**30, 0.1, -0.0, 1e308, "", "text", "naïve 北京 🚢", "line\nbreak", "C:\\u0000", [], {},
    [None, [True, {"a": [1.5]}]], {"ü": {"": None}}, "x" * 100_000, 10**4000,
]  # fmt: skip


class KeyValueConformance(Harness):
    """`kv(namespace)`."""

    def test_a_value_comes_back_equal(self, shelf: Shelf) -> None:
        kv = shelf.open().kv("n")
        entries = [kv.set(f"k{number}", value) for number, value in enumerate(VALUES)]
        kv = shelf.reopen().kv("n")
        for entry, value in zip(entries, VALUES, strict=True):
            again = kv.entry(entry.key)
            assert again == entry
            assert (again.value, type(again.value)) == (value, type(value))

    def test_an_entry_has_its_version_and_times(self, book: Book) -> None:
        entry = book.kv("n").set("k", 1)
        assert (entry.key, entry.value, entry.version, entry.expires_at) == ("k", 1, 1, None)
        assert abs(entry.updated_at - now()) < timedelta(seconds=5)
        assert book.kv("n").set("k", 2, ttl=60).version == 2
        again = book.kv("n").entry("k")
        assert again is not None
        assert again.expires_at == again.updated_at + timedelta(seconds=60)

    def test_what_was_never_set_is_the_default(self, book: Book) -> None:
        kv = book.kv("n")
        assert (kv.get("k"), kv.get("k", 5), kv.entry("k")) == (None, 5, None)
        kv.set("k", None)
        assert kv.get("k", 5) is None
        entry = kv.entry("k")
        assert entry is not None
        assert entry.value is None

    def test_one_of_two_writers_of_an_entry_wins(self, book: Book) -> None:
        kv = book.kv("n")
        assert kv.set("k", "first", if_version=0).version == 1
        with pytest.raises(Conflict) as caught:
            kv.set("k", "second", if_version=0)
        assert caught.value.current == 1
        assert kv.set("k", "third", if_version=1).version == 2
        with pytest.raises(Conflict) as caught:
            kv.set("k", "fourth", if_version=1)
        assert (caught.value.current, kv.get("k")) == (2, "third")
        with pytest.raises(Conflict) as caught:
            kv.set("other", 1, if_version=3)
        assert (caught.value.current, kv.entry("other")) == (0, None)

    def test_delete_says_whether_anything_stood_there(self, book: Book) -> None:
        kv = book.kv("n")
        kv.set("k", 1)
        assert [kv.delete("k"), kv.delete("k"), kv.delete("never")] == [True, False, False]
        assert (kv.get("k", "gone"), kv.keys()) == ("gone", [])

    def test_delete_compares_too(self, book: Book) -> None:
        kv = book.kv("n")
        kv.set("k", 1)
        for stale in (0, 2):
            with pytest.raises(Conflict) as caught:
                kv.delete("k", if_version=stale)
            assert caught.value.current == 1
        assert kv.get("k") == 1
        assert kv.delete("k", if_version=1)
        with pytest.raises(Conflict) as caught:
            kv.delete("k", if_version=1)
        assert caught.value.current == 0
        assert not kv.delete("k", if_version=0)

    def test_versions_go_on_rising_across_a_delete(self, shelf: Shelf) -> None:
        kv = shelf.open().kv("n")
        last = kv.set("k", 1).version
        kv.delete("k")
        kv = shelf.reopen().kv("n")
        again = kv.set("k", 2, if_version=0).version
        assert again > last
        with pytest.raises(Conflict):
            kv.set("k", 3, if_version=last)

    def test_keys_are_sorted_and_begin_with_the_prefix(self, book: Book) -> None:
        kv = book.kv("n")
        keys = ["b", "a", "a/b", "a%", "a_c", "Ä", "A", "aB", "北"]
        for key in keys:
            kv.set(key, key)
        assert kv.keys() == sorted(keys)
        assert kv.keys("a") == ["a", "a%", "a/b", "aB", "a_c"]
        assert (kv.keys("a%"), kv.keys("a_"), kv.keys("北"), kv.keys("z")) == (["a%"], ["a_c"], ["北"], [])

    def test_namespaces_are_apart(self, book: Book) -> None:
        book.kv("one").set("k", 1)
        book.kv("two").set("k", 2)
        assert (book.kv("one").get("k"), book.kv("two").get("k"), book.kv("On").get("k")) == (1, 2, None)
        assert book.namespaces() == ["one", "two"]
        book.kv("one").delete("k")
        assert book.namespaces() == ["two"]
        assert book.stats().entries == 1

    def test_what_has_expired_is_gone(self, shelf: Shelf) -> None:
        book = shelf.open()
        kv = book.kv("n")
        first = kv.set("k", 1, ttl=TTL)
        kv.set("stays", 1)
        assert kv.get("k") == 1
        time.sleep(TTL * 1.5)
        for view in (book, shelf.open()):
            kv = view.kv("n")
            assert (kv.get("k"), kv.entry("k"), kv.keys()) == (None, None, ["stays"])
            assert view.stats().entries == 1
        assert not kv.delete("k")
        assert kv.set("k", 2, if_version=0).version > first.version

    def test_only_expired_entries_make_no_namespace(self, book: Book) -> None:
        book.kv("n").set("k", 1, ttl=TTL)
        time.sleep(TTL * 1.5)
        assert book.namespaces() == []

    def test_a_new_value_ends_the_old_time_to_live(self, book: Book) -> None:
        kv = book.kv("n")
        kv.set("k", 1, ttl=TTL)
        kv.set("k", 2)
        time.sleep(TTL * 1.5)
        assert kv.get("k") == 2

    def test_append_makes_and_extends_a_list(self, book: Book) -> None:
        kv = book.kv("n")
        assert kv.append("k", 1).value == [1]
        assert kv.append("k", "two", [3], None).value == [1, "two", [3], None]
        entry = kv.append("k")
        assert (entry.value, kv.get("k")) == ([1, "two", [3], None],) * 2
        assert entry.version == 3
        assert kv.append("empty").value == []

    def test_append_keeps_the_time_to_live(self, book: Book) -> None:
        kv = book.kv("n")
        before = kv.set("k", [1], ttl=TTL)
        assert kv.append("k", 2).expires_at == before.expires_at
        time.sleep(TTL * 1.5)
        assert kv.append("k", 3).value == [3]

    @each("value", [None, 1, "text", {"a": 1}])
    def test_append_needs_a_list(self, book: Book, value: Json) -> None:
        kv = book.kv("n")
        kv.set("k", value)
        with pytest.raises(InvalidInput):
            kv.append("k", 1)
        assert kv.get("k") == value

    @each("bad", [float("nan"), float("inf"), 1j, b"x", {1: 2}, {"a": {None: 1}}, {1, 2}])
    def test_what_json_cannot_say_is_refused(self, book: Book, bad: object) -> None:
        kv = book.kv("n")
        for value in (bad, [bad]):
            with pytest.raises(InvalidInput):
                kv.set("k", wrong(value))
            with pytest.raises(InvalidInput):
                kv.append("k", 1, wrong(value))
        assert kv.entry("k") is None

    @each("bad", ["\0", "\ud800", ["a", {"b": "\0"}], {"\0": 1}, {"\udfff": 1}])
    def test_text_that_cannot_be_stored_is_refused(self, book: Book, bad: Json) -> None:
        with pytest.raises(InvalidText):
            book.kv("n").set("k", bad)
        with pytest.raises(InvalidText):
            book.kv("n").append("k", bad)

    def test_deep_values_come_back_or_are_refused(self, book: Book) -> None:
        kv = book.kv("n")
        assert kv.set("k", nested(200)).value == kv.get("k") == nested(200)
        with pytest.raises(InvalidInput):
            kv.set("k", nested(100_000))
        assert kv.get("k") == nested(200)

    def test_numbers_of_more_digits_than_python_reads_are_refused(self, book: Book) -> None:
        with pytest.raises(InvalidInput):
            book.kv("n").set("k", 10**5000)

    def test_10_mb_come_back_equal_and_40_mb_are_too_large(self, book: Book) -> None:
        kv = book.kv("n")
        kv.set("k", "x" * 10_000_000)
        assert kv.get("k") == "x" * 10_000_000
        with pytest.raises(TooLarge):
            kv.set("k", "x" * 40_000_000)
        with pytest.raises(TooLarge):
            kv.append("l", *["x" * 10_000_000] * 4)
        assert kv.entry("l") is None

    @each("name", ["", " ", "a\0", "\ud800", "a\nb", "x" * 1000, None, 5])
    def test_names_are_short_plain_text(self, book: Book, name: object) -> None:
        for use in (lambda: book.kv(wrong(name)).keys(), lambda: book.kv("n").set(wrong(name), 1)):
            with pytest.raises(InvalidInput):
                use()
        with pytest.raises(InvalidInput):
            book.kv("n").get(wrong(name))

    @each("option", [{"ttl": 0}, {"ttl": -1}, {"ttl": "1"}, {"if_version": -1}, {"if_version": True}])
    def test_an_entry_refuses_options_that_make_no_sense(self, book: Book, option: dict[str, object]) -> None:
        with pytest.raises(InvalidInput):
            book.kv("n").set("k", 1, **wrong(option))
        assert book.kv("n").entry("k") is None
