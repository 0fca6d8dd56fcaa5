"""Extraction by rules: precise examples, properties, and minimum scores on the written snippets."""

from __future__ import annotations

import json
import random
import runpy
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from commonplace.guard.echo import HEADER
from commonplace.learn.extractor import Rules
from commonplace.learn.persons import Who, named, retell
from commonplace.learn.segment import sentences
from commonplace.values import Kind
from commonplace.values.extraction import TEAM, Act, Finding, Utterance

ROOT = Path(__file__).resolve().parent.parent.parent
SNIPPETS = ROOT / "tests" / "data" / "learning"
TUESDAY = datetime(2026, 3, 3, 9, tzinfo=timezone.utc)

KEPT: list[tuple[str, Kind, str, str | None]] = [
    ("we chose Svelte over React because it ships less code", "decision", "The team chose Svelte over React", TEAM),
    ("Going with the oak floor, the tiles are too cold.", "decision", "Sarah is going with the oak floor", "Sarah"),
    ("The council voted to close the bridge.", "decision", "The council voted to close the bridge", None),
    ("Let's use ruff instead of flake8", "decision", "The team will use ruff instead of flake8", TEAM),
    ("I prefer TypeScript", "preference", "Sarah prefers TypeScript", "Sarah"),
    ("I can't stand coriander", "preference", "Sarah can't stand coriander", "Sarah"),
    ("Tom hates long meetings", "preference", "Tom hates long meetings", "Tom"),
    ("please never call me before nine", "preference", "Please never call Sarah before nine", "Sarah"),
    ("My brother lives in Utrecht.", "fact", "Sarah's brother lives in Utrecht", "Sarah"),
    ("I'm allergic to bees", "fact", "Sarah is allergic to bees", "Sarah"),
    ("our gateway listens on port 9443", "fact", "The team's gateway listens on port 9443", TEAM),
    ("The backup key is in drawer 12", "fact", "The backup key is in drawer 12", None),
    ("never log tokens", "pattern", "Never log tokens", None),
    ("Every endpoint needs a rate limit.", "pattern", "Every endpoint needs a rate limit", None),
    ("Reviewers liked the small commits.", "pattern", "Reviewers liked the small commits", None),
    ("The import failed because the file was not UTF-8.", "failure", "The import failed because", None),
    ("Steaming the bread didn't work, it went soggy", "failure", "didn't work, it went soggy", None),
    ("We lost a day because of a stale cache", "failure", "The team lost a day because of a stale cache", TEAM),
    ("When the river is high, the cellar floods.", "pattern", "When the river is high, the cellar floods", None),
    ("Pepper is house-trained and shy.", "fact", "Pepper is house-trained", None),
    ("We tried cold brewing it but it came out bitter.", "failure", "tried cold brewing it, but it came out", TEAM),
    ("can you keep your answers short?", "preference", "answers short", "Sarah"),
    ("I learned that the tram is faster than the bus", "insight", "the tram is faster", "Sarah"),
    ("my flight is on Monday", "fact", "Sarah's flight is on Monday", "Sarah"),
    ("Remember that Lena's school closes at 16:00", "fact", "Lena's school closes at 16:00", None),
    ("Could you remember that my son is called Aurel?", "fact", "Sarah's son is called Aurel", "Sarah"),
]

SKIPPED = [
    "The vet called back.",
    "My daughter was so proud of her bag!",
    "The weather is lovely today.",
    "let's ask Mair",
    "Next time!",
    "My notes say the repo builds with Bazel, right?",
    "Thanks, that helped a lot!",
    "Good morning everyone",
    "What should we use for the queue?",
    "how do i reverse a list",
    "If we had more time, we'd rewrite the parser in Rust.",
    "I think we might move to Porto, not sure yet",
    "maybe we should get a dog someday",
    "lol imagine we bought a castle",
    "Let me check the logs.",
    "I'm just looking at the error now",
    "```\nwe chose tabs over spaces\n```",
    "> I prefer tea to coffee\nsame",
    'Translate: "I moved to Rome and I hate trains"',
    "2026-03-01 10:22:01 ERROR worker failed because the disk was full",
    "https://example.com/we-chose-postgres",
    f'{HEADER}\n- [2026-03-02, fact, Sarah] "Sarah is allergic to nuts."',
]


def said(text: str, *, speaker: str | None = "Sarah", role: str = "user", at: datetime = TUESDAY) -> Utterance:
    return Utterance(text=text, speaker=speaker, role=role, said_at=at)


