"""`commonplace mcp` as a host starts it: a real process that speaks the protocol over stdin and stdout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.model_context.asking import ERAS, data, run, text

pytestmark = pytest.mark.slow


def start(book: Path, *options: str) -> StdioServerParameters:
    """Return how to start the server on a book."""
    words = ["-W", "error", "-m", "commonplace", "mcp", str(book), "--embedder", "none", "--reader", "none", *options]
    return StdioServerParameters(
        command=sys.executable, args=words, env={"PYTHONPATH": os.environ.get("PYTHONPATH", "")}, cwd=book.parent
    )


@pytest.mark.parametrize("era", ERAS)
def test_a_scripted_agent_learns_restarts_recalls_corrects_and_briefs(tmp_path: Path, era: str) -> None:
    async def learn() -> None:
        async with Client(start(tmp_path / "book.db", "--user", "sarah"), mode=era) as client:
            said = [{"role": "user", "name": "Sarah", "content": "I moved to Bergen in May."}]
            learned = data(await client.call_tool("learn", {"messages": said, "session": "one"}))
            assert learned["session"] == "one"
            await client.call_tool("remember", {"text": "Sarah prefers short answers", "kind": "preference"})

    async def go_on() -> None:
        async with Client(start(tmp_path / "book.db", "--user", "sarah"), mode=era) as client:
            assert "I moved to Bergen" in text(await client.call_tool("brief", {}))
            found = data(await client.call_tool("recall", {"question": "which answers does Sarah prefer?"}))
            (id,) = [each["id"] for each in found["memories"] if each["kind"] == "preference"]
            await client.call_tool("revise", {"id": id, "text": "Sarah prefers long answers"})
            assert "prefers long answers" in text(await client.call_tool("brief", {}))

    run(learn)
    run(go_on)


def test_two_programs_share_one_book(tmp_path: Path) -> None:
    async def ask() -> None:
        async with Client(start(tmp_path / "book.db")) as one, Client(start(tmp_path / "book.db")) as two:
            await one.call_tool("remember", {"text": "We deploy on Mondays", "kind": "decision"})
            assert "We deploy on Mondays" in text(await two.call_tool("brief", {}))

    run(ask)
