"""ModelExtractor with AutoGen clients: the one that autogen-ext ships for tests, and misbehaving ones."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.errors import InvalidInput
from commonplace.learn import chat
from commonplace.learn.chat import AutoGenChat, NoReply, Turn
from commonplace.learn.extractor import ModelExtractor
from commonplace.testing import HashEmbedder
from tests.learn.scripted import CHOICE, TALK, Fallback, answer, entry, liking, rules_of

models = pytest.importorskip("autogen_core.models")
replay = pytest.importorskip("autogen_ext.models.replay")

HELLO = [
    Turn(role="system", text="Be brief"),
    Turn(role="user", text="Hello"),
    Turn(role="assistant", text="Hi"),
    Turn(role="user", text="Again"),
]


def client(*answers: object, json_output: bool = True) -> Any:
    info = models.ModelInfo(
        vision=False, function_calling=False, json_output=json_output, family="unknown", structured_output=False
    )
    return replay.ReplayChatCompletionClient(list(answers), model_info=info)


def extractor(client: object, **options: Any) -> ModelExtractor:
    return ModelExtractor(client, fallback=Fallback(), **options)


class Slow:
    """A client that takes its time, on the event loop or in its way."""

    def __init__(self, seconds: float, *, blocks: bool = False) -> None:
        self.seconds = seconds
        self.blocks = blocks
        self.cancelled = False
        self.threads: set[str] = set()
        self.release = threading.Event()
        """Ends what holds up the loop."""

    async def create(self, messages: object, **options: object) -> object:
        self.threads.add(threading.current_thread().name)
        if self.blocks:
            self.release.wait(self.seconds)
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        usage = models.RequestUsage(prompt_tokens=0, completion_tokens=0)
        return models.CreateResult(finish_reason="stop", content=answer(entry()), usage=usage, cached=False)


class Together(Slow):
    """A client that waits until enough callers ask at once."""

    def __init__(self, count: int) -> None:
        super().__init__(0.0)
        self.missing = count
        self.complete = asyncio.Event()

    async def create(self, messages: object, **options: object) -> object:
        self.missing -= 1
        if not self.missing:
            self.complete.set()
        await self.complete.wait()
        return await super().create(messages, **options)


def test_an_autogen_client_is_asked_in_its_own_messages() -> None:
    scripted = client("hi")
    reply = AutoGenChat(scripted).ask(HELLO, within=5)
    assert reply.text == "hi"
    assert reply.tokens == 6
    (call,) = scripted.create_calls
    kinds = [models.SystemMessage, models.UserMessage, models.AssistantMessage, models.UserMessage]
    assert [type(message) for message in call["messages"]] == kinds
    assert [message.content for message in call["messages"]] == ["Be brief", "Hello", "Hi", "Again"]
    assert call["json_output"] is True


def test_json_is_asked_for_only_where_the_client_knows_it() -> None:
    scripted = client("hi", json_output=False)
    AutoGenChat(scripted).ask(HELLO, within=5)
    assert scripted.create_calls[0]["json_output"] is None


def test_messages_become_findings_through_an_autogen_client() -> None:
    scripted = client("no JSON", answer(entry(), liking()))
    one = extractor(scripted)
    assert rules_of(one.extract(TALK)) == [["model"], ["model"]]
    assert len(scripted.create_calls) == 2
    total = scripted.total_usage()
    assert one.spent_today == total.prompt_tokens + total.completion_tokens


def test_whatever_a_client_raises_the_fallback_reads(caplog: pytest.LogCaptureFixture) -> None:
    one = extractor(client())
    assert rules_of(one.extract([CHOICE])) == [["fallback"]]
    assert "ValueError" in caplog.text
    assert "No more mock responses" not in caplog.text
    assert one.spent_today == 0


@pytest.mark.parametrize(("content", "finish"), [("", "content_filter"), ([], "function_calls")])
def test_a_refusal_or_a_call_of_a_function_is_no_answer(content: object, finish: str) -> None:
    usage = models.RequestUsage(prompt_tokens=5, completion_tokens=5)
    result = models.CreateResult(finish_reason=finish, content=content, usage=usage, cached=False)
    with pytest.raises(NoReply, match="refused"):
        AutoGenChat(client(result)).ask(HELLO, within=5)


def test_a_slow_client_is_cancelled() -> None:
    slow = Slow(30.0)
    started = time.monotonic()
    with pytest.raises(NoReply) as caught:
        AutoGenChat(slow).ask(HELLO, within=0.05)
    assert (caught.value.kind, caught.value.paid) == ("no answer", True)
    assert time.monotonic() - started < 20
    assert slow.cancelled


def test_a_client_that_holds_up_the_loop_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_GRACE", 0.05)
    started = time.monotonic()
    slow = Slow(60.0, blocks=True)
    try:
        with pytest.raises(NoReply, match="no answer"):
            AutoGenChat(slow).ask(HELLO, within=0.05)
    finally:
        slow.release.set()
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_many_threads_share_one_loop() -> None:
    slow = Together(8)
    one = extractor(slow)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: rules_of(one.extract([CHOICE])), range(8)))
    assert found == [[["model"]]] * 8
    assert slow.threads == {"commonplace models"}


def test_extraction_works_beside_a_running_event_loop() -> None:
    async def main() -> object:
        return await asyncio.to_thread(extractor(client(answer(entry()))).extract, [CHOICE])

    assert rules_of(asyncio.run(main())) == [["model"]]  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # this test forks a process with threads
def test_a_forked_process_has_a_loop_of_its_own() -> None:
    AutoGenChat(client("hi")).ask(HELLO, within=5)
    child = os.fork()
    if not child:
        os._exit(0 if AutoGenChat(client("ho")).ask(HELLO, within=5).text == "ho" else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_without_its_package_a_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="pip install"):
        ModelExtractor(client())


def test_a_book_learns_with_an_autogen_client_and_counts_in_another_book(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "b.db", space="budget", embedder=HashEmbedder()) as counts:
        one = extractor(client(answer(entry())), ledger=counts.kv("model tokens"))
        with commonplace.open(tmp_path / "b.db", embedder=HashEmbedder(), extractor=one) as book:
            learned = book.learn([{"name": "Sarah", "role": "user", "content": CHOICE.text}], wait=True)
            assert [memory.kind for memory in learned.memories] == ["decision"]
            assert {memory.origin for memory in learned.memories} == {"user"}
            assert {link.detail["rule"] for link in learned.links if link.relation == "learned from"} == {"model"}
        assert one.spent_today > 100
