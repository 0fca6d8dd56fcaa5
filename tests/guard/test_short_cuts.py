"""The short cuts of the guard change no answer."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard.injection import MARKUP, flags
from commonplace.guard.secret_forms import FORMS, LONGEST_NAME, NAME, NAMES, PLACES, SHORTEST
from commonplace.guard.secrets import redact
from commonplace.guard.sieve import Pattern, lower
from commonplace.guard.wordings import WORDINGS
from tests.guard import reference
from tests.guard.proofs import ANYTHING, BORDER, spelled, width
from tests.guard.samples import samples, sayings
from tests.guard.test_injection import FRAGMENTS as SAID
from tests.guard.test_secrets import FRAGMENTS as SECRET

TEXTS = tuple(dict.fromkeys((*(each.text for each in samples()), *(each.text for each in sayings()))))
PIECES = tuple(dict.fromkeys(piece for text in TEXTS for piece in re.findall(r"\s*\S+(?:\s+\S+){0,5}", text)))
ODD = ("İ", "ı", "ſ", "K", "ᲂ", "_", "-", "1", "@", "\u200b", "\u0336", "’", "\t", "\n", "- [", ". ", "|", "'", "/")
WORDED = tuple((beginnings, pattern) for wordings in WORDINGS.values() for beginnings, pattern in wordings)
texts = st.lists(st.sampled_from((*PIECES, *SAID, *SECRET, *ODD)) | st.text(max_size=5), max_size=8).map("".join)


@pytest.mark.slow
def test_short_cuts_change_no_answer_for_samples() -> None:
    assert [text for text in TEXTS if redact(text) != reference.redact(text)] == []
    assert [text for text in TEXTS if flags(text) != reference.flags(text)] == []


@pytest.mark.parametrize("change", [str.upper, str.title, str.swapcase, lambda text: text.replace("s", "ſ")])
def test_short_cuts_change_no_answer_for_other_cases(change: object) -> None:
    assert callable(change)
    changed = [change(text) for text in TEXTS[::4]]
    assert [
        text for text in changed if redact(text) != reference.redact(text) or flags(text) != reference.flags(text)
    ] == []


@given(texts)
def test_no_secret_is_overlooked(text: str) -> None:
    assert redact(text) == reference.redact(text)


@given(texts)
def test_no_instruction_is_overlooked(text: str) -> None:
    assert flags(text) == reference.flags(text)


@pytest.mark.parametrize(("beginnings", "pattern"), WORDED)
def test_a_wording_begins_with_one_of_its_words(beginnings: str, pattern: str) -> None:
    starts = beginnings.split()

    def begins(text: str) -> bool:
        return any(_begins(text, start) for start in starts)

    assert [text for text in spelled(pattern, 0, begins) if not begins(text)] == []


def _begins(text: str, start: str) -> bool:
    told = start.rstrip("*").replace("_", " ")
    if not text.replace(BORDER, "").startswith(told):
        return False
    # A separate word begins and ends at a word boundary.
    word = re.match(rf"{BORDER}+(\w+)(?=[^\w{ANYTHING}])", text)
    return start.endswith("*") or (word is not None and word[1] == re.findall(r"\w+", told)[0])


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        *zip([form.pattern for form in FORMS.items], FORMS.needs, strict=True),
        *zip([place.pattern for place in PLACES.items], PLACES.needs, strict=True),
        *zip([pattern for _, pattern in NAMES.items], NAMES.needs, strict=True),
        *zip([pattern for _, pattern in MARKUP.items], MARKUP.needs, strict=True),
    ],
)
def test_a_pattern_holds_what_it_needs(pattern: Pattern, ways: tuple[tuple[str, ...], ...]) -> None:
    def holds(text: str) -> bool:
        shown = text.replace(BORDER, "")
        return all(any(way in shown or way in shown.lower() for way in each) for each in ways)

    assert [text for text in spelled(pattern.text, pattern.flags, holds) if not holds(text)] == []


def test_every_form_is_one_long_word() -> None:
    for form in FORMS.items:
        assert width(form.pattern.text)[0] >= SHORTEST
        assert not re.search(r"\\s|\[\^| ", form.pattern.text)


def test_no_name_is_longer_than_its_window() -> None:
    assert max(width(pattern.text)[1] for _, pattern in NAMES.items) <= LONGEST_NAME


def test_lower_agrees_with_patterns_that_ignore_case() -> None:
    letters = "".join(sorted({each for each in NAME.text if each.isalpha()} | set("abcdefghijklmnopqrstuvwxyz")))
    seen = re.findall(f"[{letters}]", "".join(map(chr, range(sys.maxunicode + 1))), re.IGNORECASE)
    assert [each for each in seen if (small := lower(each)) is not None and small not in letters.lower()] == []


def test_lower_keeps_the_length() -> None:
    everything = [chr(each) for each in range(sys.maxunicode + 1)]
    assert [each for each in everything if (small := lower(each)) is not None and len(small) != 1] == []
