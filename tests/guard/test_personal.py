"""Personal data is redacted on request, after its checksum was verified where it has one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard.personal import redact_personal

FOUND = [
    ("write to sarah.o'neil+work@mail.example.co.uk, please", "e-mail address", "sarah.o'neil+work@mail.example.co.uk"),
    ("Bob <bob@example.com> agreed.", "e-mail address", "bob@example.com"),
    ("my card is 4111 1111 1111 1111, exp 12/28", "card number", "4111 1111 1111 1111"),
    ("card=5500005555555559", "card number", "5500005555555559"),
    ("amex 3782-822463-10005", "card number", "3782-822463-10005"),
    ("IBAN DE89 3704 0044 0532 0130 00.", "iban", "DE89 3704 0044 0532 0130 00"),
    ("pay to GB82WEST12345698765432", "iban", "GB82WEST12345698765432"),
    ("SSN 219-09-9999", "social security number", "219-09-9999"),
    ("login from 203.0.113.7 at noon", "ip address", "203.0.113.7"),
    ("from 203.0.113.7.", "ip address", "203.0.113.7"),
    ("client [2001:db8::ff00:42:8329] left", "ip address", "2001:db8::ff00:42:8329"),
    ("call +49 30 901820 or mail", "phone number", "+49 30 901820"),
    ("call (555) 123-4567 after six", "phone number", "(555) 123-4567"),
    ("555-123-4567", "phone number", "555-123-4567"),
    ("Tel. 030/9018-2000", "phone number", "030/9018-2000"),
    ("+14155550123", "phone number", "+14155550123"),
]
ORDINARY = [
    *("card 4111 1111 1111 1112", "GB82WEST12345698765433", "666-12-3456", "id 1234567890123456", "999.1.1.1"),
    *("version 1.2.3.4", "pip install x==1.2.3.4", "v10.0.0.1", "127.0.0.1:8000", "::1", "std::vector", "at 10:30:15"),
    *("2026-05-04 12:00:00", "2026-05-04T12:00:00.123456Z", "550e8400-e29b-41d4-a716-446655440000", "1.000.000,00"),
    *(
        "git@github.com:acme/site.git",
        "@alice please look",
        "0.125 0.250 0.375",
        "range 100-200-300",
        "00:1b:44:11:3a:b7",
    ),
    *(
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ORD-2026-000123",
        "a::b",
        "1999-2004",
    ),
    *("9fceb02d0ae598e95dc970b74767f19372d61af8", "p50 12.5 ms, p99 40.25 ms", "0000000000000000", "10.5.2"),
]
FRAGMENTS = (
    "a@b.co",
    "4111 1111 1111 1111",
    "+49 30 901820",
    "::",
    "1.2.3.4",
    "DE89",
    " ",
    "-",
    "1",
    "[redacted: ",
    "]",
    "@",
)


@pytest.mark.parametrize(("text", "kind", "value"), FOUND)
def test_personal_data_is_replaced_by_its_kind(text: str, kind: str, value: str) -> None:
    done = redact_personal(text)
    assert done.text == text.replace(value, f"[redacted: {kind}]")
    assert [text[each.start : each.end] for each in done.found] == [value]


@pytest.mark.parametrize("text", ORDINARY)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert redact_personal(text).text == text


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join) | st.text())
def test_redacting_any_text_twice_changes_nothing_more(text: str) -> None:
    done = redact_personal(text).text
    assert redact_personal(done).text == done
