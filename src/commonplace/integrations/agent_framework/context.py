"""CommonplaceContextProvider: recalls from a book before each run and learns after it; and the tools of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import (
    AgentSession,
    ContextProvider,
    FunctionTool,
    HistoryProvider,
    Message,
    SessionContext,
    SupportsAgentRun,
    tool,
)
from typing_extensions import Unpack

from commonplace import AsyncBook
from commonplace.errors import InvalidInput
from commonplace.integrations.codec import encode_name
from commonplace.integrations.conversation import (
    RecallOptions,
    Recollection,
    SpokenLine,
    TranscriptListener,
    clean_text,
    shorten,
)
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.integrations.tools import ToolOptions, make_async_functions
from commonplace.values import NOBODY, Scope, Within, checks


class CommonplaceContextProvider(ContextProvider):
    """A persistent memory that agents, sessions and processes share; none of it is stored with a session.

    `where` is a path, a URL or an open book (else COMMONPLACE_BOOK, else commonplace.db). What is learned belongs to
    `scope`, or to `agent_id` and `user_id`, in `space` or `application_id`. It is searched `within`, or by the
    `search_` ids; by default for that user and agent, and for what belongs to everybody.
    """

    def __init__(
        self,
        where: BookLike | None = None,
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
        _ensure_same("space", space, "application_id", application_id)
        self._handle = BookHandle(where, space or application_id)
        self._scope = _stored_scope(scope, agent_id, user_id)
        self._searched_space = search_application_id or self._handle.space
        self._options = RecallOptions(
            within=_searched_scopes(within, self._scope, search_agent_id, search_user_id), k=k, threshold=threshold,
            max_tokens=max_tokens, filter=filter, kinds=kinds, tags=tags,
        )  # fmt: skip
        self._listener = TranscriptListener(self._scope) if learn else None
        self._prompt = f"{context_prompt}\n" if context_prompt else ""

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Put what is relevant to the input just before it."""
        query, conversation = _question(context.input_messages), encode_name(session.session_id)
        found = await self._handle.run(self._recall, query, conversation)
        if not found.text:
            return
        _reserve_histories(self, agent, context)
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
        listener = self._listener
        if listener is not None:
            answers = context.response.messages if context.response else ()
            person, name = self._scope.user or "user", agent.name or "assistant"
            lines = _spoken_lines(context.input_messages, answers, person=person, agent=name)
            conversation = encode_name(session.session_id)
            await self._handle.run(lambda: listener.listen(self._handle.open(), conversation, lines))

    async def book(self) -> AsyncBook:
        """Return the book that is written to, with every verb."""
        return await self._handle.book()

    async def close(self) -> None:
        """Extract memories from what was said, and release the book if this provider opened it; its contents stay."""
        if self._listener is not None:
            await self._handle.finish_learning()
        await self._handle.close()

    def _recall(self, query: str, conversation: str) -> Recollection:
        book = self._handle.open()
        searched = book if self._searched_space == book.space else book.in_space(self._searched_space)
        return self._options.outside(conversation).recall(searched, query)


def memory_tools(
    where: BookLike | None = None, *, space: str | None = None, **options: Unpack[ToolOptions]
) -> list[FunctionTool]:
    """Return the tools remember, recall and forget on one book.

    They write into `scope`, look `within`, and forget only what is in their scope. A book that is opened here stays
    open as long as the program runs; pass an open one to close it yourself.
    """
    functions = make_async_functions(where, explain=True, space=space, **options)
    return [tool(each, name=each.__name__, description=each.__doc__) for each in functions]


def _stored_scope(scope: Scope | None, agent_id: str | None, user_id: str | None) -> Scope:
    ids = Scope(user=user_id, agent=agent_id)
    _ensure_same("scope", scope, "agent_id and user_id", None if ids == NOBODY else ids)
    return checks.scope(scope or ids)


def _searched_scopes(
    within: Within | Scope | None, stored: Scope, agent_id: str | None, user_id: str | None
) -> Within | None:
    """Return where to look; what the ids leave open is as it is stored, so that nobody reads what is another's."""
    by_ids = checks.within(Scope(user=user_id or stored.user, agent=agent_id or stored.agent))
    given = agent_id is not None or user_id is not None
    _ensure_same("within", within, "search_agent_id and search_user_id", by_ids if given else None)
    return checks.within(within or by_ids)


def _ensure_same(ours: str, value: object, theirs: str, other: object) -> None:
    if value is not None and other is not None and value != other:
        raise InvalidInput(f"{ours} and {theirs} mean the same, but their values differ: pass only one")


def _reserve_histories(provider: ContextProvider, agent: SupportsAgentRun, context: SessionContext) -> None:
    """Keep the place of histories that are still to come, such as the one that an agent adds at the end by itself.

    Messages are in the order in which their sources were first named, and memory belongs just before the input.
    """
    for other in getattr(agent, "context_providers", ()):
        if isinstance(other, HistoryProvider) and other is not provider:
            context.context_messages.setdefault(other.source_id, [])


def _question(messages: Sequence[Message]) -> str:
    """Return the words of an input, of people and of other agents."""
    said = (message.text for message in messages if message.role in ("user", "assistant"))
    return shorten(clean_text("\n".join(said)))


def _spoken_lines(
    inputs: Sequence[Message], answers: Sequence[Message], *, person: str, agent: str
) -> list[SpokenLine]:
    """Return what was said, in order, without tools, instructions and what a provider added.

    Some callers repeat a conversation from its beginning each time: only the last input is certainly new.
    """
    told = [message for message in inputs if _is_spoken(message)]
    new = [*told[-1:], *(message for message in answers if _is_spoken(message))]
    return [
        SpokenLine(
            speaker=message.author_name or (person if message.role == "user" else agent),
            text=message.text,
            by_person=message.role == "user",
            new=at >= len(told) - 1,
        )
        for at, message in enumerate([*told[:-1], *new])
    ]


def _is_spoken(message: Message) -> bool:
    return message.role in ("user", "assistant") and "_attribution" not in message.additional_properties
