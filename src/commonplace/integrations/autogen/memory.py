"""CommonplaceMemory: a book as the memory of an AutoGen agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autogen_core import CancellationToken, Component
from autogen_core.memory import Memory, MemoryContent, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from typing_extensions import Self

from commonplace.integrations.autogen import contents, injecting
from commonplace.integrations.autogen.cancelling import cancellable
from commonplace.integrations.autogen.keeping import Keeping
from commonplace.integrations.autogen.listening import Listener
from commonplace.integrations.autogen.options import CommonplaceMemoryConfig, Options
from commonplace.integrations.autogen.recalling import Found, recall
from commonplace.integrations.autogen.switching import Switching, in_our_words
from commonplace.integrations.door import Door, Where
from commonplace.integrations.words import readable
from commonplace.values import NOBODY, Order, Scope, Within, checks


class CommonplaceMemory(Keeping, Switching, Memory, Component[CommonplaceMemoryConfig]):
    """A persistent memory that agents, teams and processes share.

    `where` is a path, a URL or an open book (else COMMONPLACE_BOOK, else commonplace.db). `scope` is where `add`
    writes, `within` where recall looks. With `order="time"` every turn gets the newest `k` memories, oldest first; by
    default it gets those that bear on what was said last, and nothing when none does. `learn` makes memories of what
    the agent hears and says.
    """

    component_type = "memory"
    component_config_schema = CommonplaceMemoryConfig
    component_provider_override = "commonplace.integrations.autogen.CommonplaceMemory"

    def __init__(
        self,
        where: Where | None = None,
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
        self._door = Door(where, space)
        self._name = name
        self._scope = checks.scope(scope)
        self._options = Options(
            within=checks.within(within), order=checks.order(order), k=k, threshold=threshold, max_tokens=max_tokens,
            filter=filter, kinds=kinds, tags=tags,
        )  # fmt: skip
        self._listener = Listener(self._door, self._scope, session) if learn else None
        self._session = session

    @property
    def name(self) -> str:
        """The name given, for people to tell memories apart."""
        return self._name or injecting.MARK

    @property
    def source(self) -> str:
        """The source of this memory's messages in a model context: the same for the same memory in any process."""
        return injecting.source(self._name, self._door.where, self._door.space, self._scope, self._options)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put what bears on the last words above them, in place of what stood there for the words before."""
        messages = await injecting.messages_of(model_context)
        options = self._options if self._listener is None else self._listener.elsewhere(self._options)
        found = await recall(self._door, injecting.question(messages), options)
        injecting.show(model_context, self.source, found.text, messages)
        if self._listener is not None:
            await self._listener.listen(model_context, messages)
        return UpdateContextResult(memories=_results(found, contents.shown))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """What bears on the query, the best first, then what to avoid; options as of `Book.recall`, for this once."""
        options = self._options.but(in_our_words(kwargs))
        if options.order == "time" and "max_tokens" not in kwargs:
            options = options.but({"max_tokens": None})  # the budget is the prompt's: a list is returned whole
        work = recall(self._door, readable(contents.text_of(query)), options)
        found = await cancellable(work, cancellation_token)
        return await self._door.run(_results, found, contents.found)

    async def close(self) -> None:
        """Learn from what was said last, if this learns; release the book if this opened it. What it holds stays."""
        try:
            if self._listener is not None:
                await self._listener.finish()
                await self._door.learned()
        finally:
            await self._door.close()

    def _to_config(self) -> CommonplaceMemoryConfig:
        door, learns = self._door, self._listener is not None
        return self._options.config(
            where=door.where, space=door.space, name=self._name, scope=self._scope, learn=learns, session=self._session
        )

    @classmethod
    def _from_config(cls, config: CommonplaceMemoryConfig) -> Self:
        return cls(**config.arguments())


def _results(found: Found, made: Callable[..., MemoryContent]) -> MemoryQueryResult:
    return MemoryQueryResult(results=[*map(made, found.hits), *(made(hit, avoid=True) for hit in found.avoid)])
