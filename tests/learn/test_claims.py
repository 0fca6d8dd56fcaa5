"""A sentence as a claim: its key and its parts; no text makes reading fail or slow."""

from __future__ import annotations

import random
import time

import pytest

from commonplace.reconcile.claims.reader import key, read

KEYS = [
    ("The author of Dracula is Bram Stoker", "author|dracula"),
    ("Dracula's author is Mary Shelley", "author|dracula"),
    ("Mary Shelley is the author of Dracula.", "author|dracula"),
    ("The launch is on 3 March", "date|launch"),
    ("We use Postgres", "use|team"),
    ("Tom likes tea", "like|tom"),
    ("Sarah lives in Lisbon", "in live|sarah"),
    ("Sarah is living in Porto", "in live|sarah"),
    ("Sarah moved to Porto", "in live|sarah"),
    ("The free plan allows 10 projects", "allow project|free plan"),
]
ALIKE = [
    ("The launch is on 3 March", "The launch date has slipped to 10 March"),
    ("The API timeout is 30 seconds", "The API timeout was raised to 60 seconds"),
    ("Maria works at Google", "Maria is employed by Spotify"),
    ("We decided to use Flask", "We picked FastAPI"),
    ("Bob's favourite colour is green", "Blue is Bob's favorite color"),
    ("My cat is called Luna", "My cat's name is Milo"),
    ("Tom does not drink coffee", "Tom drinks coffee"),
]
APART = [
    ("The author of Dracula is Bram Stoker", "The author of Emma is Jane Austen"),
    ("The staging port is 8081", "The production port is 443"),
    ("Sarah lives in Lisbon", "Tom lives in Lisbon"),
    ("Sarah lives in Lisbon", "Sarah's manager lives in Lisbon"),
    ("Monday's meeting is in room 4", "Friday's meeting is in room 4"),
]
WORDLESS = ["", " ", ".", "👍", "12", "- - -", "Hello!", "Thanks a lot", "\x00", "'s", "not", "no, not"]


@pytest.mark.parametrize(("text", "expected"), KEYS)
def test_a_key_names_the_attribute_and_the_subject(text: str, expected: str) -> None:
    assert key(text) == expected


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_statements_about_one_attribute_share_a_key(one: str, other: str) -> None:
    assert key(one, "Ana") == key(other, "Ana") is not None


@pytest.mark.parametrize(("one", "other"), APART)
def test_statements_about_different_things_have_different_keys(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_i_is_the_owner_and_we_are_the_team() -> None:
    assert key("I live in Porto", "Sarah") == key("Sarah lives in Lisbon", "Sarah")
    assert key("We use Postgres", "Sarah") == key("The team uses Postgres")
    assert key("My sister lives in Oslo", "Ana") == key("Ana's sister lives in Bergen")


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_that_claims_nothing_has_no_key(text: str) -> None:
    assert key(text) is None


def test_what_a_decision_gives_up_is_read() -> None:
    assert read("The team decided to use FastAPI over Flask").rejected == {"flask"}
    assert read("We replaced Webpack with Vite").rejected == {"webpack"}
    assert read("We switched from Jest to Vitest").value == {"vitest"}
    assert not read("We're dropping Redis").positive


@pytest.mark.parametrize(
    "text",
    [
        "Tom doesn't eat meat",
        "Tom no longer eats meat",
        "Tom stopped eating meat",
        "Tom never eats meat",
        "Tom hates it",
    ],
)
def test_a_denial_is_negative_however_it_is_put(text: str) -> None:
    assert not read(text).positive


@pytest.mark.parametrize(
    ("one", "other"),
    [("3 March", "March 3"), ("3 March", "Mar 3rd"), ("4pm", "4:00 pm"), ("$4,500", "4500 dollars"), ("five", "5")],
)
def test_a_value_has_one_form(one: str, other: str) -> None:
    assert read(f"The value is {one}").value == read(f"The value is {other}").value


@pytest.mark.slow
def test_no_text_makes_reading_fail() -> None:
    pick = random.Random(3)
    words = "the of is was not 's , . ; - to in on that which who no I we my our 3 May 10:00 $5 5% Ana use over be"
    for _ in range(3000):
        text = " ".join(pick.choices(words.split(), k=pick.randrange(14)))
        read(text, pick.choice([None, "Ana", "the team", "Ana Maria"]))
    for _ in range(500):
        read("".join(chr(pick.randrange(1, 0x3000)) for _ in range(pick.randrange(60))))


@pytest.mark.parametrize("piece", ["a", "a-", "1,", "1.", " ", "not ", "'s ", "the of ", "I would rather ", "$1."])
def test_a_long_text_is_read_quickly(piece: str) -> None:
    began = time.process_time()
    read(piece * 100_000)
    assert time.process_time() - began < 2.0
