"""Runs of agents never do a book's work on the event loop's thread, and a cancelled one leaves the book whole."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import commonplace
from commonplace import Settings
from commonplace.integrations.agent_framework import (
    CommonplaceContextProvider,
    CommonplaceHistoryProvider,
    memory_tools,
)
from tests.integrations.agent_framework.scripted import agent, call
from tests.test_event_loop import Trespasses, Watched

TURNS = 12


async def many(path: Path, embedder: Watched, trespasses: Trespasses) -> None:
    with commonplace.open(path, embedder=embedder, settings=Settings(durability="normal")) as book:
        answers = [
            call("remember", '{"text": "The pier is number four"}'),
            call("recall", '{"question": "When does the ferry leave?"}'),
            *["noted"] * TURNS,
        ]
        providers = CommonplaceHistoryProvider(book), CommonplaceContextProvider(book)
        assistant = agent(*providers, tools=memory_tools(book), answers=answers)
        session = assistant.create_session()
        embedder.threads.clear()  # opening the book was not on the loop's account
        sys.setprofile(trespasses)
        try:
            for turn in range(TURNS):
                await assistant.run(f"{turn}: when does the ferry leave?", session=session)
        finally:
            sys.setprofile(None)
        assert len(book.transcript(session.session_id).read()) == TURNS * 2


def test_runs_leave_the_loops_thread_alone(tmp_path: Path) -> None:
    embedder, trespasses = Watched(), Trespasses()
    asyncio.run(many(tmp_path / "team.db", embedder, trespasses))
    assert trespasses.calls > TURNS, "nothing was seen: the test is blind"
    assert trespasses.seen == set()
    assert embedder.threads
    assert threading.get_ident() not in embedder.threads


def test_a_cancelled_run_leaves_the_book_whole_and_the_next_one_works(book: commonplace.Book) -> None:
    book.remember("The ferry to Procida leaves at noon")

    async def main() -> None:
        history = CommonplaceHistoryProvider(book)
        assistant = agent(history, CommonplaceContextProvider(book, kinds=["note"]))
        session = assistant.create_session()
        for steps in range(0, 40, 2):
            run = asyncio.ensure_future(assistant.run(f"{steps}: when does the ferry leave?", session=session))
            for _ in range(steps):
                await asyncio.sleep(0)
            run.cancel()
            await asyncio.wait([run])
        await assistant.run("When does the ferry leave?", session=session)
        assert "noon" in assistant.client.texts()[-2]
        kept = await history.get_messages(session.session_id)
        assert [each.role for each in kept] == ["user", "assistant"] * (len(kept) // 2), "a turn is kept whole"

    asyncio.run(main())
    assert book.check(deep=True).ok
