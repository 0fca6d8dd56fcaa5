"""The rules for advice, grades, general terms and topics, which also replace a model that fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from commonplace import ReplayMismatch
from commonplace.integrations.tasks import MemoryController, rules
from commonplace.integrations.tasks.utils import ChatCompletionClientRecorder
from tests.tasks.scripted import Answering

ADVICE = {
    "My favorite color is blue.": "My favorite color is blue.",
    "Hint: the answer must be a prime number.": "The answer must be a prime number.",
    "You should sort the list before you search it.": "You should sort the list before you search it.",
    "When two people accuse each other, check both claims. Who took the vase?": (
        "When two people accuse each other, check both claims."
    ),
    "Instead of adding, multiply the factors.": "Instead of adding, multiply the factors.",
    "What colors do I like most?": None,
    "Write a poem about cats.": None,
    "Thanks, that was great!": None,
    "Forget that I like blue.": None,
    "": None,
}
GRADES = {
    ("42", "42"): True,
    ("After some thought: the answer is **42**.", "42"): True,
    ("It took 42 steps to see it.\nFinal answer: 17", "42"): False,
    ("Answer: 1,000 euros", "1000 euros"): True,
    ("There are twelve of them", "12"): True,
    ("The answer is not 42.", "42"): False,
    ("x = 3\n\\boxed{3.0}", "3"): True,
    ("It is 142", "42"): False,
    ("PARIS, France!", "Paris, France"): True,
    ("", "42"): False,
}


@pytest.mark.parametrize("text", ADVICE)
def test_advice_is_what_helps_later(text: str) -> None:
    assert rules.find_advice(text) == ADVICE[text]


@pytest.mark.parametrize(("response", "expected"), GRADES)
def test_an_answer_is_compared_in_a_plain_form(response: str, expected: str) -> None:
    assert rules.grade_answer(response, expected)[0] is GRADES[response, expected]


def test_a_task_in_general_terms_has_no_names_and_numbers() -> None:
    task = 'Please help me to translate "good night" for 12 guests of Anna Berg.'
    assert rules.generalize_task(task) == "translate some text for some number guests of somebody ."
    assert rules.find_topics("What is the best way to peel ripe mangoes quickly?") == (
        "best way", "peel ripe mangoes quickly",
    )  # fmt: skip


class Away(Answering):
    """A model that cannot be reached."""

    async def create(self, *args: Any, **options: Any) -> Any:
        self.asked.append("away")
        raise ConnectionError("no route to host")


def test_a_model_that_is_away_is_left_alone_and_the_rules_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def turns() -> None:
        client = Away()
        controller = MemoryController(client=client, book=tmp_path / "team.db")
        assert (
            await controller.consider_memo_storage("My favorite color is blue.") == ADVICE["My favorite color is blue."]
        )
        (memo,) = await controller.retrieve_relevant_memos("Which color is my favorite?")
        assert memo.insight == ADVICE["My favorite color is blue."]
        assert client.asked == ["away"]
        await controller.close()

    asyncio.run(turns())
    assert "no answer from the model (ConnectionError)" in caplog.text


def test_a_replay_that_does_not_match_is_not_taken_for_a_model_that_is_away(tmp_path: Path) -> None:
    async def session(mode: Any, told: str) -> None:
        client = ChatCompletionClientRecorder(
            Answering(lambda *_: {"advice": None}), mode, str(tmp_path / "session.json")
        )
        controller = MemoryController(client=client, book=tmp_path / "team.db")
        assert await controller.consider_memo_storage(told) is None
        await controller.close()
        client.finalize()

    asyncio.run(session("record", "Good morning"))
    asyncio.run(session("replay", "Good morning"))
    with pytest.raises(ReplayMismatch):
        asyncio.run(session("replay", "Good evening"))


def test_a_model_that_says_that_nothing_helps_is_believed(tmp_path: Path) -> None:
    async def turns() -> None:
        client = Answering(lambda step, asked: {"useful": []} if step == "useful" else {"advice": None})
        controller = MemoryController(client=client, book=tmp_path / "team.db")
        await controller.add_memo("Blue is my favorite color", "Which color is my favorite?")
        assert await controller.retrieve_relevant_memos("Which color is my favorite?") == []
        assert await controller.consider_memo_storage("My favorite color is red.") is None
        trusting = MemoryController(client=client, config={"validate_memos": False}, book=tmp_path / "team.db")
        assert len(await trusting.retrieve_relevant_memos("Which color is my favorite?")) == 1
        for each in (controller, trusting):
            await each.close()

    asyncio.run(turns())


def test_an_answer_that_was_not_asked_for_ends_nothing_and_the_rules_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    advice: list[object] = [{}, {"advice": 5}, {"advice": ["x"]}, {"advice": "x" * 5_000}, {"advice": False}, [], "no"]
    chosen: list[object] = [{"useful": each} for each in ([True], [0, 99], [{"number": 1}], 1, None)]
    strange: list[object] = [{"task": "a\0b", "topics": ["\ud800", "\0", 7, "t" * 9_000]}, {"task": [], "topics": "x"}]
    answers = iter([*advice, *strange, *chosen])

    async def turns() -> None:
        controller = MemoryController(client=Answering(lambda *_: next(answers)), book=tmp_path / "team.db")
        for number, _ in enumerate(advice):
            told = f"You should oil hinge {number}."
            assert await controller.consider_memo_storage(told) == told
        for number, _ in enumerate(strange):
            memo = await controller.add_memo(f"Hinge {number} squeaks", "Oil a hinge")
            assert all(len(topic) < 200 for topic in memo.topics)
        for _ in chosen:
            assert await controller.retrieve_relevant_memos("Which hinges should you oil?")
        await controller.close()

    asyncio.run(turns())
    assert caplog.text.count("cannot be used") == len(advice) + 1 + len(chosen)


def test_what_no_text_may_hold_is_taken_out_of_a_models_words(tmp_path: Path) -> None:
    answers = iter([{"advice": "\0"}, {"advice": "Oil it \ud800", "task": "\0a\ud800"}, {"task": None, "topics": []}])

    async def turns() -> None:
        controller = MemoryController(client=Answering(lambda *_: next(answers)), book=tmp_path / "team.db")
        assert await controller.consider_memo_storage("Oil") is None
        assert await controller.consider_memo_storage("Oil") == "Oil it ?"
        (memo,) = await controller.list_memos()
        assert (await controller.update_memo(memo.id, "Grease \0 it \ud800", task="a\0b")).task == "a b"
        await controller.close()

    asyncio.run(turns())


def test_a_model_that_chooses_is_shown_the_beginning_of_each_memo(tmp_path: Path) -> None:
    shown: list[str] = []

    def script(step: str, asked: dict[str, Any]) -> object:
        shown.extend(memo["memo"] for memo in asked.get("memos", ()))
        return {"useful": [1], "topics": [], "task": None}

    async def turns() -> None:
        controller = MemoryController(client=Answering(script), book=tmp_path / "team.db")
        memo = await controller.add_memo("Oil the hinge. " * 1_000)
        assert await controller.retrieve_relevant_memos("Oil the hinge")
        assert [len(each) for each in shown] == [2_000]
        assert len(memo.insight) > 10_000
        await controller.close()

    asyncio.run(turns())
