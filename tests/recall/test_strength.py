"""Time, importance and feedback, and the receipts that feedback is given by."""

from __future__ import annotations

import base64
import math
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace
from commonplace.errors import InvalidInput
from commonplace.memories import strength as weigh
from commonplace.memories.strength import (
    OLDEST,
    RECEIPT,
    STRONGEST,
    WEAKEST,
    make_receipt,
    read_receipt,
    strength,
)
from commonplace.recall.evidence import certainty
from commonplace.settings import HALF_LIVES, Settings
from commonplace.testing import HashEmbedder
from commonplace.values import KINDS, Kind
from tests.recall.making import DAY

COUNT = st.integers(0, 10_000)


def recency(kind: Kind, age: float) -> float:
    return weigh.recency(age, HALF_LIVES[kind])


def test_every_kind_has_a_half_life() -> None:
    assert set(HALF_LIVES) == set(KINDS)


def test_new_and_future_memories_have_full_recency() -> None:
    assert recency("note", 0.0) == 1.0
    assert recency("note", -DAY) == 1.0


def test_half_of_the_freshness_is_gone_after_the_half_life() -> None:
    assert recency("note", HALF_LIVES["note"] * DAY) == pytest.approx((1 + OLDEST) / 2)


@pytest.mark.parametrize("slow", ["preference", "decision", "fact"])
def test_a_message_ages_faster_than_a_decision(slow: Kind) -> None:
    assert recency("message", 100 * DAY) < recency(slow, 100 * DAY)


@given(st.sampled_from(KINDS), st.floats(0, 1e12))
def test_age_never_hides_a_memory(kind: Kind, age: float) -> None:
    assert OLDEST <= recency(kind, age) <= 1.0


def test_by_default_strength_changes_nothing() -> None:
    assert strength(0.5) == 1.0


def test_importance_and_use_strengthen_and_blame_weakens() -> None:
    assert strength(1.0) > strength(0.5) > strength(0.0)
    assert strength(0.5, used=3) > strength(0.5) > strength(0.5, ignored=3)
    assert strength(0.5, wrong=1) < strength(0.0, ignored=100)
    assert strength(0.5, wrong=2) < strength(0.5, wrong=1)


@given(st.floats(0, 1), COUNT, COUNT, COUNT)
def test_strength_stays_within_its_bounds(importance: float, used: int, ignored: int, wrong: int) -> None:
    assert WEAKEST <= strength(importance, used=used, ignored=ignored, wrong=wrong) <= STRONGEST


def test_repetition_counts_as_much_as_use() -> None:
    assert strength(0.5, confirmed=3) == strength(0.5, used=3)


@pytest.mark.parametrize("half_lives", [{"rumour": 3.0}, {"note": 0}, {"note": "long"}])
def test_an_invalid_half_life_is_refused(half_lives: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="half_lives"):
        Settings(half_lives=half_lives)


def test_one_half_life_may_be_changed_alone() -> None:
    assert Settings(half_lives={"note": 3}).half_lives == {**HALF_LIVES, "note": 3}


def scored(evidence: float, recency: float, strength: float = 1.0) -> float:
    return 1 / (1 + math.exp(-evidence)) * certainty(evidence) * recency * strength


def log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def test_of_two_certain_memories_the_newer_comes_first() -> None:
    newer = scored(log_odds(0.97), recency("fact", DAY), 1.0)
    older = scored(log_odds(0.99), recency("fact", 900 * DAY), 1.0)
    assert newer > older


def test_of_two_certainties_of_one_age_the_better_evidence_comes_first() -> None:
    assert scored(41.0, recency("fact", DAY + 1), 1.0) > scored(40.0, recency("fact", DAY), 1.0)


def test_of_two_that_answer_alike_the_used_one_comes_first_after_a_year() -> None:
    weights = {used: recency_of_used("message", 400 * DAY, used) * strength(0.5, used=used) for used in (0, 1, 4, 12)}
    assert [*weights.values()] == sorted(weights.values())
    assert weights[0] < 0.86
    assert weights[12] > recency("message", 0)


def recency_of_used(kind: Kind, age: float, used: int) -> float:
    return weigh.recency(age, weigh.stretch(HALF_LIVES[kind], used=used, confirmed=0))


def test_of_an_old_message_and_an_old_fact_that_answer_alike_the_fact_comes_first() -> None:
    fact = scored(log_odds(0.94), recency("fact", 400 * DAY))
    message = scored(log_odds(0.98), recency("message", 400 * DAY))
    assert fact > message


def test_recency_does_not_make_up_for_doubtful_relevance() -> None:
    doubtful = scored(log_odds(0.5), recency("note", 0), strength(0.5))
    certain = scored(log_odds(0.99), recency("note", 10_000 * DAY), strength(0.5))
    assert certain > doubtful


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"))))
def test_a_receipt_gives_back_its_ids_in_order(ids: list[str]) -> None:
    assert read_receipt(make_receipt(ids)) == tuple(ids)


def test_a_receipt_is_safe_in_a_url_and_not_long() -> None:
    receipt = make_receipt([f"01JB{i:022d}" for i in range(10)])
    assert re.fullmatch(r"rcpt_[A-Za-z0-9_-]+", receipt)
    assert len(receipt) < 400


@given(st.lists(st.text(min_size=1, max_size=10), min_size=1, max_size=3), st.data())
def test_a_changed_receipt_is_refused(ids: list[str], data: st.DataObject) -> None:
    receipt = make_receipt(ids)
    at = data.draw(st.integers(len(RECEIPT), len(receipt) - 2))
    other = data.draw(st.sampled_from([letter for letter in "ABCxyz019-_" if letter != receipt[at]]))
    with pytest.raises(InvalidInput):
        read_receipt(receipt[:at] + other + receipt[at + 1 :])


@pytest.mark.parametrize("text", ["", "rcpt_", "rcpt_!!!", "rcpt_AAAA", "memory-1", "rcpt_é", "rcpt_" + "A" * 50])
def test_other_text_is_not_a_receipt(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_receipt(text)


def test_a_cut_receipt_is_refused() -> None:
    receipt = make_receipt(["alpha", "beta", "gamma"])
    for length in range(len(receipt)):
        with pytest.raises(InvalidInput):
            read_receipt(receipt[:length])


def forged(body: bytes) -> str:
    packed = zlib.compress(body)
    checked = zlib.crc32(packed).to_bytes(4, "big") + packed
    return RECEIPT + base64.urlsafe_b64encode(checked).decode().rstrip("=")


def test_a_receipt_that_unpacks_without_end_is_refused() -> None:
    with pytest.raises(InvalidInput):
        read_receipt(forged(b'["' + b"a" * 5_000_000 + b'"]'))


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"null", b"[", b"\xff"])
def test_a_forged_receipt_of_something_else_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_receipt(forged(body))


def test_a_receipt_counts_each_memory_once(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "book.db", embedder=HashEmbedder()) as book:
        memory = book.remember("the harbour")
        assert book.feedback(make_receipt([memory.id] * 100), "used") == 1