def found(*texts: str) -> list[Finding]:
    """Findings of the last of one speaker's messages."""
    return Rules().extract([said(text) for text in texts])[-1]


def only(*texts: str) -> Finding:
    (finding,) = found(*texts)
    return finding


@pytest.mark.parametrize(("text", "kind", "told", "owner"), KEPT)
def test_what_is_worth_keeping_is_found_with_its_kind_and_owner(
    text: str, kind: Kind, told: str, owner: str | None
) -> None:
    finding = only(text)
    assert (finding.kind, finding.act, finding.owner) == (kind, "keep", owner)
    assert told in finding.text
    assert finding.rule


@pytest.mark.parametrize("text", SKIPPED)
def test_what_is_not_meant_or_not_said_is_skipped(text: str) -> None:
    assert found(text) == []


def test_a_decision_keeps_its_reason_and_what_was_decided_against() -> None:
    finding = only("we chose FastAPI over Flask because of the async support")
    assert finding.reason == "the async support"
    assert finding.rejected == ("Flask",)


def test_what_stands_before_so_is_the_reason() -> None:
    finding = only("The night tram never stops here, so we're going with the car.")
    assert (finding.kind, finding.reason) == ("decision", "The night tram never stops here")
    assert finding.text == "The night tram never stops here, so the team is going with the car"


def test_the_next_sentence_may_give_the_reason() -> None:
    finding = only("We are not taking the kids to Crete. Too hot in August.")
    assert finding.reason == "Too hot in August"
    assert finding.text == "The team is not taking the kids to Crete. Too hot in August"


def test_two_clauses_with_news_are_two_findings() -> None:
    first, second = found("I work at Norsk Hydro and my wife teaches maths at Lund.")
    assert first.text == "Sarah works at Norsk Hydro"
    assert second.text == "Sarah's wife teaches maths at Lund"


def test_each_finding_stands_where_it_was_read() -> None:
    text = "Hi! Thanks for yesterday. I prefer window seats. See you!"
    (finding,) = found(text)
    assert text[finding.start : finding.end] == "I prefer window seats."


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I'll send the draft by Friday", (2026, 3, 6)),
        ("We launch on 17 March.", (2026, 3, 17)),
        ("I'm seeing the dentist tomorrow", (2026, 3, 4)),
        ("The lease ends in two weeks", (2026, 3, 17)),
        ("We ship the beta on 2026-04-01.", (2026, 4, 1)),
        ("My tax return is due at the end of the month", (2026, 3, 31)),
        ("The audit starts on March 30th", (2026, 3, 30)),
        ("Handover is next Tuesday at 10", (2026, 3, 10)),
    ],
)
def test_a_plan_is_due_on_the_day_it_names(text: str, day: tuple[int, int, int]) -> None:
    due = only(text).due
    assert due is not None
    assert (due.year, due.month, due.day) == day
    assert due.tzinfo == timezone.utc


def test_a_day_that_has_passed_is_not_due() -> None:
    assert only("My surgery was on 2 February.").due is None


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Please forget my old address on Elm Road.", "Sarah's old address on Elm Road"),
        ("forget what I said about the divorce", "the divorce"),
        ("Delete everything you know about my ex, Martin.", "Sarah's ex, Martin"),
        ("Don't store my phone number, it's 555-0134", "Sarah's phone number"),
        ("What we discussed about the merger must not be kept.", "the merger"),
        ("I don't want you to remember my salary", "Sarah's salary"),
    ],
)
def test_a_request_to_forget_names_its_subject(text: str, subject: str) -> None:
    finding = only(text)
    assert finding.act == "forget"
    assert finding.text.casefold() == subject.casefold()


