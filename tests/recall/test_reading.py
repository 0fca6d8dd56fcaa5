"""A recall around its reader: what the reader is shown, and what becomes of its opinion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

import commonplace
from commonplace import Book, Draft, Scope, Settings
from commonplace.models.reader import MOST_SKIMMED, NUMBERS, Opinion, Passage, Reader
from commonplace.values.arrays import Floats

MAY = datetime(2026, 5, 4, 9, tzinfo=timezone.utc)
Judge = Callable[[str], float]
ARRAYS = ("relevant", "outdated", "timeless")


class Scripted(Reader):
    """A reader that finds relevant what a function says, and remembers what it was shown."""

    def __init__(self, judge: Judge, most: int = 1000) -> None:
        self.judge = judge
        self.most = most
        self.questions: list[str] = []
        self.shown: list[Passage] = []
        self.numbers: Floats = np.zeros((0, len(NUMBERS)), np.float32)

    def read(self, question: str, passages: Sequence[Passage], numbers: Floats, **options: object) -> Opinion:  # type: ignore[override]
        self.questions.append(question)
        self.shown, self.numbers = list(passages), numbers
        likely = np.array([self.judge(passage.text) for passage in passages[: self.most]], np.float32)
        return Opinion(
            places=np.arange(len(likely)),
            answered=float(likely.max()),
            relevant=likely,
            outdated=np.zeros_like(likely),
            timeless=likely,
        )

    def number(self, name: str) -> list[float]:
        column: list[float] = self.numbers[:, NUMBERS.index(name)].tolist()
        return column


Opened = Callable[..., tuple[Book, Scripted]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    books: list[Book] = []

    def open_book(judge: Judge, most: int = 1000) -> tuple[Book, Scripted]:
        reader = Scripted(judge, most)
        books.append(commonplace.open(tmp_path / f"{len(books)}.db", reader=reader))
        return books[-1], reader

    yield open_book
    for book in books:
        book.close()


def told(answer: commonplace.Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def test_what_the_reader_finds_relevant_is_returned_and_nothing_else(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.97 if "Mongo" in text else 0.01)
    book.remember(["We went back to Mongo after all", "Which database do we pick?", "The database is slow"])
    assert told(book.recall("Which database did we pick?")) == ["We went back to Mongo after all"]


def test_nothing_is_returned_if_nothing_is_relevant(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.01)
    book.remember("The database is green")
    answer = book.recall("Which colour has the database?")
    assert (len(answer), answer.coverage, answer.text) == (0, "unknown", "")


@pytest.mark.parametrize(("likely", "coverage"), [(0.95, "known"), (0.6, "partly known")])
def test_coverage_says_how_sure_the_reader_is(opened: Opened, likely: float, coverage: str) -> None:
    book, _ = opened(lambda text: likely)
    book.remember("The door is green")
    assert book.recall("Which colour has the door?").coverage == coverage


def test_relevance_is_the_readers_probability(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.9)
    book.remember("The door is green")
    part = book.recall("Which colour has the door?").hits[0].parts
    assert part.relevance == pytest.approx(0.9, abs=1e-3)
    assert part.reread == pytest.approx(np.log(0.9 / 0.1), abs=1e-2)


def test_at_most_so_many_are_read_each_once(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.01)
    book.remember([f"The colour of door {number} is a matter of taste" for number in range(60)])
    book.recall("Which colour is the door?")
    assert len(reader.shown) == len(set(reader.shown)) == MOST_SKIMMED


def test_with_a_threshold_the_unread_follow_those_that_were_read(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.3)
    book.remember([f"The colour of door {number} is a matter of taste" for number in range(60)])
    hits = book.recall("Which colour is the door?", k=50, threshold=0, max_tokens=None).hits
    read = [hit.parts.reread is not None for hit in hits]
    assert read == sorted(read, reverse=True)
    assert read.count(True) == MOST_SKIMMED
    assert len(hits) == 50
    assert all(hit.parts.relevance < 0.3 for hit in hits[MOST_SKIMMED:])


def test_only_what_was_read_to_the_end_is_returned(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    book.remember([f"The colour of door {number} is green" for number in range(6)])
    whole = reader.read

    def read_some(question: str, passages: Sequence[Passage], numbers: Floats, **options: object) -> Opinion:
        said = whole(question, passages, numbers)
        chosen = np.array([1, 4])
        return replace(said, places=chosen, **{name: getattr(said, name)[chosen] for name in ARRAYS})

    reader.read = read_some  # type: ignore[method-assign, assignment]
    hits = book.recall("Which colour is the door?").hits
    assert {hit.memory.text for hit in hits} == {reader.shown[place].text for place in (1, 4)}


def test_what_there_was_no_time_to_read_is_not_returned(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.9, most=2)
    book.remember([f"The colour of door {number} is green" for number in range(6)])
    hits = book.recall("Which colour is the door?").hits
    assert len(hits) == 2
    assert all(hit.parts.reread is not None for hit in hits)


def test_a_turn_that_asks_nothing_gets_less_than_a_question(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.9 - 0.1 * int(text.split()[5]))
    book.remember([f"We walked up hill number {number} and were happy" for number in range(8)])
    told_turn = "We walked up the hill again today and it was so lovely that we were all happy"
    assert len(book.recall("Which hill did we walk up?")) > len(book.recall(told_turn))


def test_what_one_speaker_repeats_is_read_once(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    for text, source in (("Tea at five.", "Ana"), ("tea at five", "Ana"), ("Tea at five", "Bo")):
        book.remember(text, source=source)
    book.recall("When is tea?")
    assert sorted(passage.text.casefold().rstrip(".") for passage in reader.shown) == [
        "ana: tea at five",
        "bo: tea at five",
    ]


def test_a_short_turn_is_shown_with_the_turn_before_it(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    talk = Scope(session="talk")
    book.remember(
        [
            Draft(content="Shall we take the blue or the red one?", source="Ben", scope=talk, said_at=MAY),
            Draft(content="the blue one", source="Ada", scope=talk, said_at=MAY + timedelta(minutes=1)),
        ]
    )
    book.recall("Which colour did they take, blue or red?")
    assert Passage("Ada: the blue one", "Ben: Shall we take the blue or the red one?") in reader.shown


def test_turns_of_different_sessions_do_not_follow_each_other(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    book.remember(
        [
            Draft(content="Shall we take the blue one?", source="Ben", scope=Scope(session="one")),
            Draft(content="the blue one", source="Ada", scope=Scope(session="two")),
        ]
    )
    book.recall("Which one is blue?")
    assert {passage.before for passage in reader.shown} == {""}


def test_of_a_long_text_the_part_near_the_question_is_shown(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    padding = "Nothing of note was said about anything at all. " * 20
    book.remember(f"{padding}The ferry to Naxos leaves at seven. {padding}")
    book.recall("When does the ferry to Naxos leave?")
    assert "ferry to Naxos" in reader.shown[0].text
    assert len(reader.shown[0].text) < 500


def test_the_reader_is_shown_who_is_newer_and_who_asked(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    book.remember("The rate of the cleaner is 18 euros", said_at=MAY)
    book.remember("The rate of the cleaner is 22 euros", said_at=MAY + timedelta(days=30))
    book.recall("What is the rate of the cleaner?", asked_at=MAY + timedelta(days=31))
    newest = dict(zip([passage.text for passage in reader.shown], reader.number("newest"), strict=True))
    assert newest == {"The rate of the cleaner is 18 euros": 0.0, "The rate of the cleaner is 22 euros": 1.0}
    assert sorted(reader.number("age"))[0] == pytest.approx(np.log1p(1) / 8, abs=1e-4)


def test_greeting_and_thanks_are_not_read(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9)
    book.remember("Ana lives in Lyon")
    book.recall("Hi! Where does Ana live? Thanks a lot!")
    assert reader.questions == ["Where does Ana live?"]


@pytest.mark.parametrize("turn", ["Thanks, Nate. Have a great day.", "ok", "continue"])
def test_small_talk_is_answered_by_silence_without_reading(opened: Opened, turn: str) -> None:
    book, reader = opened(lambda text: 0.9)
    book.remember(["Thanks, Nate! Have a great day.", "ok", "continue"])
    answer = book.recall(turn)
    assert (len(answer), answer.coverage, reader.questions) == (0, "unknown", [])


def test_a_day_that_the_question_names_brings_in_candidates(opened: Opened) -> None:
    book, reader = opened(lambda text: 0.9 if "heron" in text else 0.01)
    crowd = [Draft(content=f"We met about the plan of room {n}", said_at=MAY) for n in range(300)]
    book.remember([*crowd, Draft(content="A heron stood in the pond", said_at=MAY - timedelta(days=200))])
    asked = MAY - timedelta(days=190)
    assert "A heron stood in the pond" not in [passage.text for passage in reader.shown]
    answer = book.recall("What did we meet two weeks ago about the plan?", asked_at=asked)
    assert told(answer) == ["A heron stood in the pond"]


def test_a_kind_that_the_question_names_brings_in_candidates(opened: Opened) -> None:
    book, _ = opened(lambda text: 0.9 if "Mongo" in text else 0.01)
    book.remember([f"What did we decide for room {n}?" for n in range(300)])
    book.remember("Mongo it is", kind="decision")
    assert told(book.recall("What did we decide?"))[0] == "Mongo it is"


def test_the_budget_of_reading_is_a_setting(tmp_path: Path) -> None:
    given: list[object] = []

    class Timed(Scripted):
        def read(self, question: str, passages: Sequence[Passage], numbers: Floats, **options: object) -> Opinion:  # type: ignore[override]
            given.append(options["budget"])
            return super().read(question, passages, numbers)

    settings = Settings(read_budget=0.125)
    with commonplace.open(tmp_path / "book.db", reader=Timed(lambda text: 0.9), settings=settings) as book:
        book.remember("The door is green")
        book.recall("Which colour has the door?")
    assert given == [0.125]


def test_without_a_reader_nothing_is_read(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "book.db", reader=None) as book:
        book.remember("The door of the house is green")
        assert book.recall("Which colour is the door of the house?").hits[0].parts.reread is None
