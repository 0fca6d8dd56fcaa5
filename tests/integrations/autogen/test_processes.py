"""Two processes with a team each on one book: one team recalls what the other found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import commonplace

RESEARCH = """
import asyncio, sys
from autogen_agentchat.teams import RoundRobinGroupChat
from commonplace.integrations.autogen import memory_tools, shared_memory
from tests.integrations.autogen.scripted import agent, call, client

async def main():
    memory = shared_memory(sys.argv[1], agent="researcher", writes="global")
    found = '{"text": "The lighthouse of Procida was built in 1883", "kind": "fact"}'
    researcher = agent(memory, name="researcher", model=client(call("remember", found), "done"),
                       tools=memory_tools(sys.argv[1]))
    team = RoundRobinGroupChat([researcher], max_turns=1)
    print("ready", flush=True)
    sys.stdin.readline()
    await team.run(task="Find out when the lighthouse was built")
    print("found", flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""

WRITING = """
import asyncio, sys
from autogen_agentchat.teams import RoundRobinGroupChat
from commonplace.integrations.autogen import shared_memory
from tests.integrations.autogen.scripted import agent, asked, client

async def main():
    memory, model = shared_memory(sys.argv[1], agent="writer", writes="global"), client(*["It is old."] * 9)
    team = RoundRobinGroupChat([agent(memory, name="writer", model=model)], max_turns=1)
    for _ in range(2):
        await team.run(task="In which year was the lighthouse of Procida built?")
        print("knows" if "1883" in str(asked(model)) else "does not know", flush=True)
        sys.stdin.readline()

asyncio.run(main())
"""


def start(program: str, path: Path) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path)], env=environment, stdin=pipe, stdout=pipe, text=True
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go on\n")
    process.stdin.flush()


@pytest.mark.slow
def test_the_writers_team_recalls_what_the_researchers_found_a_moment_ago(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    commonplace.open(path).close()
    with start(RESEARCH, path) as researcher, start(WRITING, path) as writer:
        assert said(researcher) == "ready"
        assert said(writer) == "does not know"
        tell(researcher)
        assert said(researcher) == "found"
        tell(writer)
        assert said(writer) == "knows"
        tell(writer)
        tell(researcher)
    assert (researcher.returncode, writer.returncode) == (0, 0)
