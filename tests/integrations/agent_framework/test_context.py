"""Agent Framework agents with a book, through `Agent.run`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agent_framework import AgentSession, InMemoryHistoryProvider, Message

import commonplace
from commonplace import Scope, Within
from commonplace.integrations.agent_framework import (
    CommonplaceContextProvider,
    CommonplaceHistoryProvider,
    memory_tools,
)
from tests.integrations.agent_framework.scripted import agent, call
from tests.integrations.processes import ROOT, finish, run_example

FERRY = "The ferry to Procida leaves at noon"
CHOICE = "We chose FastAPI over Flask as the web framework because of async support."


def lines(book: commonplace.Book, session: AgentSession) -> list[tuple[str | None, str, object]]:
    return [(line.name, line.role, line.content) for line in book.transcript(session.session_id).read()]


@pytest.mark.parametrize("order", ["given first", "given last", "added by the agent"])
def test_memory_is_just_before_the_input_and_gone_in_the_next_turn(book: commonplace.Book, order: str) -> None:
    book.remember(FERRY)
    book.remember("The cron approach failed because jobs overlapped", kind="failure")

    async def main() -> None:
        memory, history = CommonplaceContextProvider(book, learn=False), InMemoryHistoryProvider()
        given = {"given first": [history, memory], "given last": [memory, history], "added by the agent": [memory]}
        assistant = agent(*given[order], answers=["At noon.", "No.", "Hello."])  # type: ignore[misc]
        session = assistant.create_session()
        await assistant.run("When does the ferry leave?", session=session)
        recalled, words = assistant.client.texts()
        assert FERRY in recalled
        assert words == "When does the ferry leave?"
        async for _ in assistant.run("Should we start the jobs with cron?", session=session, stream=True):
            pass
        first, answer, avoid, words = assistant.client.texts()
        assert (first, answer) == ("When does the ferry leave?", "At noon.")
        assert "Avoid" in avoid
        assert "ferry" not in avoid
        await assistant.run("Good evening to you all", session=session)
        assert assistant.client.texts()[-2:] == ["No.", "Good evening to you all"]
        assert "Recalled" not in json.dumps(session.to_dict()), "what is saved of a session holds no memory"

    asyncio.run(main())


def test_what_one_agent_hears_another_knows_and_each_line_has_its_speaker(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceContextProvider(book, user_id="ana")
        planner = agent(memory, name="planner", answers=["Noted.", "Yes."])
        session = planner.create_session()
        others = Message("assistant", ["The harbour is closed."], author_name="scout")
        await planner.run([Message("system", ["Be kind."]), others, CHOICE], session=session)
        expected = [("scout", "assistant", "The harbour is closed."), ("ana", "user", CHOICE),
                    ("planner", "assistant", "Noted.")]  # fmt: skip
        assert lines(book, session) == expected
        # The whole conversation is sent again, as some callers do: only new messages are learned from.
        await planner.run([others, CHOICE, "Did you get that?"], session=session)
        assert lines(book, session) == [
            *expected,
            ("ana", "user", "Did you get that?"),
            ("planner", "assistant", "Yes."),
        ]
        assert not any("FastAPI" in text for text in planner.client.texts()[:1]), "its own words are not recalled"
        finish(book)
        (decision,) = [each for each in book.list() if each.kind == "decision"]
        assert decision.scope == Scope(user="ana")
        other = agent(CommonplaceContextProvider(book, user_id="ana", context_prompt="## Known"), name="other")
        await other.run("Which web framework did we choose?")
        assert other.client.texts()[0].startswith("## Known\nRecalled")
        assert "FastAPI" in other.client.texts()[0]
        told = other.client.calls[0][0].additional_properties["_attribution"]
        assert told["source_id"] == "commonplace"

    asyncio.run(main())


def test_storing_and_searching_are_separate(tmp_path: Path) -> None:
    path = tmp_path / "team.db"

    async def known(**options: Any) -> str:
        provider = CommonplaceContextProvider(path, learn=False, **options)
        assistant = agent(provider)
        await assistant.run("From which pier does the ferry leave?")
        await provider.close()
        return " ".join(assistant.client.texts()[:-1])

    async def main() -> None:
        for user, pier in (("ana", "four"), ("bo", "nine")):
            provider = CommonplaceContextProvider(path, application_id="shop", agent_id="guide", user_id=user)
            await agent(provider).run(f"The ferry of {user} leaves from pier {pier}.")
            await provider.close()
        shop: dict[str, Any] = {"application_id": "shop"}
        assert "four" in await known(**shop, user_id="ana")
        assert "nine" not in await known(**shop, user_id="ana"), "what is not said is searched as it is stored"
        assert await known(**shop, user_id="cy") == ""
        found = await known(**shop, user_id="cy", search_user_id="bo")
        assert "nine" in found
        assert "four" not in found
        assert await known(**shop, agent_id="other") == ""
        assert "four" in await known(**shop, agent_id="other", search_agent_id="guide")
        everything = await known(**shop, user_id="cy", within=Within())
        assert "four" in everything
        assert "nine" in everything
        assert await known() == await known(application_id="bank") == "", "an application is a wall"
        assert "four" in await known(application_id="bank", search_application_id="shop")
        assert "four" in await known(space="shop", scope=Scope(user="ana", agent="guide"))
        with commonplace.open(path) as book:
            messages = [each.scope for each in book.in_space("shop").list(kinds=["message"])]
            assert {(scope.user, scope.agent) for scope in messages} == {("ana", "guide"), ("bo", "guide")}
            assert book.in_space("bank").list().memories == ()
        for wrong in ({"space": "a", "application_id": "b"}, {"scope": Scope(user="a"), "user_id": "b"},
                      {"within": Within(users=("a",)), "search_user_id": "b"}):  # fmt: skip
            with pytest.raises(commonplace.InvalidInput, match="values differ"):
                CommonplaceContextProvider(path, **wrong)

    asyncio.run(main())


def test_words_that_a_book_refuses_do_not_end_a_turn(book: commonplace.Book) -> None:
    book.remember(FERRY)

    async def main() -> None:
        answers = [call("remember", '{"text": "a\\u0000b"}'), call("forget", '{"id": "none"}'), "half \ud83d", "", "x"]
        providers = CommonplaceHistoryProvider(book), CommonplaceContextProvider(book)
        assistant = agent(*providers, tools=memory_tools(book), answers=answers)
        session = assistant.create_session(session_id="odd\nid \ud83d")
        await assistant.run(
            Message("user", ["When does the \0 ferry \ud83d leave?"], author_name="A\0\n"), session=session
        )
        assert FERRY in assistant.client.calls[0][0].text
        results = [content.result for message in assistant.client.calls[-1] for content in message.contents
                   if content.type == "function_result"]  # fmt: skip
        assert len(results) == 2
        assert all(text.startswith("Refused: ") for text in results)
        await assistant.run("", session=session)
        await assistant.run("ferry " * 100_000, session=session)
        (kept,) = book.transcripts()
        assert [line.name for line in book.transcript(kept).read()] == ["A", "helper", "user", "helper"]

    asyncio.run(main())


def test_tools_write_into_their_scope_and_forget_only_their_own(book: commonplace.Book) -> None:
    theirs, hers = book.remember(FERRY), Scope(user="ana")

    async def main() -> None:
        told = '{"text": "Ana prefers window seats", "kind": "preference"}'
        answers = [call("remember", told), call("recall", '{"question": "Which seats does Ana prefer?"}'),
                   call("forget", f'{{"id": "{theirs.id}"}}'), "done"]  # fmt: skip
        assistant = agent(tools=memory_tools(book, scope=hers), answers=answers)
        await assistant.run("Book me a seat")
        (memory,) = [each for each in book.list() if each.scope == hers]
        assert (memory.kind, memory.origin) == ("preference", "agent")
        _, found, refused = [content.result for message in assistant.client.calls[-1] for content in message.contents
                             if content.type == "function_result"]  # fmt: skip
        assert memory.id in found
        assert "belongs to another owner" in refused
        assert book.get(theirs.id)  # type: ignore[truthy-bool]

    asyncio.run(main())


@pytest.mark.slow
def test_the_example_runs_without_a_model_and_what_it_learned_is_known_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    assert "newcomer: FastAPI, because of async support." in run_example("agent_framework_memory.py", path)
    assert "For a real model change" in (ROOT / "examples" / "agent_framework_memory.py").read_text("utf-8")

    async def main() -> None:
        memory = CommonplaceContextProvider(path)
        assistant = agent(CommonplaceHistoryProvider(path), memory)
        session = assistant.create_session(session_id="monday")
        await assistant.run("Which web framework did we choose?", session=session)
        said, answer, recalled, _ = assistant.client.texts()
        assert (said, answer) == (CHOICE, "I will keep that in mind."), "its session goes on"
        assert "FastAPI" in recalled
        await memory.close()
        await memory.close()
        with pytest.raises(commonplace.StoreClosed):
            await assistant.run("Which web framework did we choose?")

    asyncio.run(main())
    with commonplace.open(path) as book:
        assert any(memory.kind == "decision" for memory in book.list())
