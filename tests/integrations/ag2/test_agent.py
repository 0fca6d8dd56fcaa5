"""AG2 agents with a book, through `Agent.ask`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ag2 import Context, ImageInput, MemoryStream, tool
from ag2.compact import CompactTrigger, TailWindowCompact
from ag2.events import AggregationFailed, ModelRequest, TextInput, ToolCallEvent, ToolResultsEvent

import commonplace
from commonplace import Scope, Within
from commonplace.integrations.ag2 import BookKnowledgeStore, LearnAggregate, RecallPolicy, memory_tools
from tests.integrations.ag2.scripted import agent, learning
from tests.integrations.processes import ROOT, finish, run_example

FERRY = "The ferry to Procida leaves at noon"


def call(name: str, arguments: str) -> ToolCallEvent:
    return ToolCallEvent(name=name, arguments=arguments)


def lines(book: commonplace.Book, session: object) -> list[tuple[str | None, str, object]]:
    return [(line.name, line.role, line.content) for line in book.transcript(str(session)).read()]


def test_memory_is_before_the_words_in_every_call_of_a_turn_and_gone_in_the_next(book: commonplace.Book) -> None:
    book.remember(FERRY)
    book.remember("The cron approach failed because jobs overlapped", kind="failure")

    @tool
    def clock() -> str:
        """The time."""
        return "eleven"

    async def main() -> None:
        policy = RecallPolicy(book)
        # Two policies, of which one is there twice: each shows its own, once, and is asked with the user's words.
        assistant = agent(policy, policy, RecallPolicy(book, kinds=["failure"]), tools=[clock],
                          answers=[call("clock", "{}"), "At noon.", "No.", "Hello."])  # fmt: skip
        reply = await assistant.ask("When does the ferry leave?")
        for number in (0, 1):
            ((memory, words),) = assistant.config.shown(number)
            assert FERRY in memory
            assert words == "When does the ferry leave?"
        assert isinstance(assistant.config.calls[1][1][-1], ToolResultsEvent)
        await reply.ask("Should we start the jobs with cron?")
        first, (avoid, only, words) = assistant.config.shown()
        assert first == ["When does the ferry leave?"]
        assert "Avoid" in avoid
        assert "cron" in only
        assert "ferry" not in avoid + only
        await reply.ask("Good evening to you all")
        assert assistant.config.shown()[-1] == ["Good evening to you all"]
        assert all(prompt == ["Be brief."] for prompt, _ in assistant.config.calls), "the system prompt is left alone"
        for event in await reply.history.get_events():
            assert "Recalled" not in str(event.to_dict()), "the stream holds no memory"

    asyncio.run(main())


def test_what_one_agent_hears_another_knows_and_each_line_has_its_speaker(book: commonplace.Book) -> None:
    @tool
    async def consult(context: Context) -> str:
        """Ask the person."""
        return await context.input("Which pier?")

    async def main() -> None:
        knowledge = learning(book, scope=Scope(user="ana"))
        planner = agent(RecallPolicy(book), name="planner", knowledge=knowledge, tools=[consult],
                        answers=[call("consult", "{}"), "Noted.", "Yes."], hitl_hook=lambda: "Pier four")  # fmt: skip
        stream = MemoryStream()
        said = "We chose FastAPI over Flask as the web framework because of async support."
        await planner.ask(said, ImageInput("https://example.com/pier.png"), stream=stream)  # type: ignore[call-overload]
        expected = [("ana", "user", said), ("ana", "user", "Pier four"), ("planner", "assistant", "Noted.")]
        assert lines(book, stream.id) == expected
        await planner.ask("Which web framework did we choose?", stream=stream)
        assert lines(book, stream.id) == [*expected, ("ana", "user", "Which web framework did we choose?"),
                                          ("planner", "assistant", "Yes.")]  # fmt: skip
        # A new agent, aggregate and stream object in the same conversation: what was learned is not learned again.
        again = MemoryStream(stream.history.storage, id=stream.id)
        await agent(name="planner", knowledge=learning(book, scope=Scope(user="ana"))).ask("And now?", stream=again)
        assert len(lines(book, stream.id)) == 7
        finish(book)
        learned = [memory for memory in book.list() if memory.kind == "decision"]
        assert [memory.scope for memory in learned] == [Scope(user="ana")]
        other = agent(RecallPolicy(book), name="other")
        await other.ask("Which web framework did we choose?")
        ((memory, _),) = other.config.shown()
        assert "FastAPI" in memory

    asyncio.run(main())


def test_a_stream_that_is_compacted_is_learned_whole_and_once(book: commonplace.Book) -> None:
    async def main() -> None:
        knowledge = learning(book)
        knowledge.compact, knowledge.compact_trigger = TailWindowCompact(3), CompactTrigger(max_events=4)
        assistant, stream = agent(knowledge=knowledge), MemoryStream()
        for turn in ("one", "two", "yes", "yes", "five"):
            await assistant.ask(turn, stream=stream)
        assert len(list(await stream.history.get_events())) < 10
        said = [content for name, _, content in lines(book, stream.id) if name == "user"]
        assert said == ["one", "two", "yes", "yes", "five"]
        assert len(lines(book, stream.id)) == 10

    asyncio.run(main())


def test_spaces_scopes_filters_and_budgets_hold(book: commonplace.Book) -> None:
    book.remember("Ana's ferry leaves from pier four", scope=Scope(user="ana"))
    book.remember("Bo's ferry leaves from pier nine", scope=Scope(user="bo"), tags=["late"])
    book.in_space("secret").remember("The secret ferry leaves from pier one")

    async def shown(**options: Any) -> str:
        where = options.pop("where", book)
        assistant = agent(RecallPolicy(where, **options))
        await assistant.ask("From which pier does the ferry leave?")
        ((*memory, _),) = assistant.config.shown()
        return "".join(memory)

    async def main() -> None:
        everything = await shown()
        assert "four" in everything
        assert "nine" in everything
        assert "secret" not in everything
        assert "nine" not in await shown(within=Within(users=("ana",)))
        assert "four" not in await shown(tags=["late"])
        assert "four" not in await shown(filter={"user": "bo"})
        assert (await shown(k=1)).count("pier") == 1
        assert await shown(max_tokens=5) == ""
        assert await shown(threshold=1.0) == ""
        assert "secret" in await shown(where=book.in_space("secret"))
        with pytest.raises(commonplace.InvalidInput):
            RecallPolicy(book, within="ana")
        with pytest.raises(commonplace.InvalidInput, match="session"):
            LearnAggregate(book, scope=Scope(session="s"))

    asyncio.run(main())


def test_words_that_a_book_refuses_do_not_end_a_turn(book: commonplace.Book) -> None:
    book.remember(FERRY)

    async def main() -> None:
        answers = [call("remember", '{"text": "a\\u0000b"}'), call("forget", '{"id": "none"}'), "half \ud83d", "", "x"]
        failed = []
        assistant = agent(RecallPolicy(book), knowledge=learning(book), tools=memory_tools(book), answers=answers)
        stream = MemoryStream()
        stream.where(AggregationFailed).subscribe(lambda event: failed.append(event.error))
        await assistant.ask("When does the \0 ferry \ud83d leave?", stream=stream)
        assert FERRY in assistant.config.shown()[0][0]
        refused = [part.content for event in assistant.config.calls[-1][1] if isinstance(event, ToolResultsEvent)
                   for result in event.results for part in result.result.parts]  # fmt: skip
        assert len(refused) == 2
        assert all(text.startswith("Refused: ") and "Traceback" not in text for text in refused)
        await assistant.ask({"ferry": [1, 2]}, stream=stream)
        await assistant.ask("ferry " * 100_000, stream=stream)
        assert failed == []
        assert len(lines(book, stream.id)) == 5, "an empty answer is no line"

    asyncio.run(main())


def test_tools_write_into_their_scope_and_forget_only_their_own(book: commonplace.Book) -> None:
    theirs = book.remember(FERRY)

    async def main() -> None:
        told = '{"text": "Ana prefers window seats", "kind": "preference"}'
        hers = Scope(user="ana")
        answers = [call("remember", told), call("recall", '{"question": "Which seats does Ana prefer?"}'),
                   call("forget", f'{{"id": "{theirs.id}"}}'), "done"]  # fmt: skip
        assistant = agent(tools=memory_tools(book, scope=hers), answers=answers)
        await assistant.ask("Book me a seat")
        (memory,) = [each for each in book.list() if each.scope == hers]
        assert (memory.kind, memory.origin) == ("preference", "agent")
        found, refused = [event.results[0].result.parts[0].content for event in assistant.config.calls[-1][1]
                          if isinstance(event, ToolResultsEvent)][1:]  # fmt: skip
        assert memory.id in found
        assert "belongs to another owner" in refused
        assert book.get(theirs.id)  # type: ignore[truthy-bool]

    asyncio.run(main())


def test_closing_twice_is_harmless_and_a_given_book_stays_open(book: commonplace.Book, tmp_path: Path) -> None:
    async def main() -> None:
        request = [ModelRequest([TextInput("hello")])]
        for where in (book, tmp_path / "own.db"):
            for each in (RecallPolicy(where), LearnAggregate(where), BookKnowledgeStore(where)):
                await (await each.book()).stats()
                await each.close()
                await each.close()
            policy = RecallPolicy(where)
            await policy.close()
            with pytest.raises(commonplace.StoreClosed):
                await policy.apply([], request, Context(MemoryStream()))
        assert book.stats().memories == 0

    asyncio.run(main())


@pytest.mark.slow
def test_the_example_runs_without_a_model_and_what_it_learned_is_known_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    assert "newcomer: FastAPI, because of async support." in run_example("ag2_memory.py", path)
    assert "For a real model change" in (ROOT / "examples" / "ag2_memory.py").read_text("utf-8")

    async def main() -> None:
        policy, knowledge = RecallPolicy(path), learning(path)
        assistant = agent(policy, knowledge=knowledge)
        await assistant.ask("Which web framework did we choose?")
        ((memory, _),) = assistant.config.shown()
        assert "FastAPI" in memory
        for each in (policy, knowledge.store, knowledge.aggregate):
            await each.close()

    asyncio.run(main())
    with commonplace.open(path) as book:
        assert any(memory.kind == "decision" for memory in book.list())
        assert len(book.kv("ag2 assistant").keys("/log/")) == 2, "its event log is in the book"
