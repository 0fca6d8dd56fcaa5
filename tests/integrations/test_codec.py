"""Integrations return stored objects of other packages unchanged."""

from __future__ import annotations

from typing import Any

import pytest

import commonplace
from commonplace.integrations.codec import decode, encode, encode_name

ODD = [
    "a\0b",
    "half \ud83d pair",
    {"x": ["\0"]},
    float("inf"),
    {"json": "x"},
    {"json": {"json": "\0"}},
    "\\u0000",
    None,
]


@pytest.mark.parametrize("value", ODD)
def test_a_value_that_a_book_refuses_comes_back_encoded(book: commonplace.Book, value: Any) -> None:
    book.kv("odd").set("value", encode(value))
    assert decode(book.kv("odd").get("value")) == value


def test_a_value_that_is_not_json_is_refused() -> None:
    with pytest.raises(commonplace.InvalidInput, match="not JSON"):
        encode({"set": {1, 2}})  # type: ignore[dict-item]


def test_any_text_has_a_name_of_its_own() -> None:
    texts = ["plain", "a/b", "", " ", "a\nb", "a\0b", "\ud83d", "é" * 300, "é" * 301, "x" * 400, "x" * 401]
    names = [encode_name(text) for text in texts]
    assert len(set(names)) == len(texts)
    assert names[:2] == ["plain", "a/b"]
    assert [name for name in names if len(name.encode()) > 400 or not name.isprintable()] == []
