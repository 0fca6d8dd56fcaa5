"""Remember and get: stored memories are returned unchanged, all of a batch or none."""

from __future__ import annotations

import dataclasses
import time
from datetime import datetime, timedelta, timezone

import pytest
from commonplace.testing.contract.harness import (
    TTL,
    Harness,
    Shelf,
    all_of,
    case,
    each,
    found,
    ids,
    moment,
    now,
    wrong,
)

from commonplace.book import Book
from commonplace.errors import Conflict, DimensionMismatch, InvalidInput, InvalidText, NotFound, TooLarge
from commonplace.values import BINARY, JSON, KINDS, MARKDOWN, TEXT, Content, Draft, Json, Kind, Scope

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"

CONTENTS: dict[str, Draft] = {
    "text": Draft(content="We chose FastAPI"),
    "many scripts": Draft(content="naïve Ωμέγα 北京 🚢\u200d☠️ e\u0301"),
    "lines and tabs": Draft(content="first\r\n\tsecond\n\n"),
    "markdown": Draft(content="# Title\n\n- one\n- *two*", mime=MARKDOWN),
    "text with a summary": Draft(content="a long report", text="short"),
    "JSON object": Draft(content={"a": [1, 2.5, None, True], "ü": {"b": "c"}}),
    "empty JSON object": Draft(content={}),
    "JSON list": Draft(content=[1, "two", [3]]),
    "empty JSON list": Draft(content=[]),
    "large whole number": Draft(content={"n": 10**30, "m": -(2**63)}),
    "bytes": Draft(content=bytes(range(256))),
    "empty bytes": Draft(content=b""),
    "image": Draft(content=PNG, mime="image/png", text="a photograph of the harbour"),
}

BAD_ITEMS: dict[str, object] = {
    "NUL": "a\0b",
    "lone surrogate": "\ud800",
    "too large": "x" * 2_000_000,
    "not a content": 5,
    "unknown kind": Draft(content="x", kind=wrong("rumour")),
    "importance beyond 1": Draft(content="x", importance=2),
    "importance is no number": Draft(content="x", importance=float("nan")),
    "taken id": Draft(content="x", id="taken"),
    "nothing to supersede": Draft(content="x", supersedes=["nobody"]),
    "not JSON": Draft(content={"x": float("nan")}),
    "metadata not JSON": Draft(content="x", metadata={"x": wrong(object())}),
    "wrong dimension": Draft(content="x", vector=[1.0, 2.0, 3.0]),
    "negative ttl": Draft(content="x", ttl=-1),
    "tags as one text": Draft(content="x", tags="tag"),
}


