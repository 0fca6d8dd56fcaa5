"""Teachability: an AutoGen memory with which an agent learns from its user."""

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
from commonplace.integrations.tasks.controller import MemoryController
from commonplace.integrations.tasks.memo import Memo, quote_memos
from commonplace.values import Origin

_PEOPLE = ("user", "human")
"""How the sources of people's messages begin in AutoGen."""


class Teachability(Memory):
    """Gives an AssistantAgent what it was taught before, and keeps what its user teaches it now.

    A turn takes at most two questions to the controller's model, and none without a model. Memos stand once, above the
    user's last words.
    """

    component_type = "memory"

    def __init__(self, memory_controller: MemoryController, name: str | None = None) -> None:
        self._controller = memory_controller
        self._name = name or "teachability"
        self._considered: tuple[int, str] | None = None

    @property
    def name(self) -> str:
        """The name given, by which people distinguish memories."""
        return self._name

    @property
    def source(self) -> str:
        """The source of this memory's messages in a model context: the same for the same bank in any process."""
        bank = self._controller.memory_bank
        place = (bank.handle.where, bank.handle.space, bank.settings.name, bank.scope)
        return context.make_source("tasks", self._name, *place)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put the memos that help with the user's last words above them, then keep what these words teach."""
        messages = await context.read_messages(model_context)
        query = context.question(messages)
        memos = await self._controller.retrieve_relevant_memos(query) if query.strip() else []
        context.show(model_context, self.source, quote_memos(memos), messages)
        await self._consider(messages)
        return UpdateContextResult(memories=MemoryQueryResult(results=[*map(_content, memos)]))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return the memos that help with a task, best first; the metadata of each has its id."""
        if kwargs:
            raise InvalidInput(f"unknown option {next(iter(kwargs))!r}; retrieval is configured in the controller")
        asked = clean_text(contents.query_text(query))
        if not asked.strip():
            return MemoryQueryResult(results=[])
        memos = await run_cancellable(self._controller.retrieve_relevant_memos(asked), cancellation_token)
        return MemoryQueryResult(results=[*map(_content, memos)])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Keep the advice in a text; a text without any is not kept."""
        taught = clean_text(contents.query_text(content))
        await run_cancellable(self._controller.consider_memo_storage(taught), cancellation_token)

    async def clear(self) -> None:
        """Forget the bank's own memos, and nothing else in the book."""
        await self._controller.clear()

    async def close(self) -> None:
        """Close the book unless it was given."""
        await self._controller.close()

    async def _consider(self, messages: Sequence[LLMMessage]) -> None:
        """Keep what new words teach. In a team, an agent may speak twice after the same words."""
        said = context.unanswered_messages(messages)
        text = "\n".join(map(context.words, said))
        if text.strip() and (len(messages), text) != self._considered:
            await self._controller.consider_memo_storage(text, origin=_origin(said))
            self._considered = (len(messages), text)


def _origin(said: Sequence[UserMessage]) -> Origin:
    """Return "user" if people alone spoke, otherwise "agent", which is trusted less."""
    return "user" if all(each.source.lower().startswith(_PEOPLE) for each in said) else "agent"


def _content(each: Memo) -> MemoryContent:
    known = {"id": each.id, "task": each.task, "score": each.relevance, "version": each.version}
    metadata = {name: value for name, value in known.items() if value is not None}
    return MemoryContent(content=each.insight, mime_type=MemoryMimeType.TEXT, metadata=metadata)
