"""Teams: memory that agents share, and a team that continues in another process, also after a crash."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.messages import MultiModalMessage, TextMessage
from autogen_agentchat.teams import (
    DiGraphBuilder,
    GraphFlow,
    MagenticOneGroupChat,
    RoundRobinGroupChat,
    SelectorGroupChat,
    Swarm,
)
from autogen_core import Image
from PIL import Image as Pillow

import commonplace
from commonplace.guard import echo
from commonplace.integrations.autogen import CommonplaceMemory, PersistentTeam, shared_memory
from tests.integrations.autogen.scripted import agent, asked, client, text


def round_robin(*names: str, most: int = 3, says: str = "{name} has spoken", **options: Any) -> RoundRobinGroupChat:
    members = [agent(name=name, model=client(*[says.format(name=name)] * 20), **options) for name in names]
    return RoundRobinGroupChat(members, max_turns=most)


def speakers(result: TaskResult) -> list[str]:
    return [message.source for message in result.messages]


def test_a_team_continues_where_another_object_stopped(book: commonplace.Book) -> None:
    async def main() -> None:
        first = PersistentTeam(round_robin("ana", "bo", most=1), book, "crew")
        assert speakers(await first.run(task="Plan the trip")) == ["user", "ana"]
        team = round_robin("ana", "bo", most=2)
        second = PersistentTeam(team, book, "crew")
        assert speakers(await second.run()) == ["bo", "ana"]
        thread = (await team.save_state())["agent_states"]["RoundRobinGroupChatManager"]["message_thread"]
        assert [message["source"] for message in thread] == ["user", "ana", "bo", "ana"]
        said = [(message.name, message.content) for message in await second.transcript()]
        assert said[0] == ("user", "Plan the trip")
        assert [name for name, _ in said] == ["user", "ana", "bo", "ana"]

    asyncio.run(main())


@pytest.mark.parametrize("spoken", [1, 2, 3])
def test_an_interrupted_run_continues_with_the_agent_whose_turn_it_is(book: commonplace.Book, spoken: int) -> None:
    async def main() -> None:
        order = ["ana", "bo", "cy"]
        team = PersistentTeam(round_robin(*order, most=1), book, "crew")
        await team.run(task="Plan the trip")  # ana
        broken = PersistentTeam(round_robin(*order, most=9), book, "crew")
        seen = 0
        async for _ in broken.run_stream():
            seen += 1
            if seen == spoken:
                break
        resumed = PersistentTeam(round_robin(*order, most=9), book, "crew")
        stream = resumed.run_stream()
        message = await anext(stream)
        await stream.aclose()
        assert not isinstance(message, TaskResult)
        assert message.source == order[(1 + spoken) % 3]

    asyncio.run(main())


def test_a_team_recovers_from_an_agents_error(book: commonplace.Book) -> None:
    async def main() -> None:
        ana, bo = agent(name="ana", model=client("one", "one")), agent(name="bo", model=client("two"))
        (broken,) = [agent(name="bo", model=client("nothing more to say"))]
        await broken.run(task="speak")  # its model has no reply left
        team = PersistentTeam(RoundRobinGroupChat([ana, broken], max_turns=2), book, "crew")
        for _ in range(2):
            with pytest.raises(RuntimeError, match="No more mock responses"):
                await team.run(task="count")
        repaired = PersistentTeam(RoundRobinGroupChat([agent(name="ana"), bo], max_turns=2), book, "crew")
        assert "two" in [message.to_text() for message in (await repaired.run()).messages]
        said = [message.content for message in await repaired.transcript()]
        assert said[:4] == ["count", "one", "count", "two"], "who failed is asked again"

    asyncio.run(main())


def test_selector_and_swarm_teams_continue_too(book: commonplace.Book) -> None:
    async def main() -> None:
        for make in (selector, swarm):
            first = PersistentTeam(make(), book, make.__name__)
            await first.run(task="Begin")
            second = PersistentTeam(make(), book, make.__name__)
            result = await second.run(task="Go on")
            assert result.messages[0].to_text() == "Go on"
            assert len(await second.transcript()) == 4

    asyncio.run(main())


def selector() -> SelectorGroupChat:
    members = [agent(name=name, model=client(*["done"] * 9)) for name in ("ana", "bo")]
    return SelectorGroupChat(members, client(*["ana"] * 9), max_turns=1)


def swarm() -> Swarm:
    return Swarm([agent(name="ana", model=client(*["done"] * 9))], max_turns=1)


def graph() -> GraphFlow:
    members = [agent(name=name, model=client(*[f"{name} is done"] * 9)) for name in ("ana", "bo", "cy")]
    builder = DiGraphBuilder()
    for member in members:
        builder.add_node(member)
    builder.add_edge(members[0], members[1])
    builder.add_edge(members[1], members[2])
    return GraphFlow(members, graph=builder.build())


@pytest.mark.parametrize(("seen", "left"), [(1, ["ana", "bo", "cy"]), (2, ["bo", "cy"]), (3, ["cy"])])
def test_an_interrupted_graph_continues_at_its_next_node(book: commonplace.Book, seen: int, left: list[str]) -> None:
    async def main() -> None:
        stream = PersistentTeam(graph(), book, "crew").run_stream(task="Begin")
        for _ in range(seen):
            await anext(stream)
        await stream.aclose()
        assert speakers(await PersistentTeam(graph(), book, "crew").run()) == left
        assert speakers(await PersistentTeam(graph(), book, "crew").run(task="Again")) == ["user", "ana", "bo", "cy"]

    asyncio.run(main())


def test_a_magentic_team_gets_its_task_once(book: commonplace.Book) -> None:
    async def main() -> None:
        no, yes = {"answer": False, "reason": ""}, {"answer": True, "reason": ""}
        ledger = {
            "is_request_satisfied": yes, "is_in_loop": no, "is_progress_being_made": yes,
            "next_speaker": {"answer": "ana", "reason": ""}, "instruction_or_question": {"answer": "go", "reason": ""},
        }  # fmt: skip
        for _ in range(2):
            orchestrator = client("facts", "plan", json.dumps(ledger), "the answer")
            team = PersistentTeam(MagenticOneGroupChat([agent(name="ana")], orchestrator), book, "crew")
            result = await team.run(task="Begin")
            assert [message.to_text() for message in result.messages].count("Begin") == 1
        assert [message.content for message in await team.transcript()].count("Begin") == 2

    asyncio.run(main())


@pytest.mark.slow
def test_a_picture_too_large_for_a_transcript_reaches_the_restored_team(book: commonplace.Book) -> None:
    async def main() -> None:
        noise = Image.from_pil(Pillow.frombytes("RGB", (700, 700), os.urandom(700 * 700 * 3)))
        stream = PersistentTeam(round_robin("ana"), book, "crew").run_stream(
            task=MultiModalMessage(content=["Look", noise], source="user")
        )
        await anext(stream)
        await stream.aclose()
        team = round_robin("ana", most=1)
        await PersistentTeam(team, book, "crew").run()
        thread = (await team.save_state())["agent_states"]["RoundRobinGroupChatManager"]["message_thread"]
        assert [message["type"] for message in thread] == ["MultiModalMessage", "TextMessage"]

    asyncio.run(main())


def test_text_that_a_book_refuses_continues_word_for_word(book: commonplace.Book) -> None:
    async def main() -> None:
        odd = "a NUL \0 and half a pair \ud83d"
        await PersistentTeam(round_robin("ana", "bo", most=1, says=odd), book, "crew").run(task=odd)
        broken = PersistentTeam(round_robin("ana", "bo", most=9, says=odd), book, "crew")
        await anext(aiter(broken.run_stream()))
        team = round_robin("ana", "bo", most=2, says=odd)
        await PersistentTeam(team, book, "crew").run()
        thread = (await team.save_state())["agent_states"]["RoundRobinGroupChatManager"]["message_thread"]
        assert [message["content"] for message in thread] == [odd] * 4

    asyncio.run(main())


def test_the_saved_state_holds_no_memory(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        await memory.add(text("The ferry leaves at noon"))
        model = client(*["noted"] * 9)
        member = agent(memory, name="ana", model=model)
        team = PersistentTeam(RoundRobinGroupChat([member], max_turns=1), book, "crew")
        await team.run(task="When does the ferry leave?")
        assert echo.HEADER in str(asked(model))
        assert echo.HEADER not in str(book.kv("autogen teams").get("crew"))

    asyncio.run(main())


def test_two_processes_that_run_one_team_do_not_overwrite_each_other(book: commonplace.Book) -> None:
    async def main() -> None:
        one = PersistentTeam(round_robin("ana", most=1), book, "crew")
        two = PersistentTeam(round_robin("ana", most=1), book, "crew")
        await one.run(task="Begin")
        stream = one.run_stream(task="Again")
        await anext(stream)
        await two.run(task="Meanwhile")
        with pytest.raises(commonplace.Conflict):
            async for _ in stream:
                pass

    asyncio.run(main())


def test_reset_starts_over_and_keeps_the_transcript(book: commonplace.Book) -> None:
    async def main() -> None:
        team = PersistentTeam(round_robin("ana", "bo", most=1), book, "crew")
        await team.run(task="Plan the trip")
        await team.reset()
        again = PersistentTeam(round_robin("ana", "bo", most=1), book, "crew")
        assert speakers(await again.run(task="Anew")) == ["user", "ana"]
        assert len(await again.transcript()) == 4

    asyncio.run(main())


def test_termination_conditions_and_streams_work_as_without_it(book: commonplace.Book) -> None:
    async def main() -> None:
        stop = MaxMessageTermination(4) | TextMentionTermination("TERMINATE")
        members = [agent(name="ana", model=client("a", "b", "TERMINATE"))]
        team = PersistentTeam(RoundRobinGroupChat(members, termination_condition=stop), book, "crew")
        seen = [item async for item in team.run_stream(task=TextMessage(content="Go", source="user"))]
        result = seen[-1]
        assert isinstance(result, TaskResult)
        assert [type(item).__name__ for item in seen] == ["TextMessage"] * 4 + ["TaskResult"]
        assert len(result.messages) == 4
        assert result.stop_reason is not None

    asyncio.run(main())


CRASH = """
import asyncio, os, sys
from autogen_agentchat.teams import RoundRobinGroupChat
from commonplace.integrations.autogen import PersistentTeam
from tests.integrations.autogen.scripted import agent, client

