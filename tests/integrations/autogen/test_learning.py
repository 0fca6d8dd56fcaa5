"""With learn=True an agent's conversations become memories, each message once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken
from autogen_core.model_context import UnboundedChatCompletionContext

import commonplace
from commonplace import Scope
from commonplace.integrations.autogen import CommonplaceMemory
from tests.integrations.autogen.scripted import UserMessage, agent, asked, client


def messages(book: commonplace.Book) -> list[str]:
    return sorted(memory.text for memory in book.list(kinds=["message"]))


def test_what_a_user_says_is_known_to_another_agent(book: commonplace.Book) -> None:
    async def main() -> None:
        listening = agent(CommonplaceMemory(book, learn=True), model=client("Noted."))
        await listening.run(task="We chose FastAPI over Flask as the web framework because of async support.")
        while book.jobs():
            await asyncio.sleep(0.02)
        assert "decision" in {memory.kind for memory in book.list()}
        model = client("FastAPI")
        await agent(CommonplaceMemory(book), model=model).run(task="Which web framework did we choose?")
        assert "FastAPI over Flask" in str(asked(model)[1].content)

    asyncio.run(main())


def test_each_message_is_learned_once_the_agents_own_too(book: commonplace.Book) -> None:
    async def main() -> None:
        assistant = agent(CommonplaceMemory(book, learn=True), model=client("The pier is number four.", "Yes.", "Bye."))
        for task in ("The ferry leaves at noon.", "I live in Lisbon.", "Thank you."):
            await assistant.run(task=task)
        assert messages(book) == sorted(
            ["The ferry leaves at noon.", "The pier is number four.", "I live in Lisbon.", "Yes.", "Thank you."]
        )

    asyncio.run(main())


def test_agents_that_share_a_memory_learn_a_line_once(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, learn=True)
        members = [agent(memory, name=name, model=client(f"{name} agrees.", f"{name} nods.")) for name in ("ana", "bo")]
        team = RoundRobinGroupChat(members, termination_condition=MaxMessageTermination(5))
        await team.run(task="The ferry leaves at noon.")
        assert len(messages(book)) == len(set(messages(book)))
        assert {memory.source for memory in book.list(kinds=["message"])} >= {"user", "ana"}
        origins = {memory.source: memory.origin for memory in book.list(kinds=["message"])}
        assert origins["user"] == "user"
        assert origins["ana"] == "agent"

    asyncio.run(main())


def test_a_return_to_an_earlier_opinion_is_learned_once_for_all_agents(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, learn=True, session="monday")
        members = [agent(memory, name=name) for name in ("ana", "bo")]
        team = RoundRobinGroupChat(members, max_turns=2)
        opinions = ["I prefer Python.", "I prefer Rust.", "I prefer Python."]
        for task in opinions:
            await team.run(task=task)
        said = book.transcript("monday").read()
        assert [line.content for line in said if line.name == "user"] == opinions

    asyncio.run(main())


def test_after_a_reset_the_first_words_are_heard(book: commonplace.Book) -> None:
    async def main() -> None:
        assistant = agent(CommonplaceMemory(book, learn=True), model=client("Noted.", "Noted, too."))
        await assistant.run(task="The ferry leaves at noon.")
        await assistant.on_reset(CancellationToken())
        await assistant.run(task="The pier is number four.")
        assert messages(book) == ["The ferry leaves at noon.", "The pier is number four."]

    asyncio.run(main())


def test_closing_learns_the_last_answer_once(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, learn=True)
        assistant = agent(memory, model=client("The pier is number four."))
        await assistant.run(task="From where does the ferry leave?")
        await memory.close()
        await memory.close()
        assert messages(book) == ["From where does the ferry leave?", "The pier is number four."]

    asyncio.run(main())


def test_agents_that_hear_a_line_at_the_same_time_learn_it_once(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book, learn=True)
        members = [agent(memory, name=f"agent{at}", model=client("ok")) for at in range(8)]
        await asyncio.gather(*(member.run(task="The ferry leaves at noon.") for member in members))
        assert messages(book) == ["The ferry leaves at noon."]

    asyncio.run(main())


def test_what_could_not_be_learned_is_learned_the_next_time(tmp_path: Path) -> None:
    async def main() -> None:
        with commonplace.open(tmp_path / "team.db", settings=commonplace.Settings(max_jobs=1)) as book:
            book.learn(["Ana: I live in Lisbon."], session="other", every=50, idle=10_000)  # takes the only place
            memory = CommonplaceMemory(book, learn=True)
            context = UnboundedChatCompletionContext()
            await context.add_message(UserMessage(content="The ferry leaves at noon.", source="user"))
            with pytest.raises(commonplace.QueueFull):
                await memory.update_context(context)
            await asyncio.to_thread(book.work, hurry=True)
            await memory.update_context(context)
            assert "The ferry leaves at noon." in messages(book)

    asyncio.run(main())


def test_a_restored_conversation_is_not_learned_again(book: commonplace.Book) -> None:
    async def main() -> None:
        first = agent(CommonplaceMemory(book, learn=True), model=client("Noted."))
        await first.run(task="The ferry leaves at noon.")
        second = agent(CommonplaceMemory(book, learn=True), model=client("Noted."))
        await second.load_state(await first.save_state())
        await second.run(task="The pier is number four.")
        assert messages(book) == ["The ferry leaves at noon.", "The pier is number four."]

    asyncio.run(main())


def test_this_conversations_own_messages_are_not_shown_to_it_again(book: commonplace.Book) -> None:
    async def main() -> None:
        model = client()
        assistant = agent(CommonplaceMemory(book, learn=True, filter={"metadata.x": {"$exists": False}}), model=model)
        await assistant.run(task="Blue whales sing at twenty hertz")
        await assistant.run(task="At how many hertz do blue whales sing?")
        assert "quoted as data" not in str(asked(model))

    asyncio.run(main())


def test_what_is_learned_belongs_to_the_scope_and_to_no_group(tmp_path: Path) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(tmp_path / "team.db", learn=True, scope=Scope(agent="writer"))
        await agent(memory, model=client("ok")).run(task="The ferry leaves at noon.")
        found = await (await memory.book()).list()
        assert {each.scope.agent for each in found} == {"writer"}
        await memory.close()
        with pytest.raises(commonplace.InvalidInput, match="a separate space"):
            CommonplaceMemory(tmp_path / "team.db", learn=True, scope=Scope(session="team"))

    asyncio.run(main())


def test_what_was_said_is_learned_when_the_memory_is_closed(tmp_path: Path) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(tmp_path / "team.db", learn=True)
        speaker = agent(memory, model=client(*["Noted."] * 3))
        for task in ("I prefer answers in metric units.", "My name is Elena.", "We decided to use SQLite."):
            await speaker.run(task=task)
        await memory.close()

    asyncio.run(main())
    with commonplace.open(tmp_path / "team.db") as later:
        assert not later.jobs()
        assert {memory.kind for memory in later.list()} >= {"preference", "fact", "decision"}
