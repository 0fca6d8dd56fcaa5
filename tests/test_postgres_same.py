"""The same content in SQLite and in PostgreSQL: the same memories, in the same order, with the same scores."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace import Book, Draft, Recall, Scope
from commonplace.store.row import hash_speaker, hash_tag
from commonplace.testing import HashEmbedder
from tests.support.postgres import SCHEMAS

MEMORIES = 2_000
BATCH = 250
QUESTIONS = 50
TALKS = 40
TURNS = 12
CLOSE = 1e-4
EXPIRING = 50
BRIEF = 1.0
"""Seconds until the last of the memories expire; no write sweeps them away afterwards, so that recall must."""

EMBEDDER = HashEmbedder(dimension=128)
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
THINGS = "anchor beacon cargo dinghy estuary ferry gull harbour inlet jetty keel lantern mooring net oar pilot".split()
DEEDS = "was painted|needs a new rope|came in at dawn|is kept by the warden|leaks|was sold|must be inspected".split("|")
PEOPLE = "Ada Bob Chen Dora Emil Fay Gus Hana".split()
KINDS = ("fact", "preference", "decision", "failure")


def drafts() -> list[Draft]:
    """A harbour's memories, the same on every run."""
    chance = random.Random(7)
    return [_draft(chance, number) for number in range(MEMORIES)]


def _draft(chance: random.Random, number: int) -> Draft:
    thing, other = chance.sample(THINGS, 2)
    words = f"The {thing} of {chance.choice(PEOPLE)} {chance.choice(DEEDS)}; see the {other}, entry {number}"
    return Draft(
        content=words if number % 11 else f"{words}. {words.upper()} " + " ".join(chance.choices(THINGS, k=40)),
        id=f"m{number}",
        kind=chance.choice(KINDS),  # type: ignore[arg-type]
        tags=chance.sample(["north", "south", "night"], chance.randrange(3)),
        metadata={"berth": chance.randrange(20), "owner": chance.choice(PEOPLE)},
        importance=chance.choice([0.1, 0.5, 0.9]),
        scope=Scope(user=chance.choice([None, "ada", "bob"]), session=chance.choice([None, "s1", "s2"])),
        said_at=START + timedelta(hours=number),
        ttl=BRIEF if number >= MEMORIES - EXPIRING else None,
        supersedes=[f"m{number - 300}"] if number >= 300 and number % 25 == 0 else [],
    )


def fill(book: Book) -> datetime:
    """Write all of it, then change some; returns a moment between the two."""
    every = drafts()
    lasting = MEMORIES - EXPIRING
    for first in range(0, lasting, BATCH):
        book.remember(every[first : min(first + BATCH, lasting)])
    book.remember(every[lasting:])
    time.sleep(BRIEF + 0.1)
    between = datetime.now(timezone.utc)
    for number in range(0, MEMORIES - EXPIRING, 50):
        book.revise(f"m{number + 1}", f"The keel of entry {number + 1} was painted anew by Hana")
    book.forget([f"m{number}" for number in range(3, 200, 20)])
    for number in range(5, 100, 10):
        book.feedback(f"m{number}", "used")
    return between


def talks() -> list[Draft]:
    """Conversations of two, one session each; every second one has the speakers in the texts and not as sources."""
    chance = random.Random(5)
    return [
        _turn(chance, talk, turn, pair[turn % 2])
        for talk in range(TALKS)
        for pair in [chance.sample(PEOPLE, 2)]
        for turn in range(TURNS)
    ]


def _turn(chance: random.Random, talk: int, turn: int, speaker: str) -> Draft:
    thing, other = chance.sample(THINGS, 2)
    said = chance.choice(
        [
            f"What became of the {thing} after it {chance.choice(DEEDS)}?",
            f"I have {chance.randrange(2, 90)} pictures of the {thing} from last week, number {talk}-{turn}",
            f"The {thing} {chance.choice(DEEDS)}, and {chance.choice(PEOPLE)} saw the {other} on Monday {talk}-{turn}",
            f"Yes, {chance.choice(['gladly', 'of course', 'I was there'])} {talk}-{turn}!",
        ]
    )
    return Draft(
        content=said if talk % 2 else f"{speaker}: {said}",
        id=f"t{talk}-{turn}",
        kind="message",
        tags=["talk"] if talk % 3 else [],
        source=speaker if talk % 2 else None,
        scope=Scope(user="ada" if talk % 4 else None, session=f"talk {talk}"),
        said_at=START + timedelta(days=5 * talk, minutes=turn),
    )


def converse(book: Book) -> datetime:
    """Write all of the talks, side by side two at a time, then change some; returns a moment between the two."""
    every = talks()
    for first in range(0, len(every), 2 * TURNS):
        one, other = every[first : first + TURNS], every[first + TURNS : first + 2 * TURNS]
        mixed = [turn for both in zip(one, other, strict=True) for turn in both]
        book.remember(mixed if first % (4 * TURNS) else [*one, *other])
    between = datetime.now(timezone.utc)
    for talk in range(0, TALKS, 3):
        book.revise(f"t{talk}-4", f"The keel was painted anew by Hana, {talk}")
    book.forget([f"t{talk}-6" for talk in range(0, TALKS, 4)])
    return between


