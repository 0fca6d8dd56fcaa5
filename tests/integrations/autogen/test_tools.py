"""The tools remember, recall and forget."""

from __future__ import annotations

import asyncio
import json

from autogen_core import CancellationToken
from autogen_core.models import FunctionExecutionResultMessage
from autogen_core.tools import StaticWorkbench

import commonplace
from commonplace import Scope
from commonplace.integrations.autogen import memory_tools
from tests.integrations.autogen.scripted import agent, asked, call, client


async def use(book: commonplace.Book, name: str, arguments: dict[str, str], **options: Scope) -> tuple[bool, str]:
    result = await StaticWorkbench(memory_tools(book, **options)).call_tool(name, arguments, CancellationToken())
    return result.is_error, result.to_text()


def test_a_model_remembers_in_one_conversation_and_recalls_in_the_next(book: commonplace.Book) -> None:
    async def main() -> None:
        told = json.dumps({"text": "Ana prefers window seats", "kind": "preference"})
        await agent(tools=memory_tools(book), model=client(call("remember", told))).run(task="I like window seats")
        model = client(call("recall", '{"question": "Which seats does Ana prefer?"}'), "Window seats.")
        await agent(tools=memory_tools(book), model=model, reflect_on_tool_use=True).run(task="Book me a seat")
        (result,) = [each for each in asked(model) if isinstance(each, FunctionExecutionResultMessage)]
        assert "Ana prefers window seats" in result.content[0].content
        (memory,) = book.list()
        assert (memory.kind, memory.origin) == ("preference", "agent")
        assert memory.id in result.content[0].content

    asyncio.run(main())


def test_recall_says_that_nothing_is_known(book: commonplace.Book) -> None:
    assert asyncio.run(use(book, "recall", {"question": "Where is the key?"})) == (
        False, "Nothing is known about this.",
    )  # fmt: skip


def test_a_model_forgets_its_own_and_not_what_belongs_to_others(book: commonplace.Book) -> None:
    async def main() -> None:
        hers, theirs = Scope(agent="ana"), book.remember("The ferry leaves at noon")
        await use(book, "remember", {"text": "The pier is number four"}, scope=hers)
        (own,) = [memory for memory in book.list() if memory.scope == hers]
        refused, why = await use(book, "forget", {"id": theirs.id}, scope=hers)
        assert refused
        assert "belongs to another owner" in why
        assert await use(book, "forget", {"id": own.id}, scope=hers) == (False, f"Forgot {own.id}.")
        assert [memory.id for memory in book.list()] == [theirs.id]

    asyncio.run(main())


def test_a_wrong_call_gets_a_sentence_that_a_model_can_act_on(book: commonplace.Book) -> None:
    refused, why = asyncio.run(use(book, "forget", {"id": "nothing"}))
    assert refused
    assert "no memory with id" in why
    refused, why = asyncio.run(use(book, "remember", {"text": "x", "kind": "secret"}))
    assert refused
    assert "failure" in why, "the kinds that there are"


def test_what_a_model_remembers_does_not_overrule_a_person(book: commonplace.Book) -> None:
    told = book.remember("The invoice address is Rua Augusta 1", kind="fact", reconcile=True)
    asyncio.run(use(book, "remember", {"text": "The invoice address is Evil Street 9", "kind": "fact"}))
    assert book.get(told.id).valid_to is None
