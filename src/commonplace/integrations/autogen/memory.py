"""CommonplaceMemory: a book as the memory of an AutoGen agent, alone or in a team, and as the tools of its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal

from autogen_core import CancellationToken, Component
from autogen_core.memory import Memory, MemoryContent, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.tools import BaseTool, FunctionTool
from typing_extensions import Self, Unpack

from commonplace import AsyncBook
from commonplace.errors import InvalidInput
from commonplace.integrations.autogen import config as configs
from commonplace.integrations.autogen import contents
from commonplace.integrations.autogen import context as contexts
from commonplace.integrations.autogen.config import CommonplaceMemoryConfig
from commonplace.integrations.autogen.context import ContextListener, run_cancellable
from commonplace.integrations.conversation import RecallOptions, Recollection, clean_text
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.integrations.tools import ToolOptions, make_async_functions
from commonplace.values import NOBODY, Order, Scope, Within, checks

Level = Literal["agent", "group", "global"]


class CommonplaceMemory(Memory, Component[CommonplaceMemoryConfig]):
    """A persistent memory that agents, teams and processes share.

    `where` is a path, a URL or an open book (else COMMONPLACE_BOOK, else commonplace.db). `scope` is where `add`
    writes, `within` where recall looks. With `order="time"` every turn gets the newest `k` memories, oldest first; by
    default it gets those that are relevant to the last words, or nothing. `learn` makes memories of what the agent
    hears and says.
    """

    component_type = "memory"
    component_config_schema = CommonplaceMemoryConfig
    component_provider_override = "commonplace.integrations.autogen.CommonplaceMemory"

    def __init__(
        self,
        where: BookLike | None = None,
        *,
        space: str | None = None,
        name: str | None = None,
        scope: Scope = NOBODY,
        within: Within | Scope | None = None,
        order: Order = "relevance",
        k: int | None = None,
        threshold: float | None = None,
        max_tokens: int | None = 2000,
        filter: Mapping[str, Any] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        learn: bool = False,
        session: str | None = None,
    ) -> None:
        super().__init__()
        self._handle = BookHandle(where, space)
        self._name = name
        self._scope = checks.scope(scope)
        self._options = RecallOptions(
            within=checks.within(within), order=order, k=k, threshold=threshold, max_tokens=max_tokens, filter=filter,
            kinds=kinds, tags=tags,
        )  # fmt: skip
        self._listener = ContextListener(self._handle, self._scope, session) if learn else None
        self._session = session

    @classmethod
    def from_redis_config(cls, config: object = None, *, where: BookLike | None = None, **fields: Any) -> Self:
        """Return a memory configured as RedisMemory is; `index_name` becomes the space.

        This and the next two take AutoGen's config object, a mapping, or its fields.
        """
        return cls(where, **configs.read_redis(config, fields))

    @classmethod
    def from_chromadb_config(cls, config: object = None, *, where: BookLike | None = None, **fields: Any) -> Self:
        """Return a memory configured as ChromaDBVectorMemory is; tenant, database and collection become the space.

        A persistent one is stored in its `persistence_path`, next to the files that are there.
        """
        arguments = configs.read_chromadb(config, fields)
        path = arguments.pop("where", None)
        if where is None and path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            where = path
        return cls(where, **arguments)

    @classmethod
    def from_mem0_config(cls, settings: object = None, /, *, where: BookLike | None = None, **fields: Any) -> Self:
        """Return a memory configured as Mem0Memory is; it writes and finds only the memories of its user."""
        # `settings` is positional only: Mem0's config has a field that is called config.
        return cls(where, **configs.read_mem0(settings, fields))

    @property
    def name(self) -> str:
        """The name given, for people to tell memories apart."""
        return self._name or contexts.MARK

    @property
    def source(self) -> str:
        """The source of this memory's messages in a model context: the same for the same memory in any process."""
        return contexts.make_source(self._name, self._handle.where, self._handle.space, self._scope, self._options)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Insert the memories relevant to the last words above them, replacing those of the turn before."""
        messages = await contexts.read_messages(model_context)
        listener = self._listener
        options = self._options if listener is None else self._options.outside(listener.session)
        found = await self._recall(options, contexts.question(messages))
        contexts.show(model_context, self.source, found.text, messages)
        if listener is not None:
            await listener.listen(model_context, messages)
        return UpdateContextResult(memories=_results(found, contents.make_shown_content))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return what is relevant to the query, best first, then what to avoid; options are those of `Book.recall`."""
        options = self._options.replace(configs.translate_options(kwargs))
        if options.order == "time" and "max_tokens" not in kwargs:
            options = options.replace({"max_tokens": None})  # the budget is for prompts; a list is returned whole
        work = self._recall(options, clean_text(contents.query_text(query)))
        found = await run_cancellable(work, cancellation_token)
        return await self._handle.run(_results, found, contents.make_content)

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Remember a content; when this returns it is on disk, and every agent on the book recalls it."""

        def work() -> None:
            self._handle.open().remember(contents.make_draft(content, self._scope))

        await run_cancellable(self._handle.run(work), cancellation_token)

    async def forget(self, id: str) -> None:
        """Remove the memory that a result's metadata names as `id`, with all its versions."""
        await (await self.book()).forget(id)

    async def revise(self, id: str, content: MemoryContent, *, reason: str | None = None) -> None:
        """Give a memory a new content; the old one stays in its history. Its metadata stays unless some is given."""
        changes = await self._handle.run(contents.make_changes, content)
        await (await self.book()).revise(id, **changes, reason=reason)

    async def clear(self) -> None:
        """Forget what belongs to this memory's scope; without one, what belongs to no user and no agent."""
        unowned = {"user": {"$exists": False}, "agent": {"$exists": False}}
        selection: dict[str, Any] = {"filter": unowned} if self._scope == NOBODY else {"scope": self._scope}
        await (await self.book()).forget(**selection)

    async def book(self) -> AsyncBook:
        """Return the book itself, for every verb that AutoGen has no name for."""
        return await self._handle.book()

    async def close(self) -> None:
        """Learn from what was said last, if this learns; release the book if this opened it. Its contents stay."""
        try:
            if self._listener is not None:
                await self._listener.finish()
                await self._handle.finish_learning()
        finally:
            await self._handle.close()

    async def _recall(self, options: RecallOptions, query: str) -> Recollection:
        return await self._handle.run(lambda: options.recall(self._handle.open(), query))

    def _to_config(self) -> CommonplaceMemoryConfig:
        options = {field.name: getattr(self._options, field.name) for field in fields(self._options)}
        return CommonplaceMemoryConfig.model_validate(
            {
                **options,
                "max_tokens": "unlimited" if self._options.max_tokens is None else self._options.max_tokens,
                "where": self._handle.where,
                "space": self._handle.space,
                "name": self._name,
                "scope": self._scope,
                "learn": self._listener is not None,
                "session": self._session,
            }
        )

    @classmethod
    def _from_config(cls, config: CommonplaceMemoryConfig) -> Self:
        return cls(**config.arguments())


