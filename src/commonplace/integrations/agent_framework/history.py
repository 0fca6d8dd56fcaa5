"""CommonplaceHistoryProvider: the messages of sessions, kept in a book."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import HistoryProvider, Message

from commonplace.aio import AsyncBook
from commonplace.integrations.agent_framework import pages
from commonplace.integrations.door import Door, Where
from commonplace.integrations.exact import named
from commonplace.values import checks


class CommonplaceHistoryProvider(HistoryProvider):
    """A history that outlives its process: a session of the same id goes on in any process that has the book.

    `name` tells histories apart that one book keeps of the same sessions. What is stored and loaded is said with
    Agent Framework's own options; `max_messages` loads at most the last so many.
    """

    def __init__(
        self,
        where: Where | None = None,
        *,
        source_id: str = "commonplace_history",
        space: str | None = None,
        name: str = "history",
        max_messages: int | None = None,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        store_outputs: bool = True,
    ) -> None:
        super().__init__(
            source_id,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
        )
        self._door = Door(where, space)
        self._namespace = f"agent_framework {name}"
        self._most = None if max_messages is None else checks.count(max_messages, "max_messages")

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The messages of a session, oldest first, as they were saved."""
        return await self._door.run(self._get, _key(session_id))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add messages to a session, all or none; when this returns they are on disk. None of two processes is lost."""
        if messages:
            await self._door.run(self._save, _key(session_id), list(messages))

    async def clear(self, session_id: str | None) -> None:
        """Delete the history of a session; what was learned from it stays."""
        await self._door.run(lambda: pages.delete(self._door.open().kv(self._namespace), _key(session_id)))

    async def book(self) -> AsyncBook:
        """The book itself, with every verb."""
        return await self._door.book()

    async def close(self) -> None:
        """Release the book if this provider opened it; what it holds stays."""
        await self._door.close()

    def _get(self, key: str) -> list[Message]:
        kept = pages.read(self._door.open().kv(self._namespace), key)
        if self._most is not None:
            kept = kept[max(len(kept) - self._most, 0) :]
            while kept and kept[0].get("role") == "tool":  # a result without its call: no model takes it
                kept = kept[1:]
        return [Message.from_dict(each) for each in kept]

    def _save(self, key: str, messages: Sequence[Message]) -> None:
        pages.add(self._door.open().kv(self._namespace), key, [message.to_dict() for message in messages])


def _key(session_id: str | None) -> str:
    return named("default" if session_id is None else session_id)
