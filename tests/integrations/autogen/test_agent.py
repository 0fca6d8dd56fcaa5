"""AssistantAgent with CommonplaceMemory, as AutoGen tests agents with memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import MemoryQueryEvent

import commonplace
from commonplace.integrations.autogen import CommonplaceMemory
from tests.integrations.autogen.scripted import agent, client, text


def test_without_autogen_the_import_says_what_to_install(tmp_path: Path) -> None:
    program = "import sys\nsys.modules['autogen_agentchat'] = None\nimport commonplace.integrations.autogen\n"
    source = str(Path(__file__).resolve().parents[3] / "src")
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert 'pip install "commonplace-memory[autogen]"' in done.stderr


def test_a_turn_reports_the_memories_that_it_used(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        await memory.add(text("An earlier conversation was about topic A"))
        result = await agent(memory, model=client("As we said of topic A …")).run(task="What did we say of topic A?")
        (event,) = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
        assert [each.content for each in event.content] == ["An earlier conversation was about topic A"]
        assert event.source == "assistant"
        assert result.messages[-1].to_text() == "As we said of topic A …"

    asyncio.run(main())


def test_a_new_agent_has_what_was_added_meanwhile(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        await memory.add(text("The first memory is about boats"))
        await agent(memory).run(task="What is the memory about?")
        await memory.add(text("The new memory is about trains"))
        result = await agent(memory).run(task="What is the new memory about?")
        events = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
        assert "The new memory is about trains" in str(events[0].content)

    asyncio.run(main())


def test_an_agent_takes_a_list_of_memories_only(book: commonplace.Book) -> None:
    with pytest.raises(TypeError, match="Expected Memory"):
        AssistantAgent("a", client(), memory=CommonplaceMemory(book))


def test_an_agent_with_memory_comes_back_from_its_config(tmp_path: Path) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(str(tmp_path / "team.db"))
        await memory.add(text("The ferry leaves at noon"))
        config = agent(memory, model=client("noon")).dump_component()
        again = AssistantAgent.load_component(config)
        result = await again.run(task="When does the ferry leave?")
        assert [type(message).__name__ for message in result.messages] == [
            "TextMessage", "MemoryQueryEvent", "TextMessage",
        ]  # fmt: skip
        await memory.close()

    asyncio.run(main())


def test_a_reset_agent_keeps_its_memory(book: commonplace.Book) -> None:
    async def main() -> None:
        from autogen_core import CancellationToken

        memory = CommonplaceMemory(book)
        await memory.add(text("The ferry leaves at noon"))
        assistant = agent(memory)
        await assistant.run(task="When does the ferry leave?")
        await assistant.on_reset(CancellationToken())
        result = await assistant.run(task="When does the ferry leave?")
        assert any(isinstance(message, MemoryQueryEvent) for message in result.messages)

    asyncio.run(main())
