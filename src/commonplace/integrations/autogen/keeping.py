"""What a memory of AutoGen's does to its book: add, and by the id of a result what AutoGen has no name for."""

from __future__ import annotations

from typing import Any

from autogen_core import CancellationToken
from autogen_core.memory import MemoryContent

from commonplace.aio import AsyncBook
from commonplace.integrations.autogen import contents
from commonplace.integrations.autogen.cancelling import cancellable
from commonplace.integrations.door import Door
from commonplace.values import NOBODY, Scope


class Keeping:
    """The half of CommonplaceMemory that writes; what it writes belongs to its scope."""

    _door: Door
    _scope: Scope

    async def book(self) -> AsyncBook:
        """The book itself, for every verb that AutoGen has no name for."""
        return await self._door.book()

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Remember a content; when this returns it is on disk, and every agent on the book recalls it."""
        await cancellable(self._add(content), cancellation_token)

    async def forget(self, id: str) -> None:
        """Remove the memory that a result's metadata names as `id`, with all its versions."""
        await (await self.book()).forget(id)

    async def revise(self, id: str, content: MemoryContent, *, reason: str | None = None) -> None:
        """Give a memory a new content; the one before stays in its history. Its metadata stays unless some is given."""
        change = await self._door.run(contents.change, content)
        await (await self.book()).revise(id, **change, reason=reason)

    async def clear(self) -> None:
        """Forget what belongs to this memory's scope; without one, what belongs to no user and no agent."""
        nobodys = {"user": {"$exists": False}, "agent": {"$exists": False}}
        chosen: dict[str, Any] = {"filter": nobodys} if self._scope == NOBODY else {"scope": self._scope}
        await (await self.book()).forget(**chosen)

    async def _add(self, content: MemoryContent) -> None:
        draft = await self._door.run(contents.draft, content, self._scope)
        await (await self.book()).remember(draft)
