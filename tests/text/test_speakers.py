"""The speaker of a memory."""

from __future__ import annotations

import pytest

from commonplace.text import terms


def test_the_source_names_the_speaker() -> None:
    assert terms.speaker_words("Ada Lovelace", "Good morning") == {"ada", "lovelace"}


@pytest.mark.parametrize(
    ("text", "name"),
    [("Caroline: I went hiking", {"caroline"}), ("user: hello there", {"user"}), ("Ada King: no", {"ada", "king"})],
)
def test_without_a_source_a_name_in_front_is_the_speakers(text: str, name: set[str]) -> None:
    assert terms.speaker_words(None, text) == name


@pytest.mark.parametrize("text", ["I went hiking", "the plan: go north", "at 10:30 we leave", ""])
def test_a_text_without_a_name_in_front_has_no_speaker(text: str) -> None:
    assert terms.speaker_words(None, text) == frozenset()


def test_a_turn_that_ends_with_a_question_mark_is_a_question() -> None:
    assert terms.is_question("How was it? ")
    assert not terms.is_question("Did it work? Yes, it did.")


@pytest.mark.parametrize("text", ["Noted.", "ok", "Sure, thanks!", "Got it, will do.", "Thank you very much!"])
def test_an_acknowledgement_is_a_nod(text: str) -> None:
    assert terms.is_nod(text)


@pytest.mark.parametrize("text", ["Rome.", "Yes, in Rome", "42", "", "Noted: the pier is number four"])
def test_a_turn_with_content_is_no_nod(text: str) -> None:
    assert not terms.is_nod(text)
