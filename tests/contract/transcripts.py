"""Transcripts: messages verbatim, numbered from 1 without gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone

import pytest
from commonplace.testing.contract.harness import Harness, Shelf, each, moment, now, wrong
from commonplace.testing.contract.memories import nested

from commonplace.book import Book
from commonplace.errors import InvalidInput, InvalidText, TooLarge
from commonplace.values import Json, Message

CONTENTS: list[Json] = [
    "", "hello", "naïve 北京 🚢", "a\r\nb", None, True, 0, 1.5, 10**30, [], {}, [{"type": "text", "text": "hi"}],
    {"tool": {"args": [1, None]}},
]  # fmt: skip


class TranscriptConformance(Harness):
    """`transcript(session)`."""

    def test_a_forgotten_transcript_is_empty(self, book: Book) -> None:
        book.transcript("s").extend([{"content": "one"}, {"content": "two"}])
        book.transcript("kept").append("kept")
        assert book.transcript("s").forget() == 2
        assert book.transcript("s").read() == []
        assert book.transcripts() == ["kept"]

    def test_a_message_comes_back_equal(self, shelf: Shelf) -> None:
        transcript = shelf.open().transcript("s")
        said = [
            transcript.append(content, role="assistant", name="Ada", said_at=moment(), metadata={"n": [1, {"a": None}]})
            for content in CONTENTS
        ]
        messages = shelf.reopen().transcript("s").read()
        assert messages == said
        assert [message.number for message in messages] == list(range(1, len(CONTENTS) + 1))
        for again, content in zip(messages, CONTENTS, strict=True):
            assert (again.content, type(again.content)) == (content, type(content))
            assert (again.role, again.name, again.said_at) == ("assistant", "Ada", moment())
            assert again.metadata == {"n": [1, {"a": None}]}

    def test_a_message_has_plain_defaults(self, book: Book) -> None:
        message = book.transcript("s").append("hi")
        assert (message.number, message.role, message.name, message.metadata) == (1, "user", None, {})
        assert abs(message.said_at - now()) < timedelta(seconds=5)
        assert abs(message.created_at - message.said_at) < timedelta(seconds=5)

    def test_messages_are_numbered_from_1_without_gaps(self, shelf: Shelf) -> None:
        transcript = shelf.open().transcript("s")
        numbers = [transcript.append("a").number]
        numbers += [message.number for message in transcript.extend([{"content": "b"}, {"content": "c"}])]
        numbers.append(shelf.reopen().transcript("s").append("d").number)
        assert numbers == [1, 2, 3, 4]

    def test_messages_keep_the_order_in_which_they_came(self, book: Book) -> None:
        transcript = book.transcript("s")
        transcript.append("said later", said_at=moment(9))
        transcript.append("said before", said_at=moment())
        assert texts(transcript.read()) == ["said later", "said before"]

    def test_reading_starts_and_stops_where_asked(self, book: Book) -> None:
        transcript = book.transcript("s")
        transcript.extend({"content": i} for i in range(1, 8))
        assert texts(transcript.read()) == [1, 2, 3, 4, 5, 6, 7]
        assert texts(transcript.read(start=3, limit=2)) == [3, 4]
        assert texts(transcript.read(start=8)) == texts(transcript.read(limit=0)) == []
        assert texts(transcript.tail(2)) == [6, 7]
        assert (texts(transcript.tail(0)), texts(transcript.tail())) == ([], [1, 2, 3, 4, 5, 6, 7])
        assert texts(transcript.resume()) == [1, 2, 3, 4, 5, 6, 7]
        assert texts(transcript.resume(5)) == [6, 7]
        assert texts(transcript.resume(5, limit=1)) == [6]
        assert texts(transcript.resume(7)) == texts(transcript.resume(99)) == []

    def test_tail_gives_twenty_unless_asked_otherwise(self, book: Book) -> None:
        transcript = book.transcript("s")
        transcript.extend({"content": i} for i in range(30))
        assert texts(transcript.tail()) == list(range(10, 30))

    def test_one_goes_on_from_the_last_number_seen(self, book: Book) -> None:
        transcript, seen = book.transcript("s"), 0
        heard: list[Json] = []
        for turn in range(5):
            transcript.append(turn)
            new = transcript.resume(seen)
            heard += texts(new)
            seen = new[-1].number
        assert heard == [0, 1, 2, 3, 4]

    def test_extend_takes_every_field_and_any_iterable(self, book: Book) -> None:
        line: dict[str, object] = {
            "content": "c",
            "role": "tool",
            "name": "n",
            "said_at": moment(),
            "metadata": {"a": 1},
        }
        lines: list[Mapping[str, object]] = [line, {"content": "d"}]
        first, second = book.transcript("s").extend(iter(lines))
        assert (first.role, first.name, first.said_at, first.metadata) == ("tool", "n", moment(), {"a": 1})
        assert (second.role, second.content) == ("user", "d")
        assert book.transcript("s").extend([]) == []

    @each(
        "bad",
        [
            {}, {"role": "user"}, {"content": "x", "colour": 1}, {"content": "\0"}, {"content": "\ud800"}, "text", None,
            {"content": float("nan")}, {"content": 1j}, {"content": "x", "role": ""}, {"content": "x", "role": None},
            {"content": "x", "name": ""}, {"content": "x", "metadata": [1]}, {"content": "x", "said_at": "now"},
            {"content": "x" * 2_000_000}, {"content": {1: 2}},
        ]
    )  # fmt: skip
    def test_a_failed_extend_leaves_nothing(self, book: Book, bad: object) -> None:
        transcript = book.transcript("s")
        with pytest.raises(InvalidInput):
            transcript.extend(wrong([{"content": "good"}, bad, {"content": "good"}]))
        assert transcript.read() == []
        assert book.transcripts() == []

    def test_an_iterable_that_fails_leaves_nothing(self, book: Book) -> None:
        def broken() -> Iterator[Mapping[str, object]]:
            yield {"content": "good"}
            raise RuntimeError("the stream broke")

        with pytest.raises(RuntimeError):
            book.transcript("s").extend(broken())
        assert book.transcript("s").read() == []

    def test_sessions_are_apart(self, book: Book) -> None:
        book.transcript("b").append("in b")
        book.transcript("a").append("in a")
        assert (texts(book.transcript("a").read()), texts(book.transcript("b").read())) == (["in a"], ["in b"])
        assert book.transcripts() == ["a", "b"]
        assert book.transcript("none").read() == []
        assert book.stats().messages == 2

    def test_a_message_said_without_a_zone_was_said_in_utc(self, book: Book) -> None:
        naive = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - what this test is about
        assert book.transcript("s").append("x", said_at=naive).said_at == moment()

    def test_a_message_whose_time_cannot_be_given_back_is_refused(self, book: Book) -> None:
        extreme = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))
        with pytest.raises(InvalidInput):
            book.transcript("s").append("x", said_at=extreme)
        assert book.transcript("s").read() == []

    def test_contents_are_json_within_the_limits(self, book: Book) -> None:
        transcript = book.transcript("s")
        refused: list[tuple[type[Exception], object]] = [
            (InvalidText, "a\0"), (InvalidText, {"a": "\ud800"}), (InvalidInput, b"x"), (TooLarge, "x" * 10_000_000),
            (InvalidInput, nested(100_000)),
        ]  # fmt: skip
        for error, content in refused:
            with pytest.raises(error):
                transcript.append(wrong(content))
        assert transcript.append(nested(200)).content == nested(200)
        assert transcript.read()[0].content == nested(200)

    @each("session", ["", " ", "a\0", "\ud800", "a\nb", None, 5])
    def test_a_session_is_a_name(self, book: Book, session: object) -> None:
        with pytest.raises(InvalidInput):
            book.transcript(wrong(session)).append("x")

    @each("number", [-1, 1.5, True, "1"])
    def test_places_are_whole_numbers(self, book: Book, number: object) -> None:
        transcript = book.transcript("s")
        bad = wrong(number)
        asks: list[Callable[[], object]] = [
            lambda: transcript.read(start=bad),
            lambda: transcript.read(limit=bad),
            lambda: transcript.tail(bad),
            lambda: transcript.resume(bad),
        ]
        for ask in asks:
            with pytest.raises(InvalidInput):
                ask()
        with pytest.raises(InvalidInput):
            transcript.read(start=0)


def texts(messages: list[Message]) -> list[Json]:
    """Return the contents of the messages."""
    return [message.content for message in messages]
