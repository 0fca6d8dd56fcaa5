"""Teachability: an AutoGen memory by which an agent learns from what its user tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autogen_core import CancellationToken
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import LLMMessage, UserMessage

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen import contents, context
from commonplace.integrations.autogen.context import run_cancellable
from commonplace.integrations.conversation import clean_text
from commonplace.integrations.tasks import memo
from commonplace.integrations.tasks.controller import MemoryController
from commonplace.integrations.tasks.memo import Memo
from commonplace.values import Origin

_PEOPLE = ("user", "human")
"""What the names of people's messages begin with, as AutoGen names them."""


class Teachability(Memory):
    """Gives an AssistantAgent what it was taught before, and keeps what its user teaches it now.

    At most two questions to the controller's model in one turn, and none without a model. What bears on the user's
    words stands above them, once, in place of what stood there for the words before.
    """

    component_type = "memory"

    def __init__(self, memory_controller: MemoryController, name: str | None = None) -> None:
        self._controller = memory_controller
        self._name = name or "teachability"
        self._considered: tuple[int, str] | None = None

    @property
    def name(self) -> str:
        """The name given, for people to tell memories apart."""
        return self._name

    @property
    def source(self) -> str:
        """The source of this memory's messages in a model context: the same for the same bank in any process."""
        bank = self._controller.memory_bank
        place = (bank.handle.where, bank.handle.space, bank.settings.name, bank.scope)
        return context.make_source("tasks", self._name, *place)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put the memos that bear on the user's last words above them, then keep what these words teach."""
        messages = await context.read_messages(model_context)
        asked = context.question(messages)
        memos = await self._controller.retrieve_relevant_memos(asked) if asked.strip() else []
        context.show(model_context, self.source, memo.section(memos), messages)
        await self._consider(messages)
        return UpdateContextResult(memories=MemoryQueryResult(results=[*map(_content, memos)]))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """The memos that bear on a task, the best first; each with its id in its metadata."""
        if kwargs:
            raise InvalidInput(f"unknown option {next(iter(kwargs))!r}; retrieval is configured in the controller")
        asked = clean_text(contents.query_text(query))
        if not asked.strip():
            return MemoryQueryResult(results=[])
        memos = await run_cancellable(self._controller.retrieve_relevant_memos(asked), cancellation_token)
        return MemoryQueryResult(results=[*map(_content, memos)])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Keep what a text teaches; one that teaches nothing is not kept."""
        taught = clean_text(contents.query_text(content))
        await run_cancellable(self._controller.consider_memo_storage(taught), cancellation_token)

    async def clear(self) -> None:
        """Forget the bank's own memos; nothing else in the book."""
        await self._controller.clear()

    async def close(self) -> None:
        """Release the book if the controller opened it; what it holds stays."""
        await self._controller.close()

    async def _consider(self, messages: Sequence[LLMMessage]) -> None:
        """Keep what new words teach; in a team an agent may speak twice after the same ones."""
        said = context.unanswered_messages(messages)
        text = "\n".join(map(context.words, said))
        if text.strip() and (len(messages), text) != self._considered:
            await self._controller.consider_memo_storage(text, origin=_origin(said))
            self._considered = (len(messages), text)


def _origin(said: Sequence[UserMessage]) -> Origin:
    """Who teaches: people, or also another agent of a team, whom one trusts less."""
    return "user" if all(each.source.lower().startswith(_PEOPLE) for each in said) else "agent"


def _content(each: Memo) -> MemoryContent:
    told = {"id": each.id, "task": each.task, "score": each.relevance, "version": each.version}
    metadata = {name: value for name, value in told.items() if value is not None}
    return MemoryContent(content=each.insight, mime_type=MemoryMimeType.TEXT, metadata=metadata)