def shared_memory(
    where: BookLike, *, agent: str, group: str | None = None, writes: Level = "group", **options: Any
) -> CommonplaceMemory:
    """Return a memory for one agent of a group: it finds its own, its group's and everybody's memories.

    `writes` says for whom it writes; `options` are those of CommonplaceMemory. Scopes help to find the right thing and
    do not isolate: groups that must not see each other get a `space` each.
    """
    scopes = {"agent": Scope(agent=agent), "group": Scope(session=group), "global": NOBODY}
    if writes not in scopes:
        raise InvalidInput(f"writes is 'agent', 'group' or 'global', not {writes!r}")
    if writes == "group" and group is None:
        raise InvalidInput("there is no group to write for: name one with group=, or pass writes='agent' or 'global'")
    # Without a group no group's memories are found: an empty tuple names no session.
    within = Within(agents=(agent,), sessions=() if group is None else (group,))
    return CommonplaceMemory(where, scope=scopes[writes], within=within, **options)


def memory_tools(
    where: BookLike, *, space: str | None = None, **options: Unpack[ToolOptions]
) -> list[BaseTool[Any, Any]]:
    """Return the tools remember, recall and forget on one book.

    They write into `scope`, look `within`, and forget only what is in their scope. A book that is opened here stays
    open as long as the program runs; pass an open one to close it yourself.
    """
    functions = make_async_functions(where, explain=False, space=space, **options)
    return [FunctionTool(each, each.__doc__ or "", name=each.__name__) for each in functions]


def _results(found: Recollection, make: Callable[..., MemoryContent]) -> MemoryQueryResult:
    return MemoryQueryResult(results=[*map(make, found.hits), *(make(hit, avoid=True) for hit in found.avoid)])
