"""PersistentTeam: a team that goes on in another process where it stopped, also after a crash."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from autogen_agentchat.base import TaskResult, Team
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage, ModelClientStreamingChunkEvent, TextMessage
from autogen_core import CancellationToken
from pydantic_core import to_jsonable_python

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen import team_state
from commonplace.integrations.autogen.team_journal import NAMESPACE, Journal
from commonplace.integrations.door import Door, Where
from commonplace.integrations.exact import packed
from commonplace.values import Message

Task = str | BaseChatMessage | Sequence[BaseChatMessage] | None


class PersistentTeam:
    """Runs any team; every message is on disk when it is seen, and the state when a run is over.

    `name` is the team's name in the book: a team of the same agents under the same name goes on from there. After a
    crash it starts from the state of the last run that ended, and is told what was said since.
    """

    def __init__(self, team: Team, where: Where, name: str, *, space: str | None = None) -> None:
        self.team = team
        self.name = name
        self._door = Door(where, space)
        self._journal = Journal(self._door, name)
        self._version: int | None = None
        self._said_since: list[BaseChatMessage] = []
        self._ran = False

    async def run(
        self, *, task: Task = None, cancellation_token: CancellationToken | None = None, **options: Any
    ) -> TaskResult:
        """Run the team as `Team.run` does; without a task it goes on with what it was doing."""
        result: TaskResult | None = None
        async for item in self.run_stream(task=task, cancellation_token=cancellation_token, **options):
            if isinstance(item, TaskResult):
                result = item
        if result is None:
            raise InvalidInput("the team ended without a result")
        return result

    async def run_stream(
        self, *, task: Task = None, cancellation_token: CancellationToken | None = None, **options: Any
    ) -> AsyncGenerator[BaseAgentEvent | BaseChatMessage | TaskResult, None]:
        """Run the team as `Team.run_stream` does; a message that this yields is on disk."""
        if self._version is None:
            await self._restore()
        version, self._version = self._version, None  # a run that does not end leaves a team that must be restored
        given = _messages(task)
        await self._journal.keep(given)
        fed = [*self._said_since, *given]
        told = {message.id for message in fed}
        shown = given if options.pop("output_task_messages", True) else []
        for message in shown:
            yield message
        async for item in self.team.run_stream(
            task=fed or None, cancellation_token=cancellation_token, output_task_messages=False, **options
        ):
            if isinstance(item, TaskResult):
                await self._save(version or 0)
                said = [message for message in item.messages if message.id not in told]
                yield TaskResult(messages=[*shown, *said], stop_reason=item.stop_reason)
            elif item.id not in told:  # a MagenticOneGroupChat repeats its task, asked or not
                if not isinstance(item, ModelClientStreamingChunkEvent):
                    await self._journal.keep([item])
                yield item

    async def transcript(self) -> list[Message]:
        """All that was ever said, with tool calls and their results, oldest first."""
        return await self._journal.read()

    async def reset(self) -> None:
        """Begin anew, here and in the book; the transcript stays."""
        await self.team.reset()
        self._said_since = []
        self._version = await self._write(await self._journal.last(), None, None)

    async def close(self) -> None:
        """Release the book if this team opened it; what it holds stays."""
        await self._door.close()

    async def _restore(self) -> None:
        """Put the team into the state of the last run that ended; what was said since is given to the next run."""
        book = await self._door.book()
        entry = await book.kv(NAMESPACE).entry(self.name)
        saved = team_state.Saved.read(None if entry is None else entry.value)
        self._said_since = await self._journal.chat_since(saved.after, self.team)
        if saved.state is None and self._ran:
            await self.team.reset()
        if saved.state is not None or self._said_since:
            state = await self.team.save_state() if saved.state is None else saved.state
            await self.team.load_state(team_state.advanced(state, self._said_since))
        self._ran = True
        self._version = 0 if entry is None else entry.version

    async def _save(self, version: int) -> None:
        state = to_jsonable_python(await self.team.save_state())
        self._said_since = []
        self._version = await self._write(await self._journal.last(), state, version)

    async def _write(self, after: int, state: Any, version: int | None) -> int:
        """Write the state; Conflict if another process has run this team in the meantime."""
        entries = (await self._door.book()).kv(NAMESPACE)
        kept = await self._door.run(packed, state)
        return (await entries.set(self.name, {"after": after, "state": kept}, if_version=version)).version


def _messages(task: Task) -> list[BaseChatMessage]:
    if task is None:
        return []
    if isinstance(task, str):
        return [TextMessage(content=task, source="user")]
    return [task] if isinstance(task, BaseChatMessage) else list(task)
