"""What a team says, kept in a transcript word for word, so that it can be said to the team again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from autogen_agentchat.base import Team
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage, MessageFactory
from pydantic_core import to_jsonable_python

from commonplace.integrations.door import Door
from commonplace.integrations.exact import packed, unpacked
from commonplace.integrations.words import readable
from commonplace.values import Json, Message

NAMESPACE = "autogen teams"
"""The key-value namespace of states, and of messages that are too large for a transcript, such as pictures."""
_DUMP = "autogen"
"""The key in a line's metadata under which the whole message stands, or the key under which it is kept."""
_LARGE = 500_000
_LONGEST = 100_000
"""Characters of a line that people read; the whole message is beside it."""


class Journal:
    """The transcript of one team."""

    def __init__(self, door: Door, name: str) -> None:
        self._door = door
        self._name = name

    async def keep(self, messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> None:
        """Write messages at the end; when this returns they are on disk."""
        await self._door.run(self._keep, messages)

    async def chat_since(self, number: int, team: Team) -> list[BaseChatMessage]:
        """The chat messages after one of a number; events are told by nobody."""
        book = await self._door.book()
        # A team of structured messages knows their types, and keeps them to itself.
        factory: MessageFactory = getattr(team, "_message_factory", None) or MessageFactory()
        made = []
        for line in await book.transcript(self._name).resume(after=number):
            dump = line.metadata.get(_DUMP)
            whole: Any = unpacked(await book.kv(NAMESPACE).get(dump) if isinstance(dump, str) else dump)
            if isinstance(whole, dict):
                made.append(factory.create(whole))
        return [message for message in made if isinstance(message, BaseChatMessage)]

    async def read(self) -> list[Message]:
        """All of it, oldest first."""
        return await (await self._door.book()).transcript(self._name).read()

    async def last(self) -> int:
        """The number of the last message; 0 if there is none."""
        said = await (await self._door.book()).transcript(self._name).tail(1)
        return said[-1].number if said else 0

    def _keep(self, messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> None:
        book, lines = self._door.open(), []
        for message in messages:
            dump = packed(to_jsonable_python(message.dump()))
            if len(json.dumps(dump)) > _LARGE:
                key = f"{self._name}/{message.id}"
                book.kv(NAMESPACE).set(key, dump)
                dump = key
            lines.append(_line(message, dump))
        book.transcript(self._name).extend(lines)


def _line(message: BaseAgentEvent | BaseChatMessage, dump: Json) -> dict[str, object]:
    role = "user" if message.source == "user" else "assistant"
    if isinstance(message, BaseAgentEvent):
        role = "tool"
    text = readable(message.to_text())
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} […]"
    return {"content": shown, "role": role, "name": message.source, "metadata": {_DUMP: dump}}
