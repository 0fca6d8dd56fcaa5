"""LearnAggregate: memories made of what was said in a stream, by the book's own durable jobs."""

from __future__ import annotations

from collections.abc import Sequence

from ag2.context import ConversationContext
from ag2.events import BaseEvent
from ag2.knowledge import KnowledgeStore
from ag2.utils import AGENT_CONTEXT_DEPENDENCY_KEY

from commonplace.aio import AsyncBook
from commonplace.integrations.ag2.speech import heard
from commonplace.integrations.door import Door, Where
from commonplace.integrations.hearing import Heard, Listener
from commonplace.values import NOBODY, Origin, Scope, checks


class LearnAggregate:
    """An aggregate strategy that learns each thing said once; it asks no model and writes nothing to the store.

    Give it with `AggregateTrigger(on_end=True)`. `person` is who asks the agent; of an agent that other agents ask,
    pass their name and `origin="agent"`, so that nothing of it overrules what a person said.
    """

    def __init__(
        self,
        where: Where | None = None,
        *,
        space: str | None = None,
        scope: Scope = NOBODY,
        tags: Sequence[str] = (),
        person: str | None = None,
        origin: Origin | None = None,
    ) -> None:
        self._door = Door(where, space)
        self._listener = Listener(checks.scope(scope), checks.tags(tags), origin)
        self._person = person or scope.user or "user"

    async def aggregate(self, events: list[BaseEvent], context: ConversationContext, store: KnowledgeStore) -> None:
        """Learn from what is new in the stream; when this returns it is on disk."""
        agent = getattr(context.dependencies.get(AGENT_CONTEXT_DEPENDENCY_KEY), "name", "assistant")
        said = heard(events, person=self._person, agent=agent)
        await self._door.run(self._listen, str(context.stream.id), said)

    async def book(self) -> AsyncBook:
        """The book itself, with every verb."""
        return await self._door.book()

    async def close(self) -> None:
        """Make memories of what was said, and release the book if this opened it; what it holds stays."""
        await self._door.learned()
        await self._door.close()

    def _listen(self, session: str, said: Sequence[Heard]) -> None:
        self._listener.listen(self._door.open(), session, said)
