"""Measure the lag of the event loop in a thousand turns of an AutoGen agent: no memory, ListMemory and commonplace.

    python bench/autogen_loop.py [--turns 1000] [--memories 500] [--json]

Needs autogen-agentchat and autogen-ext 0.7.5. The model is a script that answers at once. A heart that wants to beat
every millisecond notes how late it is; each candidate takes its turns in the same run, after the others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import ListMemory, Memory, MemoryContent, MemoryMimeType
from autogen_ext.models.replay import ReplayChatCompletionClient
from measure import heartbeat_while

import commonplace
from commonplace.integrations.autogen import CommonplaceMemory

PLACES = ("Procida", "Ischia", "Capri", "Ponza", "Elba", "Giglio", "Lipari", "Vulcano", "Salina", "Stromboli")
THINGS = ("ferry", "museum", "bakery", "harbour office", "bus", "library", "market", "lighthouse", "school", "clinic")


def sentences(count: int) -> list[str]:
    chosen = random.Random(7)
    opens = [
        f"The {chosen.choice(THINGS)} of {chosen.choice(PLACES)} opens at {chosen.randrange(24)}:00"
        for _ in range(count)
    ]
    return [f"{sentence} on day {day} of the season" for day, sentence in enumerate(opens)]


class Model(ReplayChatCompletionClient):
    """Answers from a script, and yields to the event loop first, as every real model does."""

    async def create(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return await super().create(*args, **kwargs)


async def turns(memory: Sequence[Memory], count: int) -> None:
    model = Model(["noted"] * count)
    agent = AssistantAgent("assistant", model, memory=list(memory) or None)
    for turn in range(count):
        await agent.run(task=f"{turn}: when does the {THINGS[turn % 10]} of {PLACES[turn // 10 % 10]} open?")
        if turn % 20 == 19:
            await agent.model_context.clear()


async def beside_a_heart(memory: Sequence[Memory], count: int) -> dict[str, Any]:
    began = time.perf_counter()
    beat = await heartbeat_while(turns(memory, count))
    return {"turns/s": count / (time.perf_counter() - began), **beat}


async def measured(path: Path, count: int, memories: int) -> dict[str, dict[str, Any]]:
    known = sentences(memories)
    with commonplace.open(path) as book:
        book.remember([commonplace.Draft(content=text) for text in known])
        ours, learning = CommonplaceMemory(book), CommonplaceMemory(book, learn=True)
        theirs = ListMemory(
            memory_contents=[MemoryContent(content=each, mime_type=MemoryMimeType.TEXT) for each in known]
        )
        candidates: dict[str, list[Memory]] = {
            "no memory": [], "ListMemory": [theirs], "commonplace": [ours], "commonplace, learning": [learning]
        }  # fmt: skip
        told = {name: await beside_a_heart(memory, count) for name, memory in candidates.items()}
        for each in (ours, learning):
            await each.close()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--memories", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(measured(Path(folder) / "team.db", given.turns, given.memories))
    if given.json:
        print(json.dumps(told, indent=2))
        return
    print(f"{given.turns} turns, {given.memories} memories; in milliseconds")
    print(f"{'':24}{'turns/s':>9}{'late p99':>10}{'late max':>10}{'work p99':>10}{'work max':>10}")
    for name, one in told.items():
        figures = (one[each] for each in ("stall_p99", "stall_max", "worked_p99", "worked_max"))
        print(f"{name:24}{one['turns/s']:>9.0f}" + "".join(f"{figure:>10.2f}" for figure in figures))


if __name__ == "__main__":
    main()
