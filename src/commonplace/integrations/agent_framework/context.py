"""CommonplaceContextProvider: what a book knows before each run, and what was said learned after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import AgentSession, ContextProvider, HistoryProvider, Message, SessionContext, SupportsAgentRun

from commonplace.aio import AsyncBook
from commonplace.integrations.agent_framework.places import Ids, places
from commonplace.integrations.agent_framework.speech import heard, question
from commonplace.integrations.door import Where
from commonplace.integrations.exact import named
from commonplace.integrations.hearing import Heard, Listener
from commonplace.integrations.recalling import Wanted
from commonplace.values import Recall, Scope, Within


class CommonplaceContextProvider(ContextProvider):
    """A persistent memory that agents, sessions and processes share; nothing of it is stored with a session.

    `where` is a path, a URL or an open book (else COMMONPLACE_BOOK, else commonplace.db). What is learned belongs to
    `scope`, which `agent_id` and `user_id` say as well, in `space`, which `application_id` says as well. It is searched
    where `within` or the `search_` ids say; by default for that user and agent, and for what is everybody's.
    """

    def __init__(
        self,
        where: Where | None = None,
        *,
        source_id: str = "commonplace",
        space: str | None = None,
        scope: Scope | None = None,
        within: Within | Scope | None = None,
        application_id: str | None = None,
        agent_id: str | None = None,
        user_id: str | None = None,
        search_application_id: str | None = None,
        search_agent_id: str | None = None,
        search_user_id: str | None = None,
        k: int = 10,
        threshold: float | None = None,
        max_tokens: int | None = 2000,
        filter: Mapping[str, Any] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        learn: bool = True,
        context_prompt: str = "",
    ) -> None:
        super().__init__(source_id)
        self._places = places(
            where, space=space, scope=scope, within=within,
            stored=Ids(application=application_id, agent=agent_id, user=user_id),
            searched=Ids(application=search_application_id, agent=search_agent_id, user=search_user_id),
        )  # fmt: skip
        self._wanted = Wanted(
            within=self._places.within, k=k, threshold=threshold, max_tokens=max_tokens, filter=filter, kinds=kinds,
            tags=tags,
        )  # fmt: skip
        self._listener = Listener(self._places.scope) if learn else None
        self._prompt = f"{context_prompt}\n" if context_prompt else ""

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Put what bears on the input just before it."""
        conversation = named(session.session_id)
        found = await self._places.door.run(self._recall, question(context.input_messages), conversation)
        if found is None:
            return
        _after_histories(self, agent, context)
        sessions = [hit.memory.scope.session for hit in (*found.hits, *found.avoid)]
        context.extend_messages(
            self,
            [Message("user", [self._prompt + found.text])],
            origin_session_ids=[each for each in sessions if each is not None],
        )

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Learn from the input and the response; when this returns they are on disk."""
        if self._listener is not None:
            answered = context.response.messages if context.response else ()
            person, name = self._places.scope.user or "user", agent.name or "assistant"
            lines = heard(context.input_messages, answered, person=person, agent=name)
            await self._places.door.run(self._learn, self._listener, named(session.session_id), lines)

    async def book(self) -> AsyncBook:
        """The book that is written to, with every verb."""
        return await self._places.door.book()

    async def close(self) -> None:
        """Make memories of what was said, and release the book if this provider opened it; what it holds stays."""
        if self._listener is not None:
            await self._places.door.learned()
        await self._places.door.close()

    def _recall(self, words: str, conversation: str) -> Recall | None:
        return self._wanted.recall(self._places.searched(), words, besides=conversation)

    def _learn(self, listener: Listener, conversation: str, lines: Sequence[Heard]) -> None:
        listener.listen(self._places.stored(), conversation, lines)


def _after_histories(provider: ContextProvider, agent: SupportsAgentRun, context: SessionContext) -> None:
    """Keep the place of histories that are still to come, such as the one that an agent adds at the end by itself.

    Messages stand in the order in which their sources were first named: memory belongs to the input, not before it all.
    """
    for other in getattr(agent, "context_providers", ()):
        if isinstance(other, HistoryProvider) and other is not provider:
            context.context_messages.setdefault(other.source_id, [])
