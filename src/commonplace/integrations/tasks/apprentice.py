"""Apprentice: an agent or a team with task-centric memory around it."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

from autogen_agentchat.base import TaskRunner

from commonplace.errors import InvalidInput
from commonplace.integrations.handle import BookLike
from commonplace.integrations.tasks import runners
from commonplace.integrations.tasks.config import MemoryControllerConfig
from commonplace.integrations.tasks.controller import MemoryController
from commonplace.integrations.tasks.logs import Pages, Silent, page
from commonplace.integrations.tasks.memo import Memo
from commonplace.values import NOBODY, Scope


class ApprenticeConfig(TypedDict, total=False):
    """What `Apprentice` takes; `reset` is commonplace's own."""

    name_of_agent_or_team: str
    disable_prefix_caching: bool
    MemoryController: MemoryControllerConfig
    reset: bool


class Apprentice:
    """Gives tasks to an agent or team, with what was learned before; what it learns stays after the program ends.

    `agent_or_team` is any agent or team of AutoGen; it starts each task anew. Without one, `name_of_agent_or_team` says
    which to make: a new AssistantAgent for each task, or a MagenticOneGroupChat with a web surfer. Memory is emptied
    only with `reset` in the config.
    """

    def __init__(
        self,
        client: Any,
        config: ApprenticeConfig | None = None,
        logger: Pages | None = None,
        *,
        agent_or_team: TaskRunner | None = None,
        book: BookLike | None = None,
        scope: Scope = NOBODY,
    ) -> None:
        given = dict(config or {})
        for name in given:
            if name not in ApprenticeConfig.__annotations__:
                known = ", ".join(sorted(ApprenticeConfig.__annotations__))
                raise InvalidInput(f"Apprentice has no setting {name!r}; known: {known}")
        chosen: ApprenticeConfig = config or {}
        self.name_of_agent_or_team = chosen.get("name_of_agent_or_team", runners.NAMES[0])
        if agent_or_team is None and self.name_of_agent_or_team not in runners.NAMES:
            raise InvalidInput(
                f"name_of_agent_or_team is one of {', '.join(runners.NAMES)}; any other, pass as agent_or_team"
            )
        self.disable_prefix_caching = chosen.get("disable_prefix_caching", False)
        self.client = client
        self.logger: Pages = logger or Silent()
        self._given = agent_or_team
        self._busy = asyncio.Lock()  # one agent does one task at a time, whoever gives it
        self.memory_controller = MemoryController(
            chosen.get("reset", False), client, self.assign_task_to_agent_or_team, chosen.get("MemoryController"),
            self.logger, book=book, scope=scope,
        )  # fmt: skip

    def reset_memory(self) -> None:
        """Forget this bank's own memos, and nothing else in the book."""
        self.memory_controller.reset_memory()

    async def handle_user_message(self, text: str, should_await: bool = True) -> str:
        """Keep what a message tells for later, and answer it."""
        return await self.memory_controller.handle_user_message(text, should_await)

    async def add_task_solution_pair_to_memory(self, task: str, solution: str) -> Memo:
        """Keep a task and how it was solved, for tasks like it."""
        return await self.memory_controller.add_task_solution_pair_to_memory(task, solution)

    async def assign_task(self, task: str, use_memory: bool = True, should_await: bool = True) -> str:
        """Do a task, with the memos that bear on it."""
        return await self.memory_controller.assign_task(task, use_memory, should_await)

    async def train_on_task(self, task: str, expected_answer: str) -> None:
        """Try a task, learn from each failure, and keep the insight with which it succeeded."""
        await self.memory_controller.train_on_task(task, expected_answer)

    async def close(self) -> None:
        """Release the book if it was not given; what it holds stays."""
        await self.memory_controller.close()

    async def assign_task_to_agent_or_team(self, task: str) -> tuple[str, str]:
        """Give a task to the agent or team as it is: the answer, and all that was said on the way."""
        with page(self.logger, "assign_task_to_agent_or_team"):
            self.logger.info(task)
            if self._given is None:
                made = runners.made(self.name_of_agent_or_team, self.client, unique=self.disable_prefix_caching)
                answer, work = await runners.run(made, task)
            else:
                async with self._busy:
                    await runners.start_anew(self._given)
                    answer, work = await runners.run(self._given, task)
            self.logger.info(f"answer: {answer}")
            return answer, work
