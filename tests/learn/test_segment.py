"""Sentences of a message with their exact places, and their edges."""

from __future__ import annotations

import pytest

from commonplace.guard.echo import HEADER
from commonplace.learn.segment import Span, sentences
from commonplace.learn.trim import trim

ANSWER = """\
# Plan
**Steps to take**

Here is how it works.

1. **Measure** the wall.
   Take a spirit level.
- Then drill.

| tool | price |
> I prefer tea

```
we chose tabs over spaces
```
**Decision:** we start on Monday."""


def read(text: str, *, lists: bool = True) -> list[str]:
    return [span.text for span in sentences(text, lists=lists)]


def test_sentences_have_exact_places() -> None:
    text = "Ask Dr. Weiss. It costs e.g. 3.50 euros!  Done?\n- a list item\n```\ncode. here.\n```\nlast one"
    spans = sentences(text)
    assert [span.text for span in spans] == [
        "Ask Dr. Weiss.",
        "It costs e.g. 3.50 euros!",
        "Done?",
        "a list item",
        "last one",
    ]
    assert all(text[span.start : span.end] == span.text for span in spans)


def test_headings_tables_quotations_and_code_are_no_sentences() -> None:
    with_lists = ["Here is how it works.", "**Measure** the wall.", "Take a spirit level.", "Then drill."]
    assert read(ANSWER) == [*with_lists, "**Decision:** we start on Monday."]
    assert read(ANSWER, lists=False) == ["Here is how it works.", "**Decision:** we start on Monday."]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 10:22:01 ERROR worker failed because the disk was full",
        "https://example.com/we-chose-postgres",
        "```\nwe chose tabs over spaces\n```",
        f'{HEADER}\n- [2026-03-02, fact, Sarah] "Sarah is allergic to nuts."',
    ],
)
def test_what_nobody_said_is_no_sentence(text: str) -> None:
    assert read(text) == []


def test_each_line_of_a_chat_is_its_own_and_the_lines_of_a_mail_are_not() -> None:
    chat = "the skates are on ebay as of tonight, never again, I am done\nmy thumb types like a drunk crab"
    assert len(read(chat)) == 2
    words = "the gate of the old yard will be closed from the first of next month on for all of us who live here "
    mail = "\n".join(line for line in (words[:75], words[3:77], words[8:80], words[9:83]))
    assert len(read(mail)) == 1


def test_a_full_stop_may_belong_to_a_number() -> None:
    assert read("It is weekly. 2. A rebuild takes hours.") == ["It is weekly.", "2. A rebuild takes hours."]
    assert read("Ich hole sie am 5. mit dem Zug.") == ["Ich hole sie am 5. mit dem Zug."]
    assert read("The son is 12. The daughter is 9.") == ["The son is 12.", "The daughter is 9."]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Btw, we moved to Lisbon haha", "we moved to Lisbon"),
        ("haha ok so I'm vegan now :)", "I'm vegan now"),
        ("Anyway, the demo is on Friday.", "the demo is on Friday."),
        ("Hi Tom, I prefer tea.", "I prefer tea."),
        ("oh and btw my sister is called Ana 🎉", "my sister is called Ana"),
        ("I take two, thanks.", "I take two"),
        ("Thanks, Joanna! We sold the boat.", "We sold the boat."),
        ("So far we have two cats", "So far we have two cats"),
        ("Well water is tested yearly.", "Well water is tested yearly."),
        ("Actually, it's Tuesday.", "Actually, it's Tuesday."),
        (".env is ignored", ".env is ignored"),
        ("No, on Thursday", "No, on Thursday"),
    ],
)
def test_greeting_and_filler_at_the_edges_are_cut_off_and_nothing_else(text: str, kept: str) -> None:
    found = trim(Span(7, 7 + len(text), text))
    assert found.text == kept
    assert text[found.start - 7 : found.end - 7] == kept
