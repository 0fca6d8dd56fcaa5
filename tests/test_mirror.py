"""The search index in memory: which memories become candidates."""

from __future__ import annotations

from commonplace.store.base import Probe
from commonplace.store.row import hash_speaker, pack_head, pack_terms
from commonplace.store.view import View
from commonplace.text.terms import query_terms
from commonplace.values import Scope

TURNS = (
    ("talk", "Where does the puppy sleep?"),
    ("x", "Rain"),
    ("x", "Wind"),
    ("talk", "By the oven"),
    ("talk", "Yes"),
)
DIMENSION = 8


def view(turns: tuple[tuple[str | None, str], ...], ended: tuple[int, ...] = ()) -> View:
    rows = [
        (
            seq,
            pack_head(kind="note", scope=Scope(session=session), expires_at=None, closed=False),
            None,
            pack_terms(text, [], "Mary Ann"),
        )
        for seq, (session, text) in enumerate(turns, 1)
    ]
    added, tail = View.empty(0, DIMENSION, room=len(rows)).add(rows)
    loaded = added.settle([tail], [], len(rows))
    return loaded.settle([], ended, len(rows) + 1) if ended else loaded


def candidates(found: View, depth: int = 10) -> list[int]:
    probe = Probe(vector=None, terms=query_terms("puppy"), depth=depth, now=0)
    return found.search(probe, None).seqs.tolist()  # type: ignore[no-any-return]


def test_neighbours_of_a_candidate_in_its_session_are_candidates_too() -> None:
    assert candidates(view(TURNS[:1] + TURNS[3:])) == [1, 2, 3]
    assert candidates(view(((None, "A puppy"), (None, "By the oven")))) == [1]


def test_distant_memories_are_no_candidates() -> None:
    assert candidates(view(TURNS)) == [1]


def test_ended_memories_do_not_count_as_neighbours() -> None:
    assert candidates(view(TURNS, ended=(2,))) == [1, 4]
    assert candidates(view(TURNS, ended=(2, 3))) == [1, 4, 5]


def test_of_equal_candidates_the_first_count() -> None:
    assert candidates(view(((None, "A puppy"),) * 5), depth=2) == [1, 2]


def test_speakers_are_counted_by_each_word_of_their_names_while_their_memories_are_current() -> None:
    names = [hash_speaker(word) for word in ("mary", "ann", "bob")]
    assert view(TURNS).frequencies(names).tolist() == [5, 5, 0]
    assert view(TURNS, ended=(1, 2)).frequencies(names).tolist() == [3, 3, 0]
