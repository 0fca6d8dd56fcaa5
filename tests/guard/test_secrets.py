"""Secrets are redacted, and nothing else is changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard.secrets import redact
from tests.guard.samples import Sample, samples

MARK = re.compile(r"\[redacted: [^\]]*\]")
HALVES = ("tuning", "final", "later")
# Least share of secrets that are gone, least share where exactly the secret is gone, most harmless texts changed.
# The rules were made with the tuning half in view. When the final half was first run, 161 of its 163 secrets were
# gone and 3 of its 126 harmless texts changed; but it was written together with the other half, before the rules.
# The later texts were written after them, to be unusual: at first 12 of the 25 secrets were gone, none changed.
FLOORS = {"tuning": (0.99, 0.98, 0.0), "final": (0.98, 0.98, 0.01), "later": (0.6, 0.6, 0.0)}

FRAGMENTS = (
    *(
        "password",
        "Password is ",
        "pwd",
        "passphrase: ",
        "token",
        "api_key",
        "secret",
        "my ",
        "is ",
        "=",
        ": ",
        '"',
        "'",
    ),
    *(
        "hunter2",
        "Tr0ub4dor&3",
        "gh" + "p_",
        "aB3dE6gH9kL2mN5pQ8sT1vW4",
        "://bob:",
        "@host",
        "Bearer ",
        "Authorization: ",
    ),
    *(
        "-----BEG" + "IN PRIVATE KEY-----",
        "-----E" + "ND PRIVATE KEY-----",
        "[redacted: ",
        "password]",
        "\n",
        " ",
        "\\n",
    ),
    *(
        "mysql -p",
        "curl -u a:",
        "eyJhbGciOiJI",
        ".",
        ",",
        "&",
        "from ",
        "to ",
        "{",
        "}",
        "correct horse battery",
        "密码是",
    ),
)
HOSTILE = (
    *("password=", "password is ", "eyJ", "eyJaaaaaaaaaaaaaaaa.", "-----BEGIN RSA PRIVATE KEY-----\n", "a", "://a:"),
    *("token ", 'token: "', "password for ", "passphrase is ab ", "Authorization: Bearer ", "mysql -p ", "echo a | "),
    *("cookie: a=", "sk-", "_", "[redacted: ", 'password: \\"', "pass:", "password from a1bcd to ", "htpasswd -b a a "),
    *("hunter2 password ", "密码是", "token=)", "zip -P ", "\n", " "),
)


def part(half: str, *, secret: bool) -> list[Sample]:
    return [each for each in samples() if each.half == half and bool(each.secrets) == secret]


def without(sample: Sample) -> str:
    """The text with one character in the place of each secret."""
    text = sample.text
    for secret in sample.secrets:
        text = text.replace(secret, "\0", 1)
    return text


def remains(sample: Sample, kept: str) -> bool:
    """Return whether six characters of a secret, not found elsewhere in the text, are in the result."""
    around = without(sample)
    return any(piece in kept and piece not in around for piece in sixes(sample))


def sixes(sample: Sample) -> Iterator[str]:
    for secret in sample.secrets:
        for start in range(max(len(secret) - 5, 1)):
            yield secret[start : start + 6]


@pytest.mark.parametrize("half", HALVES)
def test_secrets_are_gone(half: str) -> None:
    bearing = part(half, secret=True)
    left = [each.text for each in bearing if remains(each, MARK.sub("\0", redact(each.text).text))]
    assert len(left) <= (1 - FLOORS[half][0]) * len(bearing), left


@pytest.mark.parametrize("half", HALVES)
def test_the_text_around_a_secret_is_kept(half: str) -> None:
    bearing = part(half, secret=True)
    other = [each.text for each in bearing if MARK.sub("\0", redact(each.text).text) != without(each)]
    assert len(other) <= (1 - FLOORS[half][1]) * len(bearing), other


@pytest.mark.parametrize("half", HALVES)
def test_look_alikes_are_left_alone(half: str) -> None:
    harmless = part(half, secret=False)
    changed = [each.text for each in harmless if redact(each.text).text != each.text]
    assert len(changed) <= FLOORS[half][2] * len(harmless), changed


def test_there_are_enough_samples() -> None:
    assert sum(bool(each.secrets) for each in samples()) >= 250
    assert sum(not each.secrets for each in samples()) >= 150


def test_a_finding_names_the_kind_and_the_place_but_not_the_secret() -> None:
    key = "gh" + "p_" + "aB3dE6gH9kL2mN5pQ8sT1vW4xY7zA0bC3dE6"
    done = redact(f"GITHUB_TOKEN={key} works")
    assert done.text == "GITHUB_TOKEN=[redacted: github token] works"
    (found,) = done.found
    assert (found.kind, found.start, found.end) == ("github token", 13, 13 + len(key))
    assert key[4:] not in repr(done)


def test_only_the_password_of_an_address_is_redacted() -> None:
    assert redact("postgres://app:s3cr3t!@db:5432/app").text == "postgres://app:[redacted: password]@db:5432/app"


def test_a_private_key_that_was_cut_off_is_redacted_as_far_as_it_goes() -> None:
    begin = "-----BEG" + "IN RSA PRIVATE KEY-----"
    done = redact(f"see {begin}\nMIIEpAIBAAKCAQEA7\nq1w2e3r4t5y6, and so on")
    assert done.text == "see [redacted: private key], and so on"


def test_marks_of_an_earlier_run_are_left_alone() -> None:
    text = "password: [redacted: password], token=[redacted: token]"
    assert redact(text).text == text
    assert redact(text).found == ()


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join) | st.text())
def test_redacting_any_text_twice_changes_nothing_more(text: str) -> None:
    done = redact(text)
    assert redact(done.text).text == done.text
    start = 0
    parts = []
    for each in done.found:
        assert start <= each.start < each.end <= len(text)
        parts += [text[start : each.start], f"[redacted: {each.kind}]"]
        start = each.end
    assert done.text == "".join([*parts, text[start:]])


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_four_times_the_text_takes_about_four_times_as_long(piece: str) -> None:
    # Quadratic time would be sixteen times as long; a noisy machine stays far below twelve.
    assert ratio(redact, piece) < 12


def test_a_value_of_a_megabyte_is_redacted_whole() -> None:
    assert redact("password=" + "aB3" * 350_000).text == "password=[redacted: password]"


@pytest.mark.slow
def test_a_long_text_of_beginnings_is_read() -> None:
    text = "".join(HOSTILE) * (200_000 // len("".join(HOSTILE)))
    assert redact(text).found


def ratio(work: Callable[[str], object], piece: str, size: int = 10_000) -> float:
    """Return the ratio of times for a text and four times the text: the best of two runs each."""
    small, large = (min(timed(work, piece * (length // len(piece))) for _ in range(2)) for length in (size, 4 * size))
    return large / max(small, 1e-4)


def timed(work: Callable[[str], object], text: str) -> float:
    start = process_time()
    work(text)
    return process_time() - start


BROKEN = ("gh" + "p_aB3dE6gH9kL2mN5pQ8sT1vW4", "xY7zA0bC3dE6")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("use p@ssW0rd!2024 to log in", "p@ssW0rd!2024"),
        ("Use p@ssW0rd!2024\nto sign in.", "p@ssW0rd!2024"),
        ("sign in as admin with Winter2025!", "Winter2025!"),
        ("log in using Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("the one-time code is 482913", "482913"),
        ("Your verification code: 482913.", "482913"),
        ("482913 is your login code", "482913"),
        ("the one-time password is 482913", "482913"),
        ("OTP: 482913", "482913"),
        ("password: it's swordfish", "swordfish"),
        ("My password? It is swordfish.", "swordfish"),
        ("login are admin / Winter2025!", "Winter2025!"),
        ("The user and password are admin / Winter2025!", "Winter2025!"),
        ("My password is:\n\nhunter2!", "hunter2!"),
        # Split, or disguised.
        ("pass\u200bword: hunter2!x", "hunter2!x"),
        ("password: hun\u200bter\u034f2!x", "hun\u200bter\u034f2!x"),
        ("\uff50\uff57\uff44\uff1a \uff48\uff55\uff4e\uff54\uff12\uff01", "\uff48\uff55\uff4e\uff54\uff12\uff01"),
        (f"key {BROKEN[0]}\n{BROKEN[1]}", f"{BROKEN[0]}\n{BROKEN[1]}"),
        (f"key {BROKEN[0]}\u200b{BROKEN[1]}", f"{BROKEN[0]}\u200b{BROKEN[1]}"),
    ],
)  # fmt: skip
def test_a_secret_in_plain_words_is_gone(text: str, secret: str) -> None:
    assert MARK.sub("\0", redact(text).text) == text.replace(secret, "\0")


@pytest.mark.parametrize(
    "text",
    [
        "Send the password to bob@example.com, please.",
        "She mailed the access token to ops@acme.io",
        "Give the password to Bob.",
        "Use OAuth2 to log in, or use Python3.11 to log in to PyPI.",
        "Use bob@example.com to sign in",
        "Log in with your Google account; sign in using SAML2.0",
        "password: it's required",
        "the password: it's in the vault",
        "The error code is 482913 and the postcode is 12345",
        "The security code review of 2024 is done",
        "I wait for the one-time code",
        "one line\nline2\nand the token\nv2",
    ],
)
def test_plain_words_about_secrets_are_left_alone(text: str) -> None:
    assert redact(text).text == text
