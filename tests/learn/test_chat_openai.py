"""OpenAIChat and ModelExtractor against a real HTTP server on loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.errors import InvalidInput
from commonplace.learn.chat import NoReply, OpenAIChat, Turn
from commonplace.learn.extractor import ModelExtractor, today
from commonplace.testing import HashEmbedder
from tests.learn.scripted import CHOICE, Fallback, answer, entry, rules_of
from tests.models.service import Reply, Service, serving

KEY = "sk-very-secret-0123456789"
HELLO = [Turn(role="system", text="Be brief"), Turn(role="user", text="Hello")]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as running:
        yield running


def chat(service: Service, **options: Any) -> OpenAIChat:
    return OpenAIChat("small", **{"base_url": service.url, "retries": 1, "timeout": 5.0, **options})


def extractor(service: Service, **options: Any) -> ModelExtractor:
    return ModelExtractor(chat(service), fallback=Fallback(), **options)


def completion(text: str | None, *, tokens: int | None = 321, **choice: Any) -> Reply:
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    usage = {} if tokens is None else {"usage": {"prompt_tokens": 300, "total_tokens": tokens}}
    return Reply(body={"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}], **usage})


def test_a_question_is_asked_in_json_mode_and_answered(service: Service) -> None:
    service.script = [completion("hi")]
    reply = chat(service, api_key=KEY, options={"temperature": 0}).ask(HELLO, within=5)
    assert (reply.text, reply.tokens) == ("hi", 321)
    (request,) = service.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hello"}],
        "response_format": {"type": "json_object"},
        "temperature": 0,
    }


@pytest.mark.parametrize("tokens", [None, 0])
def test_tokens_that_are_not_reported_are_not_known(service: Service, tokens: int | None) -> None:
    service.script = [completion("hi", tokens=tokens)]
    assert chat(service).ask(HELLO, within=5).tokens is None


def test_a_service_without_json_mode_is_asked_without_it_from_then_on(service: Service) -> None:
    refusal = Reply(400, {"error": {"message": "'response_format.type' must be 'json_schema'"}})
    service.script = [refusal, completion("hi"), completion("ho")]
    one = chat(service)
    assert [one.ask(HELLO, within=5).text for _ in range(2)] == ["hi", "ho"]
    assert ["response_format" in request.body for request in service.requests] == [True, False, False]


def test_a_question_that_is_refused_either_way_is_no_sign_of_missing_json_mode(service: Service) -> None:
    service.script = [Reply(400, {"error": "too long"}), Reply(400, {"error": "too long"}), completion("hi")]
    one = chat(service)
    with pytest.raises(NoReply) as caught:
        one.ask(HELLO, within=5)
    assert (caught.value.kind, caught.value.paid, caught.value.away) == ("status 400", False, False)
    one.ask(HELLO, within=5)
    assert "response_format" in service.requests[-1].body


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_passing_failure_is_tried_again(service: Service, status: int) -> None:
    service.script = [Reply(status, {}, {"Retry-After": "0"}), completion("hi")]
    assert chat(service).ask(HELLO, within=5).text == "hi"


@pytest.mark.parametrize("status", [429, 500])
def test_when_a_failure_lasts_the_fallback_reads(
    service: Service, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    service.script = [Reply(status, {"error": {"message": "FastAPI"}}, {"Retry-After": "0"})] * 2
    one = extractor(service)
    assert rules_of(one.extract([CHOICE])) == [["fallback"]]
    assert len(service.requests) == 2
    assert one.spent_today == 0
    assert f"status {status}" in caplog.text
    assert "FastAPI" not in caplog.text


def test_retries_end_with_the_time_that_is_left(service: Service) -> None:
    service.script = [Reply(429, {}, {"Retry-After": "60"})] * 4
    started = time.monotonic()
    with pytest.raises(NoReply, match="status 429"):
        chat(service, retries=3).ask(HELLO, within=0.5)
    assert time.monotonic() - started < 30
    assert len(service.requests) == 1


def test_a_silent_service_is_given_up_and_may_have_cost(service: Service) -> None:
    service.script = [Reply(delay=60.0)]
    started = time.monotonic()
    one = extractor(service, seconds=0.3)
    assert rules_of(one.extract([CHOICE])) == [["fallback"]]
    assert time.monotonic() - started < 30
    assert one.spent_today > 300


def test_a_closed_port_is_no_answer(service: Service) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = OpenAIChat("small", base_url=f"http://127.0.0.1:{taken.getsockname()[1]}", retries=0)
        with pytest.raises(NoReply, match="no answer"):
            closed.ask(HELLO, within=5)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (completion(None, message={"refusal": "I can't help with that"}), "refused"),
        (completion("", finish_reason="content_filter"), "refused"),
        (completion(None), "refused"),
        (Reply(200, b"<html>"), "not a chat completion"),
        (Reply(200, {"choices": []}), "not a chat completion"),
        (Reply(200, {"choices": [{"message": "hi"}]}), "not a chat completion"),
        (Reply(200, ["hi"]), "not a chat completion"),
    ],
)
def test_an_answer_that_is_none_is_told_by_its_kind(service: Service, reply: Reply, kind: str) -> None:
    service.script = [reply]
    with pytest.raises(NoReply) as caught:
        chat(service).ask(HELLO, within=5)
    assert (caught.value.kind, caught.value.paid) == (kind, True)


def test_the_key_is_shown_nowhere(service: Service) -> None:
    one = chat(service, api_key=KEY)
    service.script = [Reply(401, {"error": {"message": f"wrong key {KEY}"}})]
    with pytest.raises(NoReply) as caught:
        one.ask(HELLO, within=5)
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r} {one!r} {ModelExtractor(one)!r}"


@pytest.mark.parametrize("options", [{"retries": -1}, {"timeout": 0}, {"base_url": "localhost"}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        OpenAIChat("small", **{"base_url": "http://localhost", **options})


def test_messages_become_findings_over_http(service: Service) -> None:
    service.script = [completion("not yet"), completion(f"```json\n{answer(entry())}\n```")]
    one = extractor(service)
    assert rules_of(one.extract([CHOICE])) == [["model"]]
    assert one.spent_today == 642
    assert service.requests[1].body["messages"][-1]["content"].startswith("That answer cannot be used: it is not JSON")


def test_a_book_opened_with_the_name_of_a_model_learns_with_it(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    service.script = [completion(answer(entry()))]
    with commonplace.open(tmp_path / "b.db", embedder=HashEmbedder(), extractor="openai:small") as book:
        learned = book.learn([{"name": "Sarah", "role": "user", "content": CHOICE.text}], wait=True)
        texts = [memory.text for memory in learned.memories]
        assert texts == ["after the spike: we chose FastAPI over Flask because of the async support."]
        assert book.kv("model tokens").get(today()) == 321
    assert service.requests[0].body["model"] == "small"


def test_an_asynchronous_book_learns_with_a_model_too(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    service.script = [completion(answer(entry()))]

    async def story() -> None:
        path = tmp_path / "b.db"
        async with await commonplace.open_async(path, embedder=HashEmbedder(), extractor="openai:small") as book:
            learned = await book.learn([{"name": "Sarah", "content": CHOICE.text}], wait=True)
            assert "FastAPI" in learned.memories[0].text

    asyncio.run(story())


@pytest.mark.parametrize("spec", ["gpt-4o", "openai:", 7, Fallback, {}])
def test_what_is_no_extractor_is_refused_before_a_book_is_made(tmp_path: Path, spec: Any) -> None:
    with pytest.raises(InvalidInput):
        commonplace.open(tmp_path / "b.db", embedder=HashEmbedder(), extractor=spec)
    assert not (tmp_path / "b.db").exists()


def test_the_reader_can_be_asked_for_by_name(tmp_path: Path) -> None:
    with commonplace.open(tmp_path / "b.db", embedder=HashEmbedder(), extractor="reader") as book:
        assert book.learn("Sarah: We chose FastAPI over Flask.", wait=True).memories
