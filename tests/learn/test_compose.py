"""Memories of chosen sentences: verbatim, with what they need, whose they are, and when they are due."""

from __future__ import annotations

import random
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from commonplace.guard.echo import HEADER
from commonplace.learn import extractor as extractors
from commonplace.learn.compose import Mark, compose
from commonplace.learn.due import due
from commonplace.learn.extractor import StatementExtractor
from commonplace.learn.talk import make_talk
from commonplace.values.extraction import TEAM, Finding, Utterance
from tests.learn.scripted import Reading, said

TUESDAY = datetime(2026, 3, 3, 9, tzinfo=timezone.utc)


def find(messages: list[Utterance], told: dict[str, dict[str, Any]]) -> list[list[Finding]]:
    return StatementExtractor(Reading(told)).extract(messages)


def only(text: str, speaker: str | None = "Sarah", role: str = "user", **told: Any) -> Finding:
    """Return the finding of a message of one sentence that is worth keeping."""
    (finding,) = find([said(text, speaker, role)], {text: told})[0]
    return finding


def test_a_memory_is_the_sentence_as_it_was_said() -> None:
    text = "Hi! Thanks for yesterday. Btw, I prefer window seats. See you!"
    ((finding,),) = find([said(text)], {"Btw, I prefer window seats.": {"kind": "preference"}})
    assert finding.text == text[finding.start : finding.end] == "I prefer window seats."
    assert (finding.kind, finding.act, finding.owner, finding.rule) == ("preference", "keep", "Sarah", "reader")


def test_a_decision_with_its_reason_is_one_memory() -> None:
    text = "We chose FastAPI over Flask because of the async support."
    finding = only(text, kind="decision", owner="team")
    assert (finding.text, finding.kind, finding.owner) == (text, "decision", TEAM)


def test_what_is_not_worth_keeping_is_left_out() -> None:
    assert find([said("The weather is lovely today.")], {"The weather is lovely today.": {"keep": 0.4}}) == [[]]


def test_a_question_is_no_memory_and_what_happened_is_not_due() -> None:
    assert find([said("Is the port 8081?")], {"Is the port 8081?": {}}) == [[]]
    assert only("I took the train on Monday.", time="past").due is None
    assert only("The audit is on Monday.").due == datetime(2026, 3, 9, tzinfo=timezone.utc)


def test_an_answer_takes_its_question_with_it() -> None:
    talk = [said("What did you call the puppy?", "Ben"), said("Biscuit", "Ada")]
    told = {"Biscuit": {"needs": ["What did you call the puppy?"]}}
    assert find(talk, told)[1][0].text == "Ben: What did you call the puppy? Ada: Biscuit"


def test_sentences_of_one_speaker_are_joined_without_the_name() -> None:
    talk = [said("We got a puppy\nThe vet saw him. He is called Biscuit.")]
    told = {"He is called Biscuit.": {"needs": ["We got a puppy"]}}
    ((finding,),) = find(talk, told)
    assert finding.text == "We got a puppy. He is called Biscuit."
    assert talk[0].text[finding.start : finding.end] == "He is called Biscuit."


def test_a_reader_that_overlooks_what_a_sentence_needs_is_helped() -> None:
    talk = [
        said("Which Node version?", "coder", "assistant"),
        said("20."),
        said("My sister is Ana. She lives in Rome."),
    ]
    _, (number,), (sister,) = find(talk, {"20.": {}, "She lives in Rome.": {}})
    assert number.text == "Coder: Which Node version? Sarah: 20.".replace("Coder", "coder")
    assert sister.text == "My sister is Ana. She lives in Rome."


def test_what_cannot_be_understood_is_not_kept() -> None:
    assert find([said("She lives in Rome.")], {"She lives in Rome.": {}}) == [[]]
    parts = ["The hall is booked.", "The band is paid.", "The food is ordered.", "All of that is settled."]
    three = Mark(needs=((0, 0), (0, 1), (0, 2)))
    assert compose(make_talk([said(" ".join(parts))]), {(0, 3): three}, "model") == [[]]
    long = f"The {'very ' * 80}long story of the old bridge ends here."
    assert find([said(f"{long} The other one is shorter.")], {"The other one is shorter.": {"needs": [long]}}) == [[]]


def test_a_reader_that_names_too_much_is_not_followed_everywhere() -> None:
    talk = [said("The tests look bad. The queue is full. We chose oak for the stairs. It came on Monday.")]
    before = ["The tests look bad.", "The queue is full."]
    whole = "We chose oak for the stairs."
    found = find(talk, {whole: {"needs": before}, "It came on Monday.": {"needs": [*before, whole]}})
    assert [each.text for each in found[0]] == [whole, f"{whole} It came on Monday."]


def test_speakers_without_a_name_go_by_their_role() -> None:
    assert only("I prefer short answers.", None).owner == "the user"
    talk = [said("How long shall I stay on hold?", None, "assistant"), said("Ten minutes", None)]
    told = {"Ten minutes": {"needs": ["How long shall I stay on hold?"]}}
    assert find(talk, told)[1][0].text == "Assistant: How long shall I stay on hold? User: Ten minutes"


