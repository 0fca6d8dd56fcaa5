"""A session with a model is recorded once and replayed by any process, or the difference is shown."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ModelClientStreamingChunkEvent
from autogen_core import FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL import Image as Pixels
from pydantic import BaseModel

from commonplace.errors import InvalidInput, ReplayMismatch, StoreUnavailable
from commonplace.integrations.tasks.recorder import ChatCompletionClientRecorder

pytestmark = pytest.mark.anyio

# Written by the recorder of autogen-ext 0.7.5.
THEIRS = Path(__file__).resolve().parents[1] / "data" / "tasks" / "autogen_session.json"

INFO = ModelInfo(vision=True, function_calling=True, json_output=True, structured_output=True, family="unknown")
CALL = CreateResult(
    content=[FunctionCall(id="1", name="rows", arguments='{"table": "mills"}')],
    usage=RequestUsage(prompt_tokens=10, completion_tokens=5),
    finish_reason="function_calls",
    cached=False,
    thought="I should count them",
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def rows(table: str) -> str:
    """Return the number of rows of a table."""
    return f"{table}: 41"


def model(*answers: str | CreateResult) -> ReplayChatCompletionClient:
    return ReplayChatCompletionClient(list(answers), model_info=INFO)


def user(*content: str | Image) -> UserMessage:
    return UserMessage(content=content[0] if content and len(content) == 1 else list(content), source="user")  # type: ignore[arg-type]


class Shape(BaseModel):
    """The form of an answer."""

    rows: int


async def asked(client: ChatCompletionClientRecorder, *, colour: str = "teal", extra: int = 7) -> list[Any]:
    """Run three turns with images, tools, structured output, further arguments and a stream."""
    table = Image(Pixels.new("RGB", (8, 4), colour))
    tool = FunctionTool(rows, description="Counts rows")
    history: list[LLMMessage] = [SystemMessage(content="Count."), user("How many?", table)]
    first = await client.create(history, tools=[tool], tool_choice=tool, extra_create_args={"seed": extra})
    history.append(AssistantMessage(content=CALL.content, thought=CALL.thought, source="counter"))
    result = FunctionExecutionResult(content="mills: 41", name="rows", call_id="1", is_error=False)
    history.append(FunctionExecutionResultMessage(content=[result]))
    second = await client.create(history, json_output=Shape, tools=[tool.schema])
    pieces = [piece async for piece in client.create_stream([*history, user("Say it\nin words")], json_output=True)]
    return [first, second, *pieces]


async def recorded(path: Path) -> list[Any]:
    client = ChatCompletionClientRecorder(model(CALL, '{"rows": 41}', "It has forty-one rows"), "record", str(path))
    answers = await asked(client)
    client.finalize()
    await client.close()
    return answers


async def test_a_replay_gives_what_was_recorded_and_says_that_it_is_cached(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "session.json"
    before = await recorded(path)
    silent = model()
    client = ChatCompletionClientRecorder(silent, "replay", str(path))
    after = await asked(client)
    client.finalize()
    assert silent.create_calls == []
    assert [each if isinstance(each, str) else {**each.model_dump(), "cached": True} for each in before] == [
        each if isinstance(each, str) else each.model_dump() for each in after
    ]
    assert after[0].thought == "I should count them"
    assert [each for each in after if isinstance(each, str)] == ["It ", "has ", "forty-one ", "rows"]
    assert after[-1].content == "It has forty-one rows"
    assert [each.cached for each in after if isinstance(each, CreateResult)] == [True, True, True]


async def test_the_file_is_a_list_of_turns_that_a_person_can_read(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    await recorded(path)
    text = path.read_text("utf-8")
    turns = json.loads(text)
    assert [turn["mode"] for turn in turns] == ["create", "create", "create_stream"]
    assert '\n  "messages": [\n' in text
    assert turns[0]["messages"][1]["content"][1]["image"] == "8 x 4"
    assert turns[0]["tools"][0]["name"] == "rows"
    assert turns[0]["tool_choice"] == {"name": "rows"}
    assert turns[1]["json_output"]["title"] == "Shape"
    assert turns[2]["stream"][:4] == ["It ", "has ", "forty-one ", "rows"]
    await recorded(path)
    assert path.read_text("utf-8") == text
    assert [each.name for each in tmp_path.iterdir()] == ["session.json"]


@pytest.mark.parametrize(
    ("change", "turn", "shown"),
    [
        ({"extra": 8}, "turn 1 of 3", ["-  seed: 7", "+  seed: 8"]),
        ({"colour": "navy"}, "turn 1 of 3", ["sha256"]),
    ],
)
async def test_another_request_is_refused_with_the_difference(
    tmp_path: Path, change: dict[str, Any], turn: str, shown: list[str]
) -> None:
    await recorded(tmp_path / "session.json")
    client = ChatCompletionClientRecorder(model(), "replay", str(tmp_path / "session.json"))
    with pytest.raises(ReplayMismatch, match=turn) as caught:
        await asked(client, **change)
    assert "--- recorded\n+++ asked\n" in str(caught.value)
    assert all(line in str(caught.value) for line in shown)


async def test_the_difference_shows_the_lines_of_a_text_that_changed_and_leaves_the_rest_out(tmp_path: Path) -> None:
    path = str(tmp_path / "session.json")
    rules = "\n".join(f"Rule {number}: be exact." for number in range(40))
    recording = ChatCompletionClientRecorder(model("yes"), "record", path)
    await recording.create([SystemMessage(content=rules), user("Begin")])
    client = ChatCompletionClientRecorder(model(), "replay", path)
    with pytest.raises(ReplayMismatch) as caught:
        await client.create(
            [SystemMessage(content=rules.replace("Rule 20: be exact", "Rule 20: be kind")), user("Begin")]
        )
    diff = str(caught.value).splitlines()
    assert [line.strip() for line in diff if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-    Rule 20: be exact.",
        "+    Rule 20: be kind.",
    ]
    assert len(diff) < 15


async def test_a_difference_that_no_reader_sees_is_shown_all_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "session.json")
    await ChatCompletionClientRecorder(model("yes"), "record", path).create([user("Begin\nnow")])
    client = ChatCompletionClientRecorder(model(), "replay", path)
    with pytest.raises(ReplayMismatch) as caught:
        await client.create([user("Begin\nnow\n")])
    assert '-      "content": "Begin\\nnow",' in str(caught.value)


async def test_a_stream_is_not_what_was_recorded_as_one_answer(tmp_path: Path) -> None:
    path = str(tmp_path / "session.json")
    await ChatCompletionClientRecorder(model("yes"), "record", path).create([user("Begin")])
    client = ChatCompletionClientRecorder(model(), "replay", path)
    with pytest.raises(ReplayMismatch, match=r"-mode: 'create'\n\+mode: 'create_stream'"):
        await anext(client.create_stream([user("Begin")]))


async def test_asking_more_or_less_than_was_recorded_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "session.json")
    await recorded(Path(path))
    client = ChatCompletionClientRecorder(model(), "replay", path)
    with pytest.raises(ReplayMismatch, match="holds 3 turns: 0 were requested"):
        client.finalize()
    await asked(client)
    with pytest.raises(ReplayMismatch, match=r"turn 4 was requested, but .* has only 3"):
        await client.create([user("And more?")])
    # Who hides the error is found out in the end.
    with pytest.raises(ReplayMismatch, match="4 were requested, 3 of them match the recording"):
        client.finalize()


async def test_what_cannot_be_used_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="neither"):
        ChatCompletionClientRecorder(model(), "reply", str(tmp_path / "x"))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="cannot be read"):
        ChatCompletionClientRecorder(model(), "replay", str(tmp_path / "x"))
    for content in ("{", "{}", "[1]"):
        (tmp_path / "x").write_text(content, "utf-8")
        with pytest.raises(InvalidInput, match=r"is not (JSON|a list of turns)"):
            ChatCompletionClientRecorder(model(), "replay", str(tmp_path / "x"))
    below_a_file = ChatCompletionClientRecorder(model("a"), "record", str(tmp_path / "x" / "session.json"))
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        await below_a_file.create([user("Begin")])
    (tmp_path / "x").write_text('[{"mode": "create", "messages": [], "response": {"content": 3}}]', "utf-8")
    with pytest.raises(InvalidInput, match="no answer of a model"):
        await ChatCompletionClientRecorder(model(), "replay", str(tmp_path / "x")).create([])


async def test_a_call_that_fails_and_a_stream_that_breaks_are_not_part_of_the_session(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    client = ChatCompletionClientRecorder(Breaking(["a b c"], model_info=INFO), "record", str(path))
    with pytest.raises(ConnectionError):
        [piece async for piece in client.create_stream([user("Begin")])]
    assert (await client.create([user("Again")])).content == "a b c"
    assert [turn["messages"][0]["content"] for turn in json.loads(path.read_text("utf-8"))] == ["Again"]


class Breaking(ReplayChatCompletionClient):
    """A model whose stream breaks off after two pieces."""

    async def create_stream(self, messages: Sequence[LLMMessage], **rest: Any) -> AsyncGenerator[Any, None]:
        seen = 0
        async for piece in super().create_stream(messages, **rest):
            if seen == 2:
                raise ConnectionError("gone")
            seen += 1
            yield piece


async def test_a_stream_that_is_left_early_is_replayed_as_far_as_it_was_read(tmp_path: Path) -> None:
    path = str(tmp_path / "session.json")
    stream = ChatCompletionClientRecorder(model("a b c"), "record", path).create_stream([user("Begin")])
    assert await anext(stream) == "a "
    await stream.aclose()
    client = ChatCompletionClientRecorder(model(), "replay", path)
    assert [piece async for piece in client.create_stream([user("Begin")])] == ["a "]
    client.finalize()


class Wordy(ReplayChatCompletionClient):
    """Streams words without a whole at the end."""

    async def create_stream(self, *args: Any, **options: Any) -> AsyncGenerator[str | CreateResult, None]:
        for word in ("forty", "one"):
            yield word


async def test_a_stream_of_words_alone_and_arguments_like_an_image_are_replayed(tmp_path: Path) -> None:
    path, answers = tmp_path / "session.json", []
    for mode in ("record", "replay"):
        client = ChatCompletionClientRecorder(Wordy(["a"], model_info=INFO), mode, str(path))
        answers.append([piece async for piece in client.create_stream([user("How many?")])])
        await client.create([user("And?")], extra_create_args={"metadata": {"data": "mills"}})
        client.finalize()
    assert answers == [["forty", "one"]] * 2


async def test_two_recorders_of_one_file_do_not_lose_each_others_turns_silently(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.symlink_to(tmp_path / "kept.json")
    first, second = (ChatCompletionClientRecorder(model(*"abcdefghi"), "record", str(path)) for _ in range(2))
    await first.create([user("Begin")])
    asked = [client.create([user(f"{number}")]) for number in range(8) for client in (first, second)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(each) for each in answers} <= {CreateResult, InvalidInput}
    path.write_text("[]", "utf-8")
    for client in (first, second):
        with pytest.raises(InvalidInput, match="its own file"):
            client.finalize()
    assert path.is_symlink()
    assert {each.name for each in tmp_path.iterdir()} == {"session.json", "kept.json"}


async def test_turns_asked_at_once_keep_the_order_in_which_they_were_asked(tmp_path: Path) -> None:
    path = str(tmp_path / "session.json")
    client = ChatCompletionClientRecorder(Slow(["1", "2", "3"], model_info=INFO), "record", path)
    before = await asyncio.gather(*(client.create([user(f"Task {n}")]) for n in range(3)))
    client = ChatCompletionClientRecorder(model(), "replay", path)
    after = await asyncio.gather(*(client.create([user(f"Task {n}")]) for n in range(3)))
    assert [each.content for each in after] == [each.content for each in before]


class Slow(ReplayChatCompletionClient):
    """A model that answers the last question first."""

    async def create(self, messages: Sequence[LLMMessage], **rest: Any) -> CreateResult:
        result = await super().create(messages, **rest)
        await asyncio.sleep(0.02 * (3 - int(str(messages[0].content)[-1])))
        return result


async def test_sessions_of_autogens_own_recorder_are_replayed() -> None:
    client = ChatCompletionClientRecorder(model(), "replay", str(THEIRS))
    look = [SystemMessage(content="Look."), user("What is it?", Image(Pixels.new("RGB", (5, 5), "red")))]
    answer = await client.create(look, extra_create_args={"seed": 1})  # type: ignore[arg-type]
    assert (answer.content, answer.cached) == ("A red square", True)
    call = await client.create([user("How many?")])
    assert (call.content, call.thought, call.usage) == (CALL.content, CALL.thought, CALL.usage)
    client.finalize()
    other = [SystemMessage(content="Look."), user("What is it?", Image(Pixels.new("RGB", (5, 5), "blue")))]
    with pytest.raises(ReplayMismatch, match="sha256"):
        await ChatCompletionClientRecorder(model(), "replay", str(THEIRS)).create(other)  # type: ignore[arg-type]


async def test_the_client_counts_and_describes_itself(tmp_path: Path) -> None:
    inner = model("one two")
    client = ChatCompletionClientRecorder(inner, "record", str(tmp_path / "session.json"))
    await client.create([user("Begin")])
    assert client.total_usage() == inner.total_usage()
    assert client.actual_usage() == inner.actual_usage()
    assert client.model_info == INFO
    assert client.count_tokens([user("a b")]) == inner.count_tokens([user("a b")])
    assert client.remaining_tokens([user("a b")]) == inner.remaining_tokens([user("a b")])


async def worked(client: ChatCompletionClientRecorder) -> tuple[str, list[str]]:
    """An agent that calls a tool and then answers, streamed."""
    agent = AssistantAgent("counter", client, tools=[rows], model_client_stream=True, reflect_on_tool_use=True)
    events = [event async for event in agent.run_stream(task="How many mills are there?")]
    chunks = [event.content for event in events if isinstance(event, ModelClientStreamingChunkEvent)]
    return events[-1].messages[-1].content, chunks  # type: ignore[union-attr]


@pytest.mark.slow
async def test_an_agent_that_streams_is_replayed_by_another_process(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    client = ChatCompletionClientRecorder(model(CALL, "There are forty-one"), "record", str(path))
    answer, chunks = await worked(client)
    assert answer == "There are forty-one"
    assert len(chunks) >= 3
    # Nobody calls finalize: the process that recorded may die.
    code = (
        "import asyncio, json, sys\n"
        "from tests.tasks.test_recorder import ChatCompletionClientRecorder, model, worked\n"
        "client = ChatCompletionClientRecorder(model(), 'replay', sys.argv[1])\n"
        "said = asyncio.run(worked(client))\n"
        "client.finalize()\n"
        "sys.stdout.write(json.dumps(said))\n"
    )
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [answer, chunks]