@pytest.fixture(scope="module")
def conversing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Book, datetime]]]:
    """Both books of conversations, each with its moment."""
    place = tmp_path_factory.mktemp("talks")
    with (
        commonplace.open(place / "book.db") as local,
        commonplace.open(SCHEMAS.url(Path("talks"))) as shared,
    ):
        yield [(book, converse(book)) for book in (local, shared)]
    SCHEMAS.release()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Book, datetime]]]:
    """Both books, each with its moment."""
    place = tmp_path_factory.mktemp("same")
    with (
        commonplace.open(place / "book.db", embedder=EMBEDDER) as local,
        commonplace.open(SCHEMAS.url(Path("same")), embedder=EMBEDDER) as shared,
    ):
        yield [(book, fill(book)) for book in (local, shared)]
    SCHEMAS.release()


def questions() -> list[tuple[str, dict[str, Any]]]:
    """Questions with all that may narrow them."""
    chance = random.Random(11)
    narrowed: list[dict[str, Any]] = [
        {},
        {"k": 25, "max_tokens": None},
        {"kinds": ["fact"]},
        {"tags": ["north"]},
        {"tags": ["north", "night"], "kinds": ["decision", "failure"]},
        {"within": Scope(user="ada")},
        {"within": Scope(user="bob", session="s1"), "superseded": True},
        {"superseded": True},
        {"filter": {"metadata.berth": {"$lt": 5}}},
        {"filter": {"$or": [{"metadata.owner": "Ada"}, {"importance": {"$gte": 0.9}}]}, "kinds": ["preference"]},
        {"filter": {"said_at": {"$gt": (START + timedelta(days=40)).isoformat()}}},
        {"as_of": ...},
        {"as_of": ..., "filter": {"metadata.owner": "Hana"}, "superseded": True},
        {"order": "time", "k": 8},
    ]
    made = []
    for number in range(QUESTIONS):
        options = {"threshold": chance.choice([0, None]), **narrowed[number % len(narrowed)]}
        words = f"{chance.choice(['what about', 'who has', 'is it true that'])} the {chance.choice(THINGS)}"
        made.append((f"{words} {chance.choice(DEEDS)} {chance.choice(['', chance.choice(PEOPLE)])}".strip(), options))
    return made


def questions_of_talks() -> list[tuple[str, dict[str, Any]]]:
    """Questions with names, dates and numbers in them."""
    chance = random.Random(13)
    narrowed: list[dict[str, Any]] = [
        {},
        {"k": 30, "max_tokens": None},
        {"tags": ["talk"]},
        {"within": Scope(user="ada")},
        {"filter": {"said_at": {"$gt": (START + timedelta(days=40)).isoformat()}}},
        {"as_of": ...},
    ]
    asked = (
        "What did {person} say of the {thing}?",
        "When did {person} see the {thing} that {deed}?",
        "How many pictures of the {thing} does {person} have?",
        "Who saw the {thing} in {month} 2026?",
        "What became of the {thing} after it {deed} on 6 {month}?",
        "Did {person} or {other} talk about the {thing}?",
        "Where is the {thing}?",
    )
    made = []
    for number in range(QUESTIONS):
        words = chance.choice(asked).format(
            person=chance.choice([*PEOPLE, "Zoe"]),
            other=chance.choice(PEOPLE),
            thing=chance.choice(THINGS),
            deed=chance.choice(DEEDS),
            month=chance.choice(["January", "March", "May", "July"]),
        )
        made.append((words, {"threshold": chance.choice([0, None]), **narrowed[number % len(narrowed)]}))
    return made


def answered(book: Book, between: datetime, query: str, options: dict[str, Any]) -> Recall:
    asked = {**options, "as_of": between} if "as_of" in options else options
    return book.recall(query, **asked)


def test_both_hold_the_same(pair: list[tuple[Book, datetime]]) -> None:
    left, right = ([(memory.id, memory.version, memory.text) for memory in pages(book)] for book, _ in pair)
    assert left == right
    assert len(left) == MEMORIES - EXPIRING - 10
    for book, _ in pair:
        assert book.check(deep=True).problems == ()


def pages(book: Book) -> Iterator[commonplace.Memory]:
    cursor = None
    while True:
        page = book.list(limit=500, cursor=cursor, superseded=True)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def test_both_recall_the_same_in_the_same_order(pair: list[tuple[Book, datetime]]) -> None:
    compare(pair, questions())


def test_both_recall_the_same_of_conversations(conversing: list[tuple[Book, datetime]]) -> None:
    compare(conversing, questions_of_talks())
    for book, _ in conversing:
        assert book.check(deep=True).problems == ()


def test_both_count_speakers_and_tags_alike(conversing: list[tuple[Book, datetime]]) -> None:
    words = [*(hash_speaker(name.lower()) for name in (*PEOPLE, "Zoe")), hash_tag("talk"), hash_tag("none")]
    left, right = (
        book._store.frequencies(book._place.find(), words, book.core.identity().generation).tolist()  # type: ignore[attr-defined]
        for book, _ in conversing
    )
    assert left == right
    assert left[0] > 0
    assert left[-2] > 0 == left[-1]


def compare(pair: list[tuple[Book, datetime]], asked: list[tuple[str, dict[str, Any]]]) -> None:
    found = 0
    for query, options in asked:
        left, right = (answered(book, between, query, options) for book, between in pair)
        assert [hit.memory.id for hit in left] == [hit.memory.id for hit in right], (query, options)
        scores = [[hit.score for hit in side] for side in (left, right)]
        assert scores[0] == pytest.approx(scores[1], abs=CLOSE), (query, options)
        assert [hit.memory.id for hit in left.avoid] == [hit.memory.id for hit in right.avoid]
        found += len(left.hits)
    assert found > QUESTIONS
