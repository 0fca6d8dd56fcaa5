from __future__ import annotations

import base64
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import InvalidInput
from commonplace.memories.strength import RECEIPT, make_receipt, read_receipt


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
def test_what_is_no_receipt_is_refused(text: str) -> None:
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
