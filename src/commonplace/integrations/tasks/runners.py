"""The agents and teams that an apprentice gives its tasks to."""

from __future__ import annotations

import random
from importlib.util import find_spec
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import ChatAgent, TaskRunner, Team
from autogen_agentchat.messages import BaseChatMessage
from autogen_agentchat.teams import MagenticOneGroupChat
from autogen_core import CancellationToken

NAMES = ("AssistantAgent", "MagenticOneGroupChat")
SYSTEM = """\
You do one task at a time, with care. Restate what is asked, weigh more than one way to answer, look for flaws in the
one you prefer, and use what the notes below the task tell wherever they bear on it. End with the answer alone, in the
form that the task asks for.
"""
_MOST_TURNS = 20


def made(name: str, client: Any, *, unique: bool) -> TaskRunner:
    """A new agent or team of that name; `unique` keeps a service from answering out of its cache of beginnings."""
    if name == NAMES[0]:
        begun = f"({random.getrandbits(32)})\n" if unique else ""
        return AssistantAgent("apprentice", client, system_message=begun + SYSTEM)
    if find_spec("playwright") is None:
        raise ModuleNotFoundError(
            'MagenticOneGroupChat has a web surfer, which needs: pip install "autogen-ext[web-surfer]"; '
            "or pass your own team as agent_or_team",
            name="playwright",
        )
    from autogen_ext.agents.web_surfer import MultimodalWebSurfer

    general = AssistantAgent("assistant", client, description="Answers questions, plans, writes and calculates.")
    surfer = MultimodalWebSurfer("web_surfer", client)
    return MagenticOneGroupChat([general, surfer], model_client=client, max_turns=_MOST_TURNS)


async def start_anew(runner: TaskRunner) -> None:
    """Let an agent or a team forget the conversation before: each task is done for itself."""
    if isinstance(runner, Team):
        await runner.reset()
    elif isinstance(runner, ChatAgent):
        await runner.on_reset(CancellationToken())


async def run(runner: TaskRunner, task: str) -> tuple[str, str]:
    """Give a task: the last thing that was said to it, and all that was said on the way."""
    result = await runner.run(task=task, output_task_messages=False)
    said = [message.to_text() for message in result.messages]
    answers = [message.to_text() for message in result.messages if isinstance(message, BaseChatMessage)]
    return (answers or said or [""])[-1], "\n".join(said)