@pytest.mark.parametrize("text", ["forget it", "Delete the old branch please", "Did you forget the milk?"])
def test_not_every_forgetting_is_asked_of_the_book(text: str) -> None:
    assert [finding for finding in found(text) if finding.act == "forget"] == []


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        ("Retro is on Wednesday at 3.", "actually, it's Thursday", "Retro is on Thursday at 3"),
        ("The port is 8080.", "sorry, I meant 9090, not 8080", "The port is 9090"),
        ("My sister is called Anneke", "*Annika", "Sarah's sister is called Annika"),
        ("The train leaves at 10:15", "no wait 10:45, misread the app", "The train leaves at 10:45"),
        ("We ship from Rotterdam.", "Correction: Antwerp.", "The team ships from Antwerp"),
        ("The demo is on 3 March.", "scratch that, it's 10 March now", "The demo is on 10 March"),
        ("Rex is a beagle.", "Rex isn't a beagle, he's a dachshund", "Rex is a dachshund"),
        ("The meeting is in room Curie.", "they moved it, it's in room Bohr now", "The meeting is in room Bohr"),
        ("The link expires after 24 hours", "it's actually one hour", "The link expires after one hour"),
        ("the recipe needs 200 ml cream", "*milk", "The recipe needs 200 ml milk"),
        ("I prefer Python.", "I prefer TypeScript now, not Python.", "Sarah prefers TypeScript now"),
        ("The deadline is Tuesday.", "The deadline is Friday, not Tuesday.", "The deadline is Friday"),
        ("My dog is a beagle.", "It's a dachshund, not a beagle.", "Sarah's dog is a dachshund"),
        ("We meet weekly.", "Every two weeks, not weekly.", "The team meets every two weeks"),
    ],
)
def test_a_correction_stands_alone(before: str, text: str, told: str) -> None:
    finding = only(before, text)
    assert (finding.act, finding.text) == ("correct", told)


def test_a_correction_by_another_speaker_keeps_whose_it_was() -> None:
    earlier = said("I have three cats")
    later = said("Correction: four cats", speaker="Tom")
    ((finding,),) = Rules().extract([earlier, later])[1:]
    assert (finding.act, finding.text, finding.owner) == ("correct", "Sarah has four cats", "Sarah")


def test_what_is_corrected_in_the_same_conversation_is_not_kept_as_well() -> None:
    earlier, later = Rules().extract(
        [said("The beta opens on the 16th"), said("the 18th, legal moved it", speaker="Tom")]
    )
    assert earlier == []
    assert [(finding.act, finding.text) for finding in later] == [("correct", "The beta opens on the 18th")]


def test_one_sentence_may_take_back_what_it_repeats() -> None:
    finding = only("I said the fee was 30, that's outdated: it's 35.")
    assert (finding.act, finding.text) == ("correct", "The fee was 35")


def test_a_statement_before_a_question_is_kept() -> None:
    finding = only("I land in Split on Saturday, pick me up?")
    assert finding.text == "Sarah lands in Split on Saturday"


def test_a_request_to_forget_may_follow_a_statement() -> None:
    finding = found("We left that clinic, so please erase the notes on Dr Hoffmann.")[-1]
    assert (finding.act, finding.text) == ("forget", "The notes on Dr Hoffmann")


def test_what_was_just_recalled_can_be_dropped() -> None:
    recalled = said("I have your address as Birkenweg 3.", speaker="bot", role="assistant")
    findings = Rules().extract([recalled, said("we moved, get rid of Birkenweg please")])[1]
    assert [(finding.act, finding.text) for finding in findings] == [("forget", "Birkenweg")]


def test_remember_that_keeps_the_sentence_before() -> None:
    finding = only("The spare tyre sits under the boot. Please remember that.")
    assert "spare tyre" in finding.text


def test_she_is_the_person_named_last() -> None:
    first, second = found("My sister Anna lives in Berlin. She works at Siemens.")
    assert first.text == "Sarah's sister Anna lives in Berlin"
    assert second.text == "Sarah's sister Anna works at Siemens"


def test_a_word_answers_the_question_before_it() -> None:
    question = said("Which Node version should I target?", speaker="coder", role="assistant")
    ((finding,),) = Rules().extract([question, said("20.")])[1:]
    assert finding.kind == "decision"
    assert "Node version" in finding.text
    assert "20" in finding.text


def test_an_assistant_is_believed_about_its_work_but_not_its_advice() -> None:
    advice = said(
        "You could use a set for faster lookups. It's best to validate input.", speaker=None, role="assistant"
    )
    work = said(
        "I went with optimistic locking instead of SELECT FOR UPDATE because contention is low.",
        speaker="coder",
        role="assistant",
    )
    assert Rules().extract([advice]) == [[]]
    ((finding,),) = Rules().extract([work])
    assert (finding.kind, finding.owner) == ("decision", "coder")
    assert finding.rejected == ("SELECT FOR UPDATE",)


@pytest.mark.parametrize("role", ["tool", "system"])
def test_tools_and_systems_say_nothing_worth_keeping(role: str) -> None:
    assert Rules().extract([said("We decided to use Kafka because of its throughput.", role=role)]) == [[]]


