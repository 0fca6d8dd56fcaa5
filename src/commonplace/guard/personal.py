"""Personal data, redacted on request: addresses, numbers and accounts that pass a check of their kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address

from commonplace.guard.secrets import Redacted, Secret, replace_found

# Each begins where no run of its own characters continues, so that no run is read twice.
_EMAIL = re.compile(r"(?<![\w.%+'-])[\w.%+'-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_CARD = re.compile(r"(?<![\w.-])[2-6](?:[ -]?\d){12,18}(?![\w-]|\.\d)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?!\w)")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
_IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\w)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_VERSION = re.compile(r"(?:version|release|v|==|>=|<=|~=)\s?$", re.IGNORECASE)
# With a country code; as written in North America; or with the leading zero of other countries.
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}(?:[ .()/-]{0,2}\d){7,12}"
    r"|(?:1[ .-])?\(\d{3}\) ?\d{3}[ .-]\d{4}|(?:1[ .-])?\d{3}([.-])\d{3}\1\d{4}"
    r"|\(?0\d{1,4}\)?[ /-]\d{2,4}(?:[ -]?\d{2,4}){1,3})(?![\w-]|\.\d)"
)
_FEWEST_PHONE_DIGITS = 8


def redact_personal(text: str) -> Redacted:
    """Replace e-mail addresses, telephone and card numbers, IBANs, IP addresses and US SSNs by marks."""
    return replace_found(text, _find)


def _find(text: str) -> Iterator[Secret]:
    for kind, pattern, is_valid in _KINDS:
        for match in pattern.finditer(text):
            if is_valid(match):
                yield Secret(kind=kind, start=match.start(), end=match.end())


def _digits(text: str) -> list[int]:
    return [int(each) for each in text if "0" <= each <= "9"]


def _is_card(match: re.Match[str]) -> bool:
    """Apply Luhn's check: every second digit from the right counts twice; the sum is a multiple of ten."""
    digits = _digits(match[0])[::-1]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _is_iban(match: re.Match[str]) -> bool:
    """Apply the check of ISO 13616: with its head at the end and letters as numbers, it is 1 modulo 97."""
    iban = match[0].replace(" ", "")
    number = "".join(str(int(each, 36)) for each in iban[4:] + iban[:4])
    return 15 <= len(iban) <= 34 and int(number) % 97 == 1


def _is_address(match: re.Match[str]) -> bool:
    try:
        address: IPv4Address | IPv6Address = ip_address(match[0])
    except ValueError:
        return False
    # The machine itself is nobody's address; four numbers after "version" are no address.
    before = match.string[max(match.start() - 12, 0) : match.start()]
    if address.is_loopback or address.is_unspecified or _VERSION.search(before):
        return False
    return any(each.isdigit() for each in match[0])


_KINDS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    ("e-mail address", _EMAIL, lambda match: not match[0].startswith((".", "'", "git@"))),
    ("iban", _IBAN, _is_iban),
    ("card number", _CARD, _is_card),
    ("social security number", _SSN, bool),
    ("ip address", _IPV4, _is_address),
    ("ip address", _IPV6, _is_address),
    ("phone number", _PHONE, lambda match: len(_digits(match[0])) >= _FEWEST_PHONE_DIGITS),
)
