"""Turns of AG2 agents never do a book's work on the event loop's thread, and a cancelled one leaves the book whole."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

import commonplace
from commonplace import Settings
from commonplace.integrations.ag2 import BookKnowledgeStore, RecallPolicy, memory_tools
from tests.integrations.ag2.scripted import agent, learning
from tests.integrations.ag2.test_agent import call
from tests.test_event_loop import Trespasses, Watched

TURNS = 12


async def many(path: Path, embedder: Watched, trespasses: Trespasses) -> None:
    with commonplace.open(path, embedder=embedder, settings=Settings(durability="normal")) as book:
        answers = [
            call("remember", '{"text": "The pier is number four"}'),
            call("recall", '{"question": "When does the ferry leave?"}'),
            *["noted"] * TURNS,
        ]
        assistant = agent(RecallPolicy(book), knowledge=learning(book), tools=memory_tools(book), answers=answers)
        store = BookKnowledgeStore(book)
        embedder.threads.clear()  # opening the book was not on the loop's account
        sys.setprofile(trespasses)
        try:
            subscription = await store.on_change("/", asyncio.Queue[str]().put)
            for turn in range(TURNS):
                await assistant.ask(f"{turn}: when does the ferry leave?")
                await store.append("/log", "a line\n")
                await store.read_range("/log", 0)
            assert await store.list() == ["log"]
            await store.delete("/log")
            assert await store.exists("/log") is False
            await subscription.close()
        finally:
            sys.setprofile(None)
        assert len(book.transcripts()) == TURNS


@pytest.mark.slow
def test_turns_leave_the_loops_thread_alone(tmp_path: Path) -> None:
    embedder, trespasses = Watched(), Trespasses()
    asyncio.run(many(tmp_path / "team.db", embedder, trespasses))
    assert trespasses.calls > TURNS, "nothing was seen: the test is blind"
    assert trespasses.seen == set()
    assert embedder.threads
    assert threading.get_ident() not in embedder.threads


def test_a_cancelled_turn_leaves_the_book_whole_and_the_next_one_works(book: commonplace.Book) -> None:
    book.remember("The ferry to Procida leaves at noon")

    async def main() -> None:
        assistant = agent(RecallPolicy(book, kinds=["note"]), knowledge=learning(book))
        for steps in range(40):
            turn = asyncio.ensure_future(assistant.ask(f"{steps}: when does the ferry leave?"))
            for _ in range(steps):
                await asyncio.sleep(0)
            turn.cancel()
            await asyncio.wait([turn])
        await assistant.ask("When does the ferry leave?")
        assert "noon" in assistant.config.shown()[0][0]

    asyncio.run(main())
    assert book.check(deep=True).ok
    for session in book.transcripts():
        said = [line.content for line in book.transcript(session).read()]
        assert len(said) == len(set(said))