async def main():
    members = [agent(name=name, model=client(*[name + " has spoken"] * 20)) for name in ("ana", "bo", "cy")]
    team = PersistentTeam(RoundRobinGroupChat(members, max_turns=9), sys.argv[1], "crew")
    seen = 0
    async for message in team.run_stream(task="Plan the trip" if sys.argv[2] == "begin" else None):
        print(message.source, flush=True)
        seen += 1
        if seen == int(sys.argv[3]):
            os._exit(9)

asyncio.run(main())
"""


def crash(path: Path, how: str, after: int) -> list[str]:
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    command: Sequence[str] = [sys.executable, "-c", CRASH, str(path), how, str(after)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 9, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    assert crash(path, "begin", 3) == ["user", "ana", "bo"]
    assert crash(path, "again", 2) == ["cy", "ana"]
    with commonplace.open(path) as book:
        assert [message.name for message in book.transcript("crew").read()] == ["user", "ana", "bo", "cy", "ana"]


def test_each_agent_finds_its_own_its_groups_and_everybodys_memories(book: commonplace.Book) -> None:
    async def main() -> None:
        own = shared_memory(book, agent="ana", group="crew", writes="agent", order="time")
        group = shared_memory(book, agent="ana", group="crew", order="time")
        everybody = shared_memory(book, agent="ana", writes="global", order="time")
        mate = shared_memory(book, agent="bo", group="crew", order="time")
        stranger = shared_memory(book, agent="cy", group="other", order="time")
        await own.add(text("own"))
        await group.add(text("group"))
        await everybody.add(text("everybody"))
        found = {
            name: [each.content for each in (await memory.query()).results]
            for name, memory in (("own", own), ("mate", mate), ("stranger", stranger), ("alone", everybody))
        }
        assert found == {
            "own": ["own", "group", "everybody"], "mate": ["group", "everybody"], "stranger": ["everybody"],
            "alone": ["own", "everybody"],
        }  # fmt: skip

    asyncio.run(main())


def test_an_unknown_level_is_refused(book: commonplace.Book) -> None:
    with pytest.raises(commonplace.InvalidInput, match="no group"):
        shared_memory(book, agent="ana")
    with pytest.raises(commonplace.InvalidInput, match="'agent', 'group' or 'global'"):
        shared_memory(book, agent="ana", group="crew", writes="all")


def test_one_memory_object_may_be_given_to_every_agent(book: commonplace.Book) -> None:
    async def main() -> None:
        memory = CommonplaceMemory(book)
        await memory.add(text("The ferry leaves at noon"))
        models = [client(*["noted"] * 5), client(*["noted"] * 5)]
        members = [agent(memory, name=f"agent{at}", model=model) for at, model in enumerate(models)]
        await RoundRobinGroupChat(members, max_turns=2).run(task="When does the ferry leave?")
        for model in models:
            assert str(asked(model)).count(echo.HEADER) == 1

    asyncio.run(main())
