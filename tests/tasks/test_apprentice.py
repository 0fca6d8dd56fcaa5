"""An apprentice around an agent or a team keeps its memory between programs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat

from commonplace import InvalidInput
from commonplace.integrations.tasks.utils import Apprentice, Grader
from tests.tasks.scripted import Answering

TASK = "What is the password of the printer in bay 3?"


def test_an_apprentice_keeps_its_memory_unless_reset(tmp_path: Path) -> None:
    config: Any = {"MemoryController": {"MemoryBank": {"path": str(tmp_path / "team.db")}, "validate_memos": False}}

    async def learn() -> None:
        client = Answering(says="The answer is: 4711")
        first = Apprentice(client, config)
        await first.add_task_solution_pair_to_memory(TASK, "It is 4711, as on the label")
        await first.close()
        second = Apprentice(client, {**config, "disable_prefix_caching": True})  # type: ignore[arg-type]
        assert await second.assign_task("Print a page in bay 3: what is the printer's password?") == client.says
        assert "as on the label" in str(client.create_calls[-1]["messages"][-1].content)
        assert await Grader().test_apprentice(second, TASK, "4711", 2, True, client) == (2, 2)
        second.reset_memory()
        assert await second.memory_controller.list_memos() == []
        await second.close()

    asyncio.run(learn())


def test_any_agent_or_team_is_reset_before_each_task(tmp_path: Path) -> None:
    async def teams() -> None:
        client = Answering(says="done")
        agents = [AssistantAgent(name, client) for name in ("writer", "editor")]
        team = RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(3))  # type: ignore[arg-type]
        for given in (team, AssistantAgent("alone", client)):
            apprentice = Apprentice(client, agent_or_team=given, book=tmp_path / "team.db")
            for number in range(2):
                assert await apprentice.assign_task(f"task {number}", use_memory=False) == "done"
                assert f"task {1 - number}" not in str(client.create_calls[-1]["messages"])
            both = (apprentice.assign_task(task, use_memory=False) for task in ("this", "that"))
            assert await asyncio.gather(*both) == ["done", "done"]  # one after the other
            await apprentice.close()

    asyncio.run(teams())


def test_an_unknown_agent_or_setting_is_refused() -> None:
    with pytest.raises(InvalidInput, match="MagenticOneGroupChat"):
        Apprentice(None, {"name_of_agent_or_team": "Butler"})
    with pytest.raises(InvalidInput, match="no setting 'name'"):
        Apprentice(None, {"name": "x"})  # type: ignore[arg-type]
