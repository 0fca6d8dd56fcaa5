"""The reader of statements and the claims decide together what a new memory does to the known ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

import commonplace
from commonplace import Book, Draft, Scope
from commonplace.models.statements import RELATIONS, Pair
from commonplace.reconcile import plan as planning
from commonplace.testing import HashEmbedder
from commonplace.values.arrays import Floats
from commonplace.values.extraction import Finding, Utterance

MAY = datetime(2026, 5, 4, 9, tzinfo=timezone.utc)
JUNE = MAY + timedelta(days=30)
MONGO, POSTGRES = "We use Mongo for the API", "we ended up going back to Postgres after all"
PORT = "The staging server listens on port {}"


class Script:
    """A reader that is sure of the relations that it was given, and calls all other pairs unrelated."""

    def __init__(
        self, said: dict[tuple[str, str], tuple[str, float]], first: Callable[[], None] = lambda: None
    ) -> None:
        self.said = said
        self.first = first
        self.calls: list[list[Pair]] = []

    @property
    def pairs(self) -> list[Pair]:
        return [pair for call in self.calls for pair in call]

    def relate(self, pairs: Sequence[Pair]) -> Floats:
        self.calls.append(list(pairs))
        self.first()
        rows = np.zeros((len(pairs), len(RELATIONS)), np.float32)
        for row, pair in zip(rows, pairs, strict=True):
            relation, likely = self.said.get((pair.earlier, pair.later), ("unrelated", 1.0))
            row[RELATIONS.index("unrelated")] = 1 - likely
            row[RELATIONS.index(relation)] = likely
        return rows


class Whole:
    """An extractor that keeps every message as it is."""

    def extract(self, messages: Sequence[Utterance]) -> list[list[Finding]]:
        return [[Finding(text=m.text, kind="fact", start=0, end=len(m.text), rule="script")] for m in messages]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Book]]:
    books: list[Book] = []

    def open_book(script: Script | None = None) -> Book:
        book = commonplace.open(tmp_path / "book.db", embedder=HashEmbedder(), reader=None, extractor=Whole())
        book.core.statements = None if script is None else lambda: script  # type: ignore[attr-defined]
        books.append(book)
        return book

    yield open_book
    for book in books:
        book.close()


def standing(book: Book) -> set[str]:
    return {memory.text for memory in book.list(limit=1000) if memory.kind != "message"}


def relations(book: Book, id: str) -> list[tuple[str, str]]:
    return [(link.relation, link.other) for link in book.links(id) if link.id == id]


def test_what_is_surely_replaced_in_free_words_is_closed(opened: Callable[..., Book]) -> None:
    script = Script({(MONGO, POSTGRES): ("replaces", 0.95)})
    book = opened(script)
    old = book.remember(MONGO, source="Ana", said_at=MAY, reconcile=True)
    new = book.remember(POSTGRES, source="Ben", said_at=JUNE, reconcile=True)
    assert script.pairs == [Pair(MONGO, POSTGRES, same_speaker=False)]
    assert book.get(old.id).superseded_by == new.id
    assert standing(book) == {POSTGRES}
    book.undo(new.id, old.id)
    assert standing(book) == {MONGO, POSTGRES}


def test_learning_closes_what_it_replaces_too(opened: Callable[..., Book]) -> None:
    book = opened(Script({(MONGO, POSTGRES): ("replaces", 0.95)}))
    for day, text in ((MAY, MONGO), (JUNE, POSTGRES)):
        book.learn([{"content": text, "said_at": day, "name": "Ana"}], wait=True)
    assert standing(book) == {POSTGRES}


@pytest.mark.parametrize(("relation", "likely"), [("replaces", 0.6), ("disputes", 0.7)])
def test_what_is_likely_is_linked_as_a_dispute_and_closes_nothing(
    opened: Callable[..., Book], relation: str, likely: float
) -> None:
    book = opened(Script({(MONGO, POSTGRES): (relation, likely)}))
    old = book.remember(MONGO, said_at=MAY, reconcile=True)
    new = book.remember(POSTGRES, said_at=JUNE, reconcile=True)
    assert standing(book) == {MONGO, POSTGRES}
    assert relations(book, new.id) == [("disputes", old.id)]


def test_what_is_unlikely_does_nothing(opened: Callable[..., Book]) -> None:
    book = opened(Script({(MONGO, POSTGRES): ("replaces", 0.3)}))
    book.remember(MONGO, said_at=MAY, reconcile=True)
    new = book.remember(POSTGRES, said_at=JUNE, reconcile=True)
    assert standing(book) == {MONGO, POSTGRES}
    assert relations(book, new.id) == []


def test_what_repeats_in_other_words_counts_as_a_repetition(opened: Callable[..., Book]) -> None:
    known, again = "I can't stand coriander", "cilantro tastes like soap to me"
    book = opened(Script({(known, again): ("repeats", 0.9)}))
    first = book.remember(known, source="Ana", said_at=MAY, reconcile=True)
    assert book.remember(again, source="Ana", said_at=JUNE, reconcile=True).id == first.id
    assert standing(book) == {known}


@pytest.mark.parametrize(
    ("known", "again"),
    [
        ("so, a party it is", "900 euros, that is for the party"),
        ("London is located in the continent of Europe.", "The capital of England is London."),
    ],
)
def test_what_may_be_a_repetition_but_makes_another_claim_stands_for_itself(
    opened: Callable[..., Book], known: str, again: str
) -> None:
    book = opened(Script({(known, again): ("repeats", 0.7)}))
    book.remember(known, said_at=MAY, reconcile=True)
    book.remember(again, said_at=JUNE, reconcile=True)
    assert standing(book) == {known, again}


@pytest.mark.parametrize(
    ("one", "other", "sources"),
    [
        ("Printer 3 is out of toner", "Printer 4 has toner again", (None, None)),
        ("I live in Porto", "I have moved to Lisbon", ("Tom", "Sarah")),
    ],
)
def test_a_claim_about_another_subject_vetoes_the_reader(
    opened: Callable[..., Book], one: str, other: str, sources: tuple[str | None, str | None]
) -> None:
    script = Script({(one, other): ("replaces", 1.0)})
    book = opened(script)
    book.remember(one, source=sources[0], said_at=MAY, reconcile=True)
    book.remember(other, source=sources[1], said_at=JUNE, reconcile=True)
    assert standing(book) == {one, other}
    assert script.pairs == []


def test_what_the_claims_decide_is_not_read(opened: Callable[..., Book]) -> None:
    script = Script({})
    book = opened(script)
    for number in (8081, 8081, 9090):
        book.remember(PORT.format(number), kind="fact", reconcile=True)
    assert standing(book) == {PORT.format(9090)}
    assert script.pairs == []


def test_what_was_said_earlier_and_arrives_late_is_closed_from_the_start(opened: Callable[..., Book]) -> None:
    book = opened(Script({(MONGO, POSTGRES): ("replaces", 0.95)}))
    new = book.remember(POSTGRES, said_at=JUNE, reconcile=True)
    old = book.remember(MONGO, said_at=MAY, reconcile=True)
    assert book.get(old.id).superseded_by == new.id
    assert standing(book) == {POSTGRES}


def test_what_was_said_again_since_is_not_closed_by_what_was_said_in_between(opened: Callable[..., Book]) -> None:
    book = opened(Script({(MONGO, POSTGRES): ("replaces", 0.95), (POSTGRES, MONGO): ("replaces", 0.95)}))
    known = book.remember(MONGO, said_at=MAY, reconcile=True)
    assert book.remember(MONGO, said_at=JUNE, reconcile=True).id == known.id
    book.remember(POSTGRES, said_at=MAY + timedelta(days=10), reconcile=True)
    assert standing(book) == {MONGO}


def test_memories_of_one_call_are_read_together(opened: Callable[..., Book]) -> None:
    script = Script({(MONGO, POSTGRES): ("replaces", 0.95)})
    book = opened(script)
    book.remember([Draft(content=MONGO, said_at=MAY), Draft(content=POSTGRES, said_at=JUNE)], reconcile=True)
    assert standing(book) == {POSTGRES}
    assert len(script.calls) == 1


def test_only_the_nearest_few_are_read(opened: Callable[..., Book]) -> None:
    script = Script({})
    book = opened(script)
    book.remember([f"Mongo shard {word} runs the API" for word in "abcdefghijkl"])
    book.remember(POSTGRES, reconcile=True)
    assert 0 < len(script.pairs) <= planning._READ


def test_memories_of_other_scopes_do_not_crowd_out_those_of_the_own(opened: Callable[..., Book]) -> None:
    book = opened(Script({(MONGO, POSTGRES): ("replaces", 0.95)}))
    book.remember(
        [Draft(content=f"{POSTGRES}, says number {i}", scope=Scope(user=f"u{i}"), said_at=MAY) for i in range(80)]
    )
    ana = Scope(user="ana")
    old = book.remember(MONGO, scope=ana, said_at=MAY)
    new = book.remember(POSTGRES, scope=ana, said_at=JUNE, reconcile=True)
    assert book.get(old.id).superseded_by == new.id


def test_what_another_writer_adds_meanwhile_is_read_too(opened: Callable[..., Book]) -> None:
    other = opened()
    script = Script({(MONGO, POSTGRES): ("replaces", 0.95)})
    book = opened(script)
    book.remember("The harbour crane is red", said_at=MAY)

    def write() -> None:
        if len(script.calls) == 1:
            other.remember(MONGO, said_at=MAY)

    script.first = write
    book.remember(POSTGRES, said_at=JUNE, reconcile=True)
    assert standing(book) == {POSTGRES, "The harbour crane is red"}
    assert len(script.calls) == 2


def test_writers_who_never_rest_hold_nobody_up(opened: Callable[..., Book]) -> None:
    other = opened()
    script = Script({})
    book = opened(script)
    book.remember("The harbour crane is red", said_at=MAY)

    def write() -> None:
        other.remember(f"Crane {len(script.calls)} of the harbour is blue")

    script.first = write
    book.remember(POSTGRES, said_at=JUNE, reconcile=True)
    assert POSTGRES in standing(book)
    assert len(script.calls) == planning._AGAIN + 1


def test_without_a_reader_the_claims_decide(opened: Callable[..., Book]) -> None:
    book = opened()
    book.remember(MONGO, said_at=MAY, reconcile=True)
    book.remember(POSTGRES, said_at=JUNE, reconcile=True)
    book.remember(PORT.format(8081), kind="fact", reconcile=True)
    book.remember(PORT.format(9090), kind="fact", reconcile=True)
    assert standing(book) == {MONGO, POSTGRES, PORT.format(9090)}