class MemoryConformance(Harness):
    """`remember` and `get`."""

    def test_a_content_comes_back_equal(self, shelf: Shelf) -> None:
        book = shelf.open()
        memories = {name: book.remember(draft) for name, draft in CONTENTS.items()}
        book = shelf.reopen()
        for name, draft in CONTENTS.items():
            again = book.get(memories[name].id)
            assert (again.content, type(again.content)) == (draft.content, type(draft.content)), name
            assert again == memories[name], name

    @each(("content", "mime"), [("x", TEXT), ({"x": 1}, JSON), (b"x", BINARY)])
    def test_a_content_has_the_type_that_its_form_says(self, book: Book, content: Content, mime: str) -> None:
        assert book.remember(Draft(content=content)).mime == mime

    def test_a_memory_has_plain_defaults(self, book: Book) -> None:
        before = now()
        memory = book.remember("The harbour closes at nine")
        assert (memory.version, memory.kind, memory.tags, memory.metadata) == (1, "note", (), {})
        assert (memory.importance, memory.scope, memory.source) == (0.5, Scope(), None)
        assert (memory.expires_at, memory.valid_to, memory.superseded_by) == (None, None, None)
        assert memory.text == memory.content
        assert before - timedelta(seconds=5) <= memory.created_at <= now() + timedelta(seconds=5)
        assert memory.said_at == memory.updated_at == memory.created_at

    def test_every_option_comes_back(self, shelf: Shelf) -> None:
        scope = Scope(user="ada", agent="scribe", session="s1")
        metadata: dict[str, Json] = {"n": 1, "f": 0.5, "t": True, "z": None, "l": [1, "a"], "d": {"e": "f"}}
        memory = shelf.open().remember(
            PNG, kind="decision", tags=["b", "a", "b"], metadata=metadata, importance=0.75, scope=scope,
            source="minutes.md", said_at=moment(), ttl=3600, text="the harbour", mime="image/png", id="m 1",
            reason="asked to",
        )  # fmt: skip
        again = shelf.reopen().get("m 1")
        assert again == memory
        assert (again.kind, again.tags, again.metadata, again.importance) == (
            "decision", ("b", "a"), metadata, 0.75,
        )  # fmt: skip
        assert (again.scope, again.source, again.said_at) == (scope, "minutes.md", moment())
        assert (again.text, again.mime, again.content) == ("the harbour", "image/png", PNG)
        assert again.expires_at == again.created_at + timedelta(seconds=3600)

    @each("kind", KINDS)
    def test_every_kind_is_kept(self, book: Book, kind: Kind) -> None:
        assert book.get(book.remember("x", kind=kind).id).kind == kind

    def test_the_reason_stands_in_the_history(self, book: Book) -> None:
        memory = book.remember("x", reason="because")
        (revision,) = book.history(memory.id)
        assert (revision.version, revision.action, revision.reason) == (1, "remembered", "because")
        assert (revision.memory, revision.at) == (memory, memory.created_at)

    def test_a_time_without_a_zone_is_utc(self, book: Book) -> None:
        naive = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - what this test is about
        assert book.remember("x", said_at=naive).said_at == moment()

    def test_a_time_of_another_zone_is_the_same_moment(self, book: Book) -> None:
        there = moment().astimezone(timezone(timedelta(hours=-7)))
        assert book.get(book.remember("x", said_at=there).id).said_at == moment()

    def test_microseconds_are_kept(self, book: Book) -> None:
        exact = moment() + timedelta(microseconds=123_457)
        assert book.get(book.remember("x", said_at=exact).id).said_at == exact

    @each(
        "extreme",
        [
            datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
            datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
        ],
    )
    def test_a_time_that_cannot_be_given_back_is_refused(self, book: Book, extreme: datetime) -> None:
        with pytest.raises(InvalidInput):
            book.remember("x", said_at=extreme)
        assert len(book.list()) == 0

    @each(
        "edge",
        [datetime.max.replace(tzinfo=timezone.utc), datetime.min.replace(tzinfo=timezone.utc)],
    )
    def test_the_first_and_the_last_moment_are_kept(self, book: Book, edge: datetime) -> None:
        assert book.get(book.remember("x", said_at=edge).id).said_at == edge

    def test_a_memory_cannot_be_changed_in_place(self, book: Book) -> None:
        memory = book.remember("x")
        with pytest.raises(dataclasses.FrozenInstanceError):
            memory.text = "y"  # type: ignore[misc]  # what this test is about

    def test_ids_are_never_given_twice(self, book: Book) -> None:
        made = {memory.id for memory in book.remember([f"note {i}" for i in range(200)])}
        assert len(made) == 200

    def test_a_taken_id_is_a_conflict_that_changes_nothing(self, book: Book) -> None:
        first = book.remember("first", id="one")
        with pytest.raises(Conflict) as caught:
            book.remember("second", id="one")
        assert caught.value.current == 1
        assert book.get("one") == first
        book.revise("one", "changed")
        with pytest.raises(Conflict) as caught:
            book.remember("third", id="one")
        assert caught.value.current == 2

    def test_an_id_twice_in_one_batch_is_a_conflict_that_leaves_nothing(self, book: Book) -> None:
        with pytest.raises((Conflict, InvalidInput)):
            book.remember([Draft(content="a", id="x"), Draft(content="b", id="x")])
        assert len(book.list()) == 0

    def test_an_unknown_id_is_not_found(self, book: Book) -> None:
        book.remember("x", id="one")
        with pytest.raises(NotFound):
            book.get("two")
        with pytest.raises(NotFound):
            book.get("one", version=2)

    def test_a_list_means_many_in_their_order(self, book: Book) -> None:
        contents: list[str | bytes | dict[str, Json] | Draft] = ["a", {"b": 1}, b"c", Draft(content="d", id="four")]
        memories = book.remember(contents)
        assert [memory.content for memory in memories] == ["a", {"b": 1}, b"c", "d"]
        assert memories[3].id == "four"
        assert [book.get(memory.id) for memory in memories] == memories

    def test_a_tuple_means_many_too(self, book: Book) -> None:
        assert [memory.content for memory in book.remember(("a", "b"))] == ["a", "b"]

    def test_none_of_none_is_none(self, book: Book) -> None:
        assert book.remember([]) == []
        assert book.stats().memories == 0

    def test_options_apply_to_plain_contents_and_a_draft_brings_its_own(self, book: Book) -> None:
        plain, drafted = book.remember(["x", Draft(content="y", tags=["own"])], kind="fact", tags=["given"])
        assert (plain.kind, plain.tags) == ("fact", ("given",))
        assert (drafted.kind, drafted.tags) == ("note", ("own",))

    def test_one_draft_is_one_memory(self, book: Book) -> None:
        memory = book.remember(Draft(content=["a", "list"], id="l"))
        assert (memory.id, memory.content) == ("l", ["a", "list"])

    def test_an_id_or_a_vector_for_many_is_refused(self, book: Book) -> None:
        with pytest.raises(InvalidInput):
            book.remember(["a", "b"], id="x")
        with pytest.raises(InvalidInput):
            book.remember(["a", "b"], vector=[1.0] * book.stats().dimension)
        assert len(book.list()) == 0

    def test_a_failed_batch_leaves_nothing(self, shelf: Shelf) -> None:
        book = shelf.open()
        book.remember("already here", id="taken")
        for name, bad in BAD_ITEMS.items():
            with case(name):
                with pytest.raises((InvalidInput, Conflict, NotFound)):
                    book.remember(wrong(["good", bad, "also good"]))
                assert ids(book.list()) == ["taken"]
        for view in shelf.now_and_reopened(book):
            assert ids(view.list()) == ["taken"]
            assert all_of(view, "good") == {"taken"}
            assert view.stats().versions == 1

    def test_the_book_goes_on_after_a_failed_batch(self, book: Book) -> None:
        with pytest.raises(InvalidInput):
            book.remember(["good", "\0"])
        assert book.remember("good").version == 1

    def test_a_text_of_10_mb_is_too_large(self, book: Book) -> None:
        with pytest.raises(TooLarge):
            book.remember("x" * 10_000_000)
        assert book.stats().memories == 0

    def test_bytes_of_10_mb_come_back_equal(self, shelf: Shelf) -> None:
        blob = bytes(range(250)) * 40_000
        memory = shelf.open().remember(blob, text="a large blob")
        assert shelf.reopen().get(memory.id).content == blob

    @each("field", ["content", "text", "id", "source", "tag", "user", "metadata", "reason", "mime"])
    @each("bad", ["a\0b", "a\ud800b"])
    def test_text_that_no_index_can_carry_is_refused(self, book: Book, field: str, bad: str) -> None:
        drafts = {
            "content": Draft(content=bad),
            "text": Draft(content=b"x", text=bad),
            "id": Draft(content="x", id=bad),
            "source": Draft(content="x", source=bad),
            "tag": Draft(content="x", tags=[bad]),
            "user": Draft(content="x", scope=Scope(user=bad)),
            "metadata": Draft(content="x", metadata={"k": [bad]}),
            "reason": Draft(content="x", reason=bad),
            "mime": Draft(content="x", mime=bad),
        }
        with pytest.raises(InvalidText):
            book.remember(drafts[field])
        assert book.stats().memories == 0

    def test_a_backslash_before_u0000_is_plain_text(self, book: Book) -> None:
        memory = book.remember({"path": "C:\\u0000", "deep": "\\\\u0000"})
        assert book.get(memory.id).content == {"path": "C:\\u0000", "deep": "\\\\u0000"}

    @each("empty", ["", " \n\t"])
    def test_an_empty_text_is_nothing_to_remember(self, book: Book, empty: str) -> None:
        with pytest.raises(InvalidInput, match="empty"):
            book.remember(empty)
        assert len(book.list()) == 0

    def test_options_beside_a_draft_are_refused_not_ignored(self, book: Book) -> None:
        with pytest.raises(InvalidInput, match="Draft"):
            book.remember(Draft(content="x"), kind="fact")
        assert len(book.list()) == 0

    @each("field", ["id", "source", "tag", "user", "mime"])
    @each("empty", ["", "  "])
    def test_empty_names_are_refused(self, book: Book, field: str, empty: str) -> None:
        drafts = {
            "id": Draft(content="x", id=empty),
            "source": Draft(content="x", source=empty),
            "tag": Draft(content="x", tags=[empty]),
            "user": Draft(content="x", scope=Scope(user=empty)),
            "mime": Draft(content="x", mime=empty),
        }
        with pytest.raises(InvalidInput):
            book.remember(drafts[field])

    def test_deep_json_comes_back_or_is_refused(self, book: Book) -> None:
        shallow, deep, abyss = nested(50), nested(5_000), nested(100_000)
        assert book.get(book.remember({"d": shallow}).id).content == {"d": shallow}
        for value in (deep, abyss):
            with pytest.raises(InvalidInput):
                book.remember({"d": value})

    def test_deep_metadata_never_breaks_a_filter(self, book: Book) -> None:
        book.remember("plain", id="plain", metadata={"x": 1})
        for depth in (100, 900, 2_000, 100_000):
            try:
                book.remember("deep", metadata={"deep": nested(depth)})
            except InvalidInput:
                continue
        assert ids(book.list(filter={"metadata.x": 1})) == ["plain"]

    def test_keys_that_are_no_text_are_refused(self, book: Book) -> None:
        with pytest.raises(InvalidInput):
            book.remember(wrong({1: "one"}))
        with pytest.raises(InvalidInput):
            book.remember("x", metadata={"a": wrong({1: "one"})})
        with pytest.raises(InvalidInput):
            book.remember("x", metadata=wrong({1: "one"}))

    @each("ttl", [0, -1, float("nan"), float("inf"), True, "1"])
    def test_a_time_to_live_is_a_positive_number(self, book: Book, ttl: object) -> None:
        with pytest.raises(InvalidInput):
            book.remember("x", ttl=wrong(ttl))

    def test_what_has_expired_is_gone_everywhere(self, shelf: Shelf) -> None:
        book = shelf.open()
        kept = book.remember("the harbour stays", ttl=3600)
        short = book.remember("the harbour goes", ttl=TTL)
        assert book.get(short.id) == short
        assert all_of(book) == {short.id, kept.id}
        time.sleep(TTL * 1.5)
        for view in shelf.now_and_reopened(book):
            with pytest.raises(NotFound):
                view.get(short.id)
            with pytest.raises(NotFound):
                view.revise(short.id, "again")
            assert ids(view.list(superseded=True)) == [kept.id]
            assert all_of(view) == {kept.id}
            assert view.stats().memories == 1

    def test_what_has_expired_has_no_versions_left(self, book: Book) -> None:
        short = book.remember("the harbour goes", ttl=TTL)
        time.sleep(TTL * 1.5)
        with pytest.raises(NotFound):
            book.get(short.id, version=1)
        with pytest.raises(NotFound):
            book.history(short.id)
        with pytest.raises(NotFound):
            book.feedback(short.id, "used")

    def test_ids_of_what_has_expired_are_free_again(self, book: Book) -> None:
        drafts = [Draft(content=f"note {i}", id=f"id {i}", ttl=TTL) for i in range(50)]
        book.remember(drafts)
        time.sleep(TTL * 1.5)
        again = book.remember([dataclasses.replace(draft, ttl=None) for draft in drafts])
        assert len(again) == len(book.list()) == 50

    def test_a_vector_of_ones_own_decides_what_is_near(self, book: Book) -> None:
        size = book.stats().dimension
        first, second = unit(size, 0), unit(size, 1)
        book.remember("alpha", id="a", vector=first)
        book.remember("beta", id="b", vector=second)
        assert found(book.recall("gamma", vector=second, threshold=0))[0] == "b"
        assert found(book.recall("gamma", vector=first, threshold=0))[0] == "a"

    def test_a_vector_may_have_any_length_but_the_wrong_dimension(self, book: Book) -> None:
        size = book.stats().dimension
        for scale in (1e-3, 7.0, 1e30, 1e300):
            assert book.remember("x", vector=[scale] * size).version == 1
        assert book.remember("zeros", vector=[0.0] * size).version == 1
        for wrong_size in (0, 1, size - 1, size + 1):
            with pytest.raises(DimensionMismatch):
                book.remember("x", vector=[1.0] * wrong_size)

    @each("number", [float("nan"), float("inf"), "one", None])
    def test_a_vector_holds_finite_numbers(self, book: Book, number: object) -> None:
        size = book.stats().dimension
        with pytest.raises(InvalidInput):
            book.remember("x", vector=wrong([number] * size))
        assert book.stats().memories == 0


def nested(depth: int) -> list[Json]:
    """A list inside a list, so many levels deep."""
    value: list[Json] = []
    for _ in range(depth):
        value = [value]
    return value


def unit(size: int, place: int) -> list[float]:
    """A vector that points along one axis."""
    return [float(i == place) for i in range(size)]
