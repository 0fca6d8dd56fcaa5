"""PersistentTeam: a team that continues in another process where it stopped, also after a crash."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from autogen_agentchat.base import TaskResult, Team
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    MessageFactory,
    ModelClientStreamingChunkEvent,
    TextMessage,
)
from autogen_core import CancellationToken
from pydantic_core import to_jsonable_python

from commonplace import Message
from commonplace.errors import InvalidInput
from commonplace.integrations.codec import decode, encode
from commonplace.integrations.conversation import clean_text
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.values import Json

Task = str | BaseChatMessage | Sequence[BaseChatMessage] | None

_NAMESPACE = "autogen teams"
"""The key-value namespace of states, and of messages that are too large for a transcript, such as pictures."""
_DUMP = "autogen"
"""The key in a transcript message's metadata for the whole message, or for the key under which it is kept."""
_LARGE = 500_000
_LONGEST = 100_000
"""Characters of a transcript message that people read; the whole message is beside it."""


class PersistentTeam:
    """Runs any team; a message is on disk when it is seen, and the state when a run is over.

    `name` is the team's name in the book: a team of the same agents under the same name continues from there. After a
    crash it starts from the state after the last complete run, and is told what was said since.
    """

    def __init__(self, team: Team, where: BookLike, name: str, *, space: str | None = None) -> None:
        self.team = team
        self.name = name
        self._handle = BookHandle(where, space)
        self._version: int | None = None
        self._said_since: list[BaseChatMessage] = []
        self._ran = False

    async def run(
        self, *, task: Task = None, cancellation_token: CancellationToken | None = None, **options: Any
    ) -> TaskResult:
        """Run the team as `Team.run` does; without a task it continues with what it was doing."""
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
        version, self._version = self._version, None  # an incomplete run leaves a team that must be restored
        given = _messages(task)
        await self._handle.run(self._write_messages, given)
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
                    await self._handle.run(self._write_messages, [item])
                yield item

    async def transcript(self) -> list[Message]:
        """Return all that was ever said, with tool calls and their results, oldest first."""
        return await (await self._handle.book()).transcript(self.name).read()

    async def reset(self) -> None:
        """Begin anew, here and in the book; the transcript stays."""
        await self.team.reset()
        self._said_since = []
        self._version = await self._handle.run(self._write_state, None, None)

    async def close(self) -> None:
        """Release the book if this team opened it; its contents stay."""
        await self._handle.close()

    async def _restore(self) -> None:
        """Put the team into the state after the last complete run; what was said since is given to the next run."""
        after, state, version = await self._handle.run(self._read_state)
        self._said_since = await self._handle.run(self._read_messages, after)
        if state is None and self._ran:
            await self.team.reset()
        if state is not None or self._said_since:
            known = await self.team.save_state() if state is None else state
            await self.team.load_state(_count_turns(known, self._said_since))
        self._ran = True
        self._version = version

    async def _save(self, version: int) -> None:
        state = await self.team.save_state()
        self._said_since = []
        self._version = await self._handle.run(self._write_state, state, version)

    def _read_state(self) -> tuple[int, Mapping[str, Any] | None, int]:
        """Return the number of the last message that the saved state knows, the state, and its version."""
        entry = self._handle.open().kv(_NAMESPACE).entry(self.name)
        if entry is None or not isinstance(entry.value, dict):
            return 0, None, 0 if entry is None else entry.version
        after, state = entry.value["after"], decode(entry.value["state"])
        return after if isinstance(after, int) else 0, state if isinstance(state, dict) else None, entry.version

    def _write_state(self, state: Mapping[str, Any] | None, version: int | None) -> int:
        """Write the state and return its version; Conflict if another process has run this team in the meantime."""
        book = self._handle.open()
        last = book.transcript(self.name).tail(1)
        value: Json = {"after": last[-1].number if last else 0, "state": encode(to_jsonable_python(state))}
        return book.kv(_NAMESPACE).set(self.name, value, if_version=version).version

    def _read_messages(self, after: int) -> list[BaseChatMessage]:
        """Return the chat messages after a number, without events."""
        book = self._handle.open()
        # A team with structured messages knows their types, and keeps them private.
        factory: MessageFactory = getattr(self.team, "_message_factory", None) or MessageFactory()
        made = []
        for message in book.transcript(self.name).resume(after=after):
            dump = message.metadata.get(_DUMP)
            whole: Any = decode(book.kv(_NAMESPACE).get(dump) if isinstance(dump, str) else dump)
            if isinstance(whole, dict):
                made.append(factory.create(whole))
        return [message for message in made if isinstance(message, BaseChatMessage)]

    def _write_messages(self, messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> None:
        book, lines = self._handle.open(), []
        for message in messages:
            dump = encode(to_jsonable_python(message.dump()))
            if len(json.dumps(dump)) > _LARGE:
                key = f"{self.name}/{message.id}"
                book.kv(_NAMESPACE).set(key, dump)
                dump = key
            role = "user" if message.source == "user" else "assistant"
            text = clean_text(message.to_text())
            lines.append(
                {
                    "content": text if len(text) <= _LONGEST else f"{text[:_LONGEST]} […]",
                    "role": "tool" if isinstance(message, BaseAgentEvent) else role,
                    "name": message.source,
                    "metadata": {_DUMP: dump},
                }
            )
        book.transcript(self.name).extend(lines)


def _messages(task: Task) -> list[BaseChatMessage]:
    if task is None:
        return []
    if isinstance(task, str):
        return [TextMessage(content=task, source="user")]
    return [task] if isinstance(task, BaseChatMessage) else list(task)


def _count_turns(state: Mapping[str, Any], said: Sequence[BaseChatMessage]) -> Mapping[str, Any]:
    """Return a state with the turns counted that were taken since, so that the right agent speaks next."""
    agents = state.get("agent_states", {})
    spoke = [message.source for message in said if message.source in agents]
    counted = {name: _count_agent_turns(each, spoke, len(agents) - 1) for name, each in agents.items()}
    return {**state, "agent_states": counted}


def _count_agent_turns(state: Mapping[str, Any], spoke: Sequence[str], agents: int) -> Mapping[str, Any]:
    if "message_thread" not in state:
        return state
    counted = {**state, "current_turn": state.get("current_turn", 0) + len(spoke)}
    if "next_speaker_index" in state:
        counted["next_speaker_index"] = (state["next_speaker_index"] + len(spoke)) % max(agents, 1)
    if "ready" in state:  # a graph: who has spoken does not begin again
        counted["ready"] = [name for name in state["ready"] if name not in spoke]
    return counted
