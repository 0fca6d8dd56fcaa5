"""The model sees one message of memories for the last message, and none if nothing is relevant."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest
from autogen_agentchat.messages import MemoryQueryEvent
from autogen_core import FunctionCall, Image
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
)
from PIL import Image as Pillow

import commonplace
from commonplace.guard import echo
from commonplace.integrations.autogen import CommonplaceMemory
from commonplace.integrations.autogen.context import MARK
from tests.integrations.autogen.scripted import UserMessage, agent, asked, call, client


def injected(messages: Sequence[LLMMessage]) -> list[str]:
    return [str(each.content) for each in messages if isinstance(each, UserMessage) and each.source.startswith(MARK)]


def test_the_model_reads_memory_just_above_the_question(book: commonplace.Book) -> None:
    book.remember("The ferry to Procida leaves at noon", source="ana")
    model = client()
    result = asyncio.run(agent(CommonplaceMemory(book), model=model).run(task="When does the ferry leave?"))
    system, memory, question = asked(model)
    assert isinstance(system, SystemMessage)
    day = book.list().memories[0].said_at.date()
    assert memory.content == f'{echo.HEADER}\n- [{day}, note, ana] "The ferry to Procida leaves at noon"'
    assert question.content == "When does the ferry leave?"
    kinds = [type(message).__name__ for message in result.messages]
    assert kinds == ["TextMessage", "MemoryQueryEvent", "TextMessage"]


def test_after_many_turns_there_is_one_message_and_it_is_of_the_last_turn(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        book.remember("Ana's favourite drink is tea")
        model = client()
        assistant = agent(CommonplaceMemory(book), model=model)
        for task in ("When does the ferry leave?", "What is Ana's favourite drink?", "When does the ferry leave?"):
            await assistant.run(task=task)
            (shown,) = injected(asked(model))
            assert ("ferry" in shown) == ("ferry" in task)
            assert ("tea" in shown) == ("drink" in task)
        state = await assistant.save_state()
        assert echo.HEADER not in json.dumps(state, default=str)

    asyncio.run(main())


def test_nothing_is_added_when_nothing_is_relevant_and_what_was_there_goes(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        model = client()
        assistant = agent(CommonplaceMemory(book), model=model)
        await assistant.run(task="When does the ferry leave?")
        result = await assistant.run(task="What is the capital of Peru?")
        assert injected(asked(model)) == []
        assert not any(isinstance(message, MemoryQueryEvent) for message in result.messages)

    asyncio.run(main())


def test_an_agent_restored_from_a_state_sees_only_current_memories(book: commonplace.Book) -> None:
    async def main() -> None:
        told = book.remember("The ferry leaves at noon")
        first = agent(CommonplaceMemory(book))
        await first.run(task="When does the ferry leave?")
        state = json.loads(json.dumps(await first.save_state()))
        book.forget(told.id)
        book.remember("The ferry leaves at three")
        model = client()
        second = agent(CommonplaceMemory(book), model=model)
        await second.load_state(state)
        await second.run(task="When does the ferry leave?")
        (shown,) = injected(asked(model))
        assert "three" in shown
        assert "noon" not in str(asked(model))

    asyncio.run(main())


def test_an_agent_restored_with_other_memories_sees_only_those(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        first = agent(CommonplaceMemory(book, k=3))
        await first.run(task="When does the ferry leave?")
        model = client()
        second = agent(CommonplaceMemory(book, k=4), CommonplaceMemory(book, order="time"), model=model)
        await second.load_state(await first.save_state())
        await second.run(task="When does the ferry leave?")
        assert len(injected(asked(model))) == 2

    asyncio.run(main())


def test_failures_are_shown_as_what_to_avoid(book: commonplace.Book) -> None:
    book.remember("The cron approach failed because jobs overlapped", kind="failure")
    model = client()
    result = asyncio.run(agent(CommonplaceMemory(book), model=model).run(task="Should we start jobs with cron?"))
    (shown,) = injected(asked(model))
    assert echo.AVOID in shown
    (event,) = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
    assert event.content[0].metadata is not None
    assert event.content[0].metadata["commonplace"]["avoid"] is True


def test_each_of_two_memories_is_asked_with_the_users_words(book: commonplace.Book) -> None:
    async def main() -> None:
        harbour, kitchen = book.in_space("harbour"), book.in_space("kitchen")
        harbour.remember("The ferry leaves at noon")
        kitchen.remember("The evening ferry leaves at six")
        model = client()
        assistant = agent(CommonplaceMemory(harbour), CommonplaceMemory(kitchen), model=model)
        for _ in range(2):
            await assistant.run(task="When does the ferry leave?")
            assert len(injected(asked(model))) == 2
            assert asked(model)[-1].content == "When does the ferry leave?"

    asyncio.run(main())


def test_a_model_that_allows_one_system_message_answers(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        assistant = agent(CommonplaceMemory(book), model=client("At noon.", "At noon.", strict=True))
        for _ in range(2):
            result = await assistant.run(task="When does the ferry leave?")
            assert result.messages[-1].to_text() == "At noon."

    asyncio.run(main())


def test_memory_never_separates_a_tool_call_from_its_result(book: commonplace.Book) -> None:
    def timetable(line: int) -> str:
        """Read the timetable."""
        return f"line {line}: noon"

    async def main() -> None:
        book.remember("The ferry is line 4")
        model = client(call("timetable", '{"line": 4}'), "noon", call("timetable", '{"line": 4}'), "noon")
        assistant = agent(CommonplaceMemory(book), model=model, tools=[timetable], reflect_on_tool_use=True)
        for _ in range(2):
            await assistant.run(task="When does the ferry leave?")
        kinds = [type(message) for message in asked(model)]
        for at, message in enumerate(asked(model)):
            if isinstance(message, AssistantMessage) and isinstance(message.content, list):
                assert kinds[at + 1] is FunctionExecutionResultMessage

    asyncio.run(main())


class Own(ChatCompletionContext):
    """A context that stores its messages in another attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[LLMMessage] = []

    async def add_message(self, message: LLMMessage) -> None:
        self.kept.append(message)

    async def get_messages(self) -> list[LLMMessage]:
        return self.kept

    async def clear(self) -> None:
        self.kept = []