def test_another_owner_is_a_speaker_whom_the_sentence_names_or_addresses() -> None:
    talk = [said("Hello you two", "Tom"), said("Tom hates long meetings."), said("You always win.", "Ben")]
    told = {"Tom hates long meetings.": {"owner": "other"}, "You always win.": {"owner": "other"}}
    assert [each.owner for those in find(talk, told) for each in those] == ["Tom", None]
    assert only("The bridge is closed.", owner="other").owner is None


def test_a_plan_is_a_fact_with_the_day_that_it_names() -> None:
    finding = only("I'll send the draft by Friday.", kind="plan", time="future")
    assert finding.kind == "fact"
    assert finding.due == datetime(2026, 3, 6, tzinfo=timezone.utc)
    assert finding.importance > only("My cat is called Miso.").importance
    assert only("I hate Mondays.", kind="preference").due is None


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
def test_a_day_is_read_against_the_day_of_the_message(text: str, day: tuple[int, int, int]) -> None:
    assert due(text, TUESDAY) == datetime(*day, tzinfo=timezone.utc)


def test_a_day_that_has_passed_is_not_due() -> None:
    assert due("My surgery was on 2 February.", TUESDAY) is None


def test_a_correction_says_so() -> None:
    talk = [said("The beta opens on the 16th"), said("The 18th, legal moved it", "Tom")]
    told = {"The 18th, legal moved it": {"act": "correct", "needs": ["The beta opens on the 16th"]}}
    (finding,) = find(talk, told)[1]
    assert (finding.act, finding.text) == (
        "correct",
        "Sarah: The beta opens on the 16th. Tom: The 18th, legal moved it",
    )
    assert only("I take back my yes for February.", act="withdraw").act == "correct"


# -- commands ----------------------------------------------------------------------------------------


def test_what_somebody_asks_to_remember_is_kept_whatever_the_reader_says() -> None:
    ((finding,),) = find([said("Remember that Lena's school closes at four.")], {})
    assert (finding.text, finding.kind, finding.rule) == ("Lena's school closes at four.", "fact", "remember")
    assert finding.importance > only("My cat is called Miso.").importance


def test_remember_that_keeps_the_sentence_before() -> None:
    ((finding,),) = find([said("The spare tyre sits under the boot. Please remember that.")], {})
    assert finding.text == "The spare tyre sits under the boot."
    assert find([said("Please remember that.")], {}) == [[]]


def test_a_sentence_that_is_kept_and_asked_for_is_kept_once() -> None:
    text = "The spare tyre sits under the boot."
    ((finding,),) = find([said(f"{text} Please remember that.")], {text: {}})
    assert (finding.text, finding.rule) == (text, "remember")


def test_forget_that_means_the_sentence_before_and_forget_it_nothing() -> None:
    _, (finding,) = find([said("My salary is 40k."), said("forget that")], {})
    assert (finding.act, finding.text) == ("forget", "My salary is 40k.")
    assert find([said("My salary is 40k."), said("forget it")], {})[1] == []


def test_a_request_to_forget_in_free_words_is_the_readers_to_see() -> None:
    text = "You can drop the reminder about the gym, I cancelled it."
    assert [(each.act, each.text) for each in find([said(text)], {text: {"act": "forget"}})[0]] == [
        ("forget", "the gym")
    ]
    assert find([said("Never heard of it.")], {"Never heard of it.": {"act": "forget"}}) == [[]]


def test_a_reversed_decision_is_no_request_to_forget() -> None:
    finding = only("Forget the AWS setup, we're not doing it.", kind="decision", act="withdraw", owner="team")
    assert (finding.act, finding.kind) == ("correct", "decision")


# -- who says it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["tool", "system"])
def test_tools_and_systems_say_nothing_worth_keeping(role: str) -> None:
    text = "We decided to use Kafka because of its throughput. Remember that the port is 9092."
    assert find([said(text, role=role)], {each: {} for each in text.split(". ")}) == [[]]


def test_an_assistant_is_no_source_about_the_user() -> None:
    assert find([said("You prefer tea.", None, "assistant")], {"You prefer tea.": {"kind": "preference"}}) == [[]]
    done = only("I rolled the release back because of the memory leak.", "coder", "assistant", kind="decision")
    assert done.owner == "coder"


def test_an_assistant_without_a_name_is_kept_where_it_reports_what_was_done() -> None:
    done = ["I've moved the series to Monday.", "Booked: the dentist on 18 May.", "The mail has been sent to the bank."]
    said_to_all = ["Water boils at 100 degrees.", "I can help with that.", "The data is collected through cookies."]
    for name, kept in ((None, done), ("planner", [*done, *said_to_all])):
        (found,) = find(
            [said(" ".join([*done, *said_to_all]), name, "assistant")], {x: {} for x in [*done, *said_to_all]}
        )
        assert [each.text for each in found] == kept