def test_speakers_without_a_name_go_by_their_role() -> None:
    ((finding,),) = Rules().extract([said("I prefer short answers", speaker=None)])
    assert (finding.text, finding.owner) == ("The user prefers short answers", "the user")
    assert named("assistant", "assistant") == "the assistant"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I always use tabs and hate spaces", "Sarah always uses tabs and hates spaces"),
        ("we're moving to Postgres", "The team is moving to Postgres"),
        ("I've lived here since 2019 with my dog", "Sarah has lived here since 2019 with their dog"),
        ("I don't eat meat", "Sarah doesn't eat meat"),
        ("I want you to be brief", "Sarah wants the assistant to be brief"),
        ("let's not use Redis", "The team will not use Redis"),
        ("I was told `my_var` is fine", "Sarah was told `my_var` is fine"),
        ("Our tests are slow, so we run them at night", "The team's tests are slow, so the team runs them at night"),
    ],
)
def test_a_sentence_is_retold_in_the_third_person(text: str, told: str) -> None:
    assert retell(text, Who("Sarah", "the assistant")) == told


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


@pytest.mark.slow
def test_any_text_is_read_and_spans_are_valid() -> None:
    pieces = [text for text, *_ in KEPT] + SKIPPED
    pieces += [
        "actually ",
        "not ",
        "remember ",
        "forget ",
        "*",
        "'",
        '"',
        "`",
        "I'd ",
        "so ",
        "\x00",
        "\ud7ff",
        "é",
        "?",
    ]
    pieces += [
        "， ",
        "😂",
        "\u2028",
        "\r\n",
        "it is ",
        "because ",
        "31 February ",
        "2026-02-31 ",
        "in 999 years ",
        ", ",
    ]
    source = random.Random(7)
    for _ in range(400):
        messages = [
            said(
                "".join(source.choices(pieces, k=source.randint(0, 6))),
                speaker=source.choice(["Sarah", "", None, "assistant", "Tom"]),
                role=source.choice(["user", "assistant"]),
            )
            for _ in range(3)
        ]
        for message, findings in zip(messages, Rules().extract(messages), strict=True):
            for finding in findings:
                assert 0 <= finding.start < finding.end <= len(message.text)
                assert finding.text.strip()
                assert 0 <= finding.importance <= 1


def test_the_same_conversation_gives_the_same_findings() -> None:
    messages = [said(text) for text, *_ in KEPT]
    assert Rules().extract(messages) == Rules().extract(messages)


def test_an_early_or_late_date_is_no_reason_to_fail() -> None:
    for at in (
        datetime.min.replace(tzinfo=timezone.utc),
        datetime.max.replace(tzinfo=timezone.utc) - timedelta(days=1),
    ):
        for text in (
            "We launch in 12 months",
            "I'll do the report next month",
            "We meet next Friday",
            "It's due tomorrow",
        ):
            Rules().extract([said(text, at=at)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["a", " ", "i ", ", ", '"', "(", "in a ", " - ", "we decided to use x because y. ", "and we and i "],
)
def test_a_hundred_kilobytes_of_anything_are_read_in_time(piece: str) -> None:
    assert_quick(piece * (100_000 // len(piece)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "if the thing that we ",
        "please forget everything i told you about ",
        "remember that ",
        "actually it is not a, not b, ",
        "so ok well and but ",
        "moved dropped rejected ",
        "in our in my on the ",
        "note: ",
        "A B C ",
        "i said i meant that i ",
        "tests in fail with fail over fail ",
        "monday if i is you ",
        "before you anything, the x never ",
        "whatever you kept about what i said ",
    ],
)
def test_sentences_made_to_confuse_are_read_in_time(piece: str) -> None:
    sentence = piece * (590 // len(piece)) + ". "
    assert_quick(sentence * (100_000 // len(sentence)))


def assert_quick(text: str) -> None:
    began = time.process_time()
    Rules().extract([said(text)])
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("files", "precision", "recall"),
    [("dev.jsonl", 0.95, 0.95), ("more[1-5].jsonl", 0.82, 0.77)],
)
def test_the_written_snippets_are_mostly_found(files: str, precision: float, recall: float) -> None:
    learning = runpy.run_path(str(ROOT / "bench" / "learning.py"))
    paths = sorted(SNIPPETS.glob(files))
    snippets = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    assert snippets
    total = learning["total"](learning["score"](snippets).values())
    assert total.precision >= precision
    assert total.recall >= recall


def test_acts_are_those_that_reconciliation_knows() -> None:
    acts: set[Act] = {finding.act for text, *_ in KEPT for finding in found(text)}
    assert acts <= {"keep", "correct", "forget"}