@pytest.mark.parametrize(
    "context",
    [
        UnboundedChatCompletionContext(),
        BufferedChatCompletionContext(2),
        HeadAndTailChatCompletionContext(2, 3),
        Own(),
    ],
    ids=lambda context: type(context).__name__,
)
def test_every_kind_of_context_shows_it_once_and_loses_nothing(
    book: commonplace.Book, context: ChatCompletionContext
) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        memory = CommonplaceMemory(book)
        for turn in range(6):
            await context.add_message(UserMessage(content=f"{turn}: when does the ferry leave?", source="user"))
            await memory.update_context(context)
            shown = await context.get_messages()
            assert len(injected(shown)) == 1
            assert shown[-1].content == f"{turn}: when does the ferry leave?"
            await context.add_message(AssistantMessage(content="At noon.", source="assistant"))
        kept: list[Any] = context.kept if isinstance(context, Own) else context._messages
        assert len(kept) == 6 + 6
        assert injected(kept) == []

    asyncio.run(main())


def test_memory_is_shown_only_above_the_words_it_is_for(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        context = UnboundedChatCompletionContext()
        await context.add_message(UserMessage(content="When does the ferry leave?", source="user"))
        await CommonplaceMemory(book).update_context(context)
        twin = copy.deepcopy(context)
        await context.add_message(UserMessage(content="And what is for lunch?", source="user"))
        assert injected(await context.get_messages()) == []
        assert len(injected(await twin.get_messages())) == 1
        await twin.clear()
        assert await twin.get_messages() == []

    asyncio.run(main())


def test_the_question_is_the_text_of_a_message_with_pictures(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        context = UnboundedChatCompletionContext()
        picture = Image.from_pil(Pillow.new("RGB", (2, 2)))
        await context.add_message(UserMessage(content=["When does the ferry\0 leave?\ud800", picture], source="user"))
        await context.add_message(AssistantMessage(content=[FunctionCall("1", "{}", "look")], source="assistant"))
        result = FunctionExecutionResult(content="a boat", name="look", call_id="1", is_error=False)
        await context.add_message(FunctionExecutionResultMessage(content=[result]))
        await CommonplaceMemory(book).update_context(context)
        assert len(injected(await context.get_messages())) == 1

    asyncio.run(main())


def test_a_long_message_is_asked_with_its_beginning_and_its_end(book: commonplace.Book) -> None:
    async def main() -> None:
        book.remember("The ferry leaves at noon")
        context = UnboundedChatCompletionContext()
        await context.add_message(UserMessage(content="log line\n" * 200_000, source="user"))
        await CommonplaceMemory(book).update_context(context)

    asyncio.run(main())


def test_bytes_that_are_recalled_leave_a_state_that_can_be_saved(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        about = {"text": "A photo of the ferry at the pier"}
        await memory.add(MemoryContent(content=b"\xff\xd8\xff", mime_type=MemoryMimeType.BINARY, metadata=about))
        result = await agent(memory).run(task="Is there a photo of the ferry?")
        (event,) = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
        assert json.dumps(event.dump())
        assert event.content[0].content == about["text"]

    asyncio.run(main())
