from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.models.background import Background, measure
from commonplace.models.embedders import load
from commonplace.recall.rank import THRESHOLD, Judgement, judge
from commonplace.store.candidates import Candidates
from commonplace.text import terms as analyze
from tests.recall.making import candidates

PLAIN = Background(mean=0.05, deviation=0.08)
SHIPPED = load()
MEASURED = measure(SHIPPED)

TEAM = (
    "Alice is allergic to peanuts",
    "Bob moved to Berlin in March",
    "The staging server runs on port 8080",
    "Deploys are frozen on Fridays",
)
CHOICE = ("We chose FastAPI over Flask because of async support",)


def asked(query: str, texts: tuple[str, ...]) -> Judgement:
    """Judge a small book as the shipped embedder sees it."""
    cosines = (SHIPPED.embed(texts) @ SHIPPED.embed_query(query)).tolist()
    return judge(candidates(query, texts, cosines), MEASURED, analyze.query_terms(query))


@pytest.mark.parametrize(
    "query",
    ["which web framework did we pick?", "why did we choose FastAPI?", "FastAPI", "do we use an async framework?"],
)
def test_a_book_of_one_memory_answers_what_it_knows(query: str) -> None:
    assert asked(query, CHOICE).relevance[0] >= THRESHOLD


@pytest.mark.parametrize(
    "query",
    [
        "what is the capital of Peru?",
        "when is my dentist appointment?",
        "how do I bake sourdough bread?",
        "who won the football match?",
        "what's the wifi password?",
    ],
)
def test_a_book_of_one_memory_says_nothing_of_the_rest(query: str) -> None:
    assert asked(query, CHOICE).relevance[0] < THRESHOLD


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("what is Alice allergic to?", 0),
        ("can Alice eat peanut butter?", 0),
        ("food allergies", 0),
        ("where does Bob live now?", 1),
        ("which port does staging use?", 2),
        ("can I deploy on Friday?", 3),
    ],
)
def test_a_small_book_puts_the_answer_first(query: str, place: int) -> None:
    relevance = asked(query, TEAM).relevance
    assert int(relevance.argmax()) == place
    assert relevance[place] >= THRESHOLD


def test_a_small_book_stays_silent_on_strange_questions() -> None:
    for query in ("what is the capital of Peru?", "who painted the Mona Lisa?", "recommend me a novel"):
        assert asked(query, TEAM).relevance.max() < THRESHOLD


def test_meaning_is_counted_in_deviations_above_unrelated_text() -> None:
    found = judge(candidates("a flask", ["one", "two"], [0.05, 0.21]), PLAIN)
    assert np.allclose(found.meaning, [0.0, 2.0], atol=1e-5)


def test_a_long_text_must_be_closer_where_the_embedder_finds_long_texts_alike() -> None:
    texts = ["short text", " ".join(f"filler{i}" for i in range(200))]
    found = judge(candidates("flask", texts, [0.5, 0.5]), Background(mean=0.05, deviation=0.08, growth=0.02))
    assert found.meaning[0] > found.meaning[1]


def test_the_same_evidence_counts_less_among_many_memories() -> None:
    alone = judge(candidates("flask", ["we use flask"], [0.3], population=1), PLAIN).relevance[0]
    among_many = judge(candidates("flask", ["we use flask"], [0.3], population=100_000), PLAIN).relevance[0]
    assert among_many < alone


def test_looking_through_a_few_of_many_memories_is_like_a_small_book() -> None:
    many = candidates("flask", ["we use flask"], [0.3], population=100_000)
    assert judge(replace(many, searched=3), PLAIN).relevance[0] > judge(many, PLAIN).relevance[0]


def test_a_plain_answer_is_found_among_a_hundred_thousand() -> None:
    query = "which port does the staging server use?"
    found = candidates(query, ["The staging server runs on port 8080"], [0.6], population=100_000)
    assert judge(found, PLAIN, analyze.query_terms(query)).relevance[0] > 0.5


def test_words_a_large_space_never_heard_speak_against_it() -> None:
    heard = candidates("flask migration", ["we use flask", "a migration"], [0.4, 0.1], population=500)
    unheard = candidates("flask zyzzyva", ["we use flask", "a migration"], [0.4, 0.1], population=500)
    assert judge(unheard, PLAIN).relevance[0] < judge(heard, PLAIN).relevance[0]


def test_without_a_vector_words_decide() -> None:
    found = judge(candidates("flask or fastapi", ["flask and fastapi", "flask once", "neither"]), PLAIN)
    assert found.relevance[0] > found.relevance[1] > found.relevance[2]
    assert found.relevance[0] >= THRESHOLD > found.relevance[2]
    assert found.meaning.tolist() == [0.0, 0.0, 0.0]


def test_without_words_meaning_decides() -> None:
    found = judge(candidates("?!", ["close", "far"], [0.7, 0.0]), PLAIN)
    assert found.relevance[0] >= THRESHOLD > found.relevance[1]


def test_no_candidates_is_no_trouble() -> None:
    assert len(judge(candidates("flask", []), PLAIN).relevance) == 0


def test_a_candidate_is_judged_alone() -> None:
    both = candidates("flask async", ["flask async", "async flask flask"], [0.4, 0.2])
    first = Candidates(
        seqs=both.seqs[:1],
        cosines=both.cosines[:1],
        counts=both.counts[:1],
        lengths=both.lengths[:1],
        frequencies=both.frequencies,
        population=both.population,
        searched=both.searched,
    )
    assert judge(first, PLAIN).relevance[0] == judge(both, PLAIN).relevance[0]


@given(
    cosines=st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2).map(sorted),
    population=st.integers(1, 1_000_000),
)
def test_a_closer_memory_is_never_less_relevant(cosines: list[float], population: int) -> None:
    found = judge(candidates("?!", ["a b", "a b"], cosines, population=population), PLAIN)
    assert found.relevance[0] <= found.relevance[1]
    assert ((found.relevance >= 0) & (found.relevance <= 1)).all()


@given(deviation=st.floats(0.02, 0.3), mean=st.floats(-0.2, 0.9), cosine=st.floats(-1, 1, width=32))
def test_relevance_is_a_probability_for_every_embedder(deviation: float, mean: float, cosine: float) -> None:
    found = judge(candidates("flask", ["flask"], [cosine]), Background(mean=mean, deviation=deviation))
    assert 0 <= found.relevance[0] <= 1


@pytest.mark.slow
def test_two_hundred_candidates_are_judged_in_a_fraction_of_a_millisecond() -> None:
    query = "which web framework did the platform team pick for the public service last spring"
    texts = [f"framework team spring note{i}" for i in range(200)]
    found = candidates(query, texts, [0.01 * (i % 50) for i in range(200)], population=100_000)
    terms = analyze.query_terms(query)
    best = min(_seconds(found, terms) for _ in range(5))
    assert best < 5 * 0.0003, "a generous five times the goal: the machine may be busy"


def _seconds(found: Candidates, terms: tuple[int, ...]) -> float:
    start = time.process_time()
    for _ in range(50):
        judge(found, PLAIN, terms)
    return (time.process_time() - start) / 50