def test_the_lists_of_an_assistant_without_a_name_are_not_read() -> None:
    listed = "Here are ideas:\n- **Book** the flight on Friday.\n- Pack."
    for name, read in ((None, 1), ("Assistant", 1), ("planner", 3)):
        reading = Reading({})
        StatementExtractor(reading).extract([said(listed, name, "assistant")])
        assert [len(turn.sentences) for turn in reading.turns] == [read]


def test_bold_is_shown_to_nobody() -> None:
    assert only("We go with **oak**, not pine.").text == "We go with oak, not pine."


def test_what_was_recalled_is_not_read() -> None:
    reading = Reading({})
    StatementExtractor(reading).extract([said(f'{HEADER}\n- [2026-03-02, fact, Sarah] "I am allergic to nuts."')])
    assert [len(turn.sentences) for turn in reading.turns] == [0]


def test_messages_that_are_only_context_give_nothing_and_are_not_read_without_end() -> None:
    talk = [said(f"This is sentence number {n} of many. " * 10, context=True) for n in range(9)]
    talk.append(said("I prefer tea."))
    reading = Reading({"I prefer tea.": {}, talk[-2].text.split(". ")[0] + ".": {}})
    found = StatementExtractor(reading).extract(talk)
    assert [len(each) for each in found] == [0] * 9 + [1]
    assert [bool(turn.sentences) for turn in reading.turns] == [False] * 8 + [True] * 2


def test_of_an_assistant_without_a_name_reports_and_last_words_are_read() -> None:
    answer = "Sets are fast. I've moved the series to Monday. Lists are slow. Shall I go on? Tell me."
    reading = Reading({"Yes, on Sundays too": {"needs": ["Shall I go on?"]}})
    found = StatementExtractor(reading).extract([said(answer, None, "assistant"), said("Yes, on Sundays too")])
    assert list(reading.turns[0].sentences) == ["I've moved the series to Monday.", "Shall I go on?", "Tell me."]
    assert found[1][0].text == "Assistant: Shall I go on? Sarah: Yes, on Sundays too"


def test_a_message_gives_a_bounded_number_of_memories_the_surest_of_them() -> None:
    texts = [f"The code of gate {number} is {number * 7}." for number in range(30)]
    told = {text: {"keep": 0.5 + number / 100} for number, text in enumerate(texts)}
    ((*found,),) = find([said(" ".join(texts))], told)
    assert [each.text for each in found] == texts[-12:]


# -- without a reader --------------------------------------------------------------------------------


def test_without_a_reader_only_commands_are_found_and_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    extractors._say_once.cache_clear()
    blind = StatementExtractor(None)
    for _ in range(2):
        ((finding,),) = blind.extract([said("I prefer tea. Remember that the key is under the mat.")])
        assert (finding.text, finding.kind) == ("the key is under the mat.", "note")
    assert len([record for record in caplog.records if "no reader of statements" in record.message]) == 1


# -- anything ----------------------------------------------------------------------------------------

PIECES = [
    "I prefer TypeScript", "remember that ", "forget ", "forget that. ", "**bold** ", "- item\n", "# x\n", "so ",
    "\x00", "\ud7ff", "é", "?", "， ", "😂", "\u2028", "\r\n", "it is ", "31 February ", "in 999 years ", "haha ",
    "ok ", ", ", "She said. ", "Please remember that. ", "```\n", "> ", "by Friday ", "\n",
]  # fmt: skip


class Everything:
    """A reader that keeps all, and finds that each sentence needs the one before."""

    def read_talk(self, turns: Any) -> Any:
        from commonplace.models.statements import Told

        return [
            [
                Told(0.9, "plan", "other", "state", "future", ((n, at - 1),) if at else ())
                for at in range(len(t.sentences))
            ]
            for n, t in enumerate(turns)
        ]


@pytest.mark.slow
def test_any_text_is_read_and_spans_are_valid() -> None:
    source = random.Random(7)
    for _ in range(400):
        messages = [
            said(
                "".join(source.choices(PIECES, k=source.randint(0, 6))),
                speaker=source.choice(["Sarah", "", None, "assistant", "Tom"]),
                role=source.choice(["user", "assistant"]),
            )
            for _ in range(3)
        ]
        for message, findings in zip(messages, StatementExtractor(Everything()).extract(messages), strict=True):
            for finding in findings:
                assert 0 <= finding.start < finding.end <= len(message.text)
                assert finding.text.strip()
                assert 0 <= finding.importance <= 1


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
            message = Utterance(text=text, speaker="Sarah", role="user", said_at=at)
            StatementExtractor(Everything()).extract([message])


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "a", " ", "i ", ", ", '"', "(", "- ", "ok so ", "haha ", "**", "1. ", "A B C ", "hi Tom Tom ",
        "please forget everything i told you about ", "remember that ", "remember this for ", "note: ",
        "delete my my my ", "forget about about ", "keep in mind ", "it is that that ",
    ],
)  # fmt: skip
def test_a_hundred_kilobytes_of_anything_are_read_in_time(piece: str) -> None:
    for text in (piece * (100_000 // len(piece)), (piece * (590 // len(piece)) + ". ") * 170):
        began = time.process_time()
        StatementExtractor(Everything()).extract([said(text)])
        assert time.process_time() - began < 5
