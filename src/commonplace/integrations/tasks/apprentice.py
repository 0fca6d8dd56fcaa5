"""Apprentice: an agent or a team with task-centric memory around it."""

from __future__ import annotations

import asyncio
import random
from importlib.util import find_spec
from typing import Any, TypedDict

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import ChatAgent, TaskRunner, Team
from autogen_agentchat.messages import BaseChatMessage
from autogen_agentchat.teams import MagenticOneGroupChat
from autogen_core import CancellationToken

from commonplace.errors import InvalidInput
from commonplace.integrations.handle import BookLike
from commonplace.integrations.tasks.controller import MemoryController, MemoryControllerConfig
from commonplace.integrations.tasks.memo import Memo
from commonplace.integrations.tasks.pages.logger import AnyLogger, PageLogger, open_page
from commonplace.integrations.tasks.pages.run import check_names
from commonplace.values import NOBODY, Scope

_NAMES = ("AssistantAgent", "MagenticOneGroupChat")
_SYSTEM = """\
You do one task at a time, with care. Restate what is asked, weigh more than one way to answer, look for flaws in the
one you prefer, and use what the notes below the task tell wherever they bear on it. End with the answer alone, in the
form that the task asks for.
"""
_MOST_TURNS = 20


class ApprenticeConfig(TypedDict, total=False):
    """The settings of an `Apprentice`; `reset` is commonplace's own."""

    name_of_agent_or_team: str
    disable_prefix_caching: bool
    MemoryController: MemoryControllerConfig
    reset: bool


class Apprentice:
    """Gives tasks to an agent or team, with what was learned before; what it learns stays after the program ends.

    `agent_or_team` is any agent or team of AutoGen; it is reset before each task. Without one, `name_of_agent_or_team`
    says which to make for each task: an AssistantAgent, or a MagenticOneGroupChat with a web surfer. Memory is emptied
    only with `reset` in the config.
    """

    def __init__(
        self,
        client: Any,
        config: ApprenticeConfig | None = None,
        logger: AnyLogger | None = None,
        *,
        agent_or_team: TaskRunner | None = None,
        book: BookLike | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        chosen: ApprenticeConfig = config or {}
        check_names(chosen, ApprenticeConfig.__annotations__, "Apprentice")
        self.name_of_agent_or_team = chosen.get("name_of_agent_or_team", _NAMES[0])
        if agent_or_team is None and self.name_of_agent_or_team not in _NAMES:
            raise InvalidInput(f"name_of_agent_or_team is one of {', '.join(_NAMES)}; any other, pass as agent_or_team")
        self.disable_prefix_caching = chosen.get("disable_prefix_caching", False)
        self.client = client
        self.logger: AnyLogger = logger or PageLogger()
        self._given = agent_or_team
        self._lock = asyncio.Lock()  # an agent that was given does one task at a time
        self.memory_controller = MemoryController(
            chosen.get("reset", False), client, self.assign_task_to_agent_or_team, chosen.get("MemoryController"),
            self.logger, book=book, scope=scope,
        )  # fmt: skip

    def reset_memory(self) -> None:
        """Forget this bank's own memos, and nothing else in the book."""
        self.memory_controller.reset_memory()

    async def handle_user_message(self, text: str, should_await: bool = True) -> str:
        """Add the advice in a message, and answer it."""
        return await self.memory_controller.handle_user_message(text, should_await)

    async def add_task_solution_pair_to_memory(self, task: str, solution: str) -> Memo:
        """Add a task and its solution, for tasks like it."""
        return await self.memory_controller.add_task_solution_pair_to_memory(task, solution)

    async def assign_task(self, task: str, use_memory: bool = True, should_await: bool = True) -> str:
        """Do a task, with the memos that help."""
        return await self.memory_controller.assign_task(task, use_memory, should_await)

    async def train_on_task(self, task: str, expected_answer: str) -> None:
        """Try a task, learn from each failure, and keep the insight with which it succeeded."""
        await self.memory_controller.train_on_task(task, expected_answer)

    async def close(self) -> None:
        """Close the book unless it was given."""
        await self.memory_controller.close()

    async def assign_task_to_agent_or_team(self, task: str) -> tuple[str, str]:
        """Give a task to the agent or team as it is; return the answer and everything that was said."""
        with open_page(self.logger, "assign_task_to_agent_or_team"):
            self.logger.info(task)
            if self._given is None:
                answer, work = await _run_task(self._make_runner(), task)
            else:
                async with self._lock:
                    if isinstance(self._given, Team):
                        await self._given.reset()
                    elif isinstance(self._given, ChatAgent):
                        await self._given.on_reset(CancellationToken())
                    answer, work = await _run_task(self._given, task)
            self.logger.info(f"answer: {answer}")
            return answer, work

    def _make_runner(self) -> TaskRunner:
        if self.name_of_agent_or_team == _NAMES[0]:
            # A beginning that no request had before keeps a service from answering out of its cache.
            beginning = f"({random.getrandbits(32)})\n" if self.disable_prefix_caching else ""
            return AssistantAgent("apprentice", self.client, system_message=beginning + _SYSTEM)
        if find_spec("playwright") is None:
            raise ModuleNotFoundError(
                'MagenticOneGroupChat has a web surfer, which needs: pip install "autogen-ext[web-surfer]"; '
                "or pass your own team as agent_or_team",
                name="playwright",
            )
        from autogen_ext.agents.web_surfer import MultimodalWebSurfer  # optional

        general = AssistantAgent(
            "assistant", self.client, description="Answers questions, plans, writes and calculates."
        )
        surfer = MultimodalWebSurfer("web_surfer", self.client)
        return MagenticOneGroupChat([general, surfer], model_client=self.client, max_turns=_MOST_TURNS)


async def _run_task(runner: TaskRunner, task: str) -> tuple[str, str]:
    """Return the last message to the user, and all messages and events."""
    result = await runner.run(task=task, output_task_messages=False)
    texts = [message.to_text() for message in result.messages]
    answers = [message.to_text() for message in result.messages if isinstance(message, BaseChatMessage)]
    return (answers or texts or [""])[-1], "\n".join(texts)
