"""RecallPolicy, LearnAggregate and memory_tools: what AG2's agents recall, what is learned from them, their tools."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ag2.context import ConversationContext
from ag2.events import (
    BaseEvent,
    DataInput,
    HumanInputRequest,
    HumanMessage,
    Input,
    ModelRequest,
    ModelResponse,
    TaskStarted,
    TextInput,
    ToolApprovalRequest,
)
from ag2.knowledge import KnowledgeStore
from ag2.tools import tool
from ag2.tools.final import FunctionTool
from ag2.utils import AGENT_CONTEXT_DEPENDENCY_KEY
from pydantic import Field
from typing_extensions import Unpack

from commonplace import AsyncBook
from commonplace.integrations.conversation import RecallOptions, SpokenLine, TranscriptListener, clean_text, shorten
from commonplace.integrations.handle import BookHandle, BookLike
from commonplace.integrations.tools import ToolOptions, make_async_functions
from commonplace.values import NOBODY, Origin, Scope, Within, checks

_MARK = "commonplace_memory"
"""The key in the metadata of an input that shows memory; its value names the policy that put it there."""


class RecallPolicy:
    """An assembly policy that shows the model what a book knows; the stream never holds it.

    `where` is a path, a URL or an open book (else COMMONPLACE_BOOK, else commonplace.db). Memory is the first part of
    the last request: the words stay last, and no provider gets a second system message or two user messages in a row.
    Nothing is added when nothing is relevant to the words.
    """

    name = "commonplace_memory"

    def __init__(
        self,
        where: BookLike | None = None,
        *,
        space: str | None = None,
        within: Within | Scope | None = None,
        k: int = 10,
        threshold: float | None = None,
        max_tokens: int | None = 2000,
        filter: Mapping[str, Any] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> None:
        self._handle = BookHandle(where, space)
        self._options = RecallOptions(
            within=within, k=k, threshold=threshold, max_tokens=max_tokens, filter=filter, kinds=kinds, tags=tags
        )
        identity = repr((self._handle.where, self._handle.space, self._options)).encode()
        self._source = hashlib.blake2b(identity, digest_size=6).hexdigest()

    async def apply(
        self, prompts: list[str], events: list[BaseEvent], context: ConversationContext
    ) -> tuple[list[str], list[BaseEvent]]:
        """Put what is relevant to the last words in front of them, for this call only."""
        requests = [(at, event) for at, event in enumerate(events) if isinstance(event, ModelRequest)]
        if not requests:
            return prompts, events
        at, request = requests[-1]
        options, query = self._options.outside(str(context.stream.id)), question(events)
        found = await self._handle.run(lambda: options.recall(self._handle.open(), query))
        parts = [part for part in request.parts if part.metadata.get(_MARK) != self._source]
        if found.text:
            others = sum(1 for part in parts if _is_memory(part))  # of other policies, which also stand first
            parts.insert(others, TextInput(found.text, metadata={_MARK: self._source}))
        changed = copy.copy(request)
        changed.parts = parts
        return prompts, [*events[:at], changed, *events[at + 1 :]]

    async def book(self) -> AsyncBook:
        """Return the book itself, with every verb."""
        return await self._handle.book()

    async def close(self) -> None:
        """Release the book if this policy opened it; its contents stay."""
        await self._handle.close()


class LearnAggregate:
    """An aggregate strategy that learns from each thing said, once; it asks no model and writes nothing to the store.

    Use it with `AggregateTrigger(on_end=True)`. `person` is who asks the agent; for an agent that other agents ask,
    pass their name and `origin="agent"`, so that nothing of it overrules what a person said.
    """

    def __init__(
        self,
        where: BookLike | None = None,
        *,
        space: str | None = None,
        scope: Scope = NOBODY,
        tags: Sequence[str] = (),
        person: str | None = None,
        origin: Origin | None = None,
    ) -> None:
        self._handle = BookHandle(where, space)
        self._listener = TranscriptListener(checks.scope(scope), checks.tags(tags), origin)
        self._person = person or scope.user or "user"

    async def aggregate(self, events: list[BaseEvent], context: ConversationContext, store: KnowledgeStore) -> None:
        """Learn from what is new in the stream; when this returns it is on disk."""
        agent = getattr(context.dependencies.get(AGENT_CONTEXT_DEPENDENCY_KEY), "name", "assistant")
        lines, session = spoken_lines(events, person=self._person, agent=agent), str(context.stream.id)
        await self._handle.run(lambda: self._listener.listen(self._handle.open(), session, lines))

    async def book(self) -> AsyncBook:
        """Return the book itself, with every verb."""
        return await self._handle.book()

    async def close(self) -> None:
        """Extract memories from what was said, and release the book if this opened it; its contents stay."""
        await self._handle.finish_learning()
        await self._handle.close()


def memory_tools(
    where: BookLike | None = None, *, space: str | None = None, **options: Unpack[ToolOptions]
) -> list[FunctionTool]:
    """Return the tools remember, recall and forget on one book.

    They write into `scope`, look `within`, and forget only what is in their scope. A book that is opened here stays
    open as long as the program runs; pass an open one to close it yourself.
    """
    functions = make_async_functions(
        where, explain=True, space=space, describe=lambda text: Field(description=text), **options
    )
    return [tool(each, name=each.__name__, description=each.__doc__) for each in functions]


def _describe(text: str) -> object:
    return Field(description=text)


def question(events: Sequence[BaseEvent]) -> str:
    """Return what was asked since the agent last ended its turn: nothing of its own, of its tools, or of a memory."""
    ended = [at for at, event in enumerate(events) if isinstance(event, ModelResponse) and not event.tool_calls]
    asked = [(at, event) for at, event in enumerate(events) if isinstance(event, ModelRequest)]
    new = [each for each in asked if not ended or each[0] > ended[-1]] or asked[-1:]
    return shorten(clean_text("\n".join(_words(request) for _, request in new)))


def spoken_lines(events: Sequence[BaseEvent], *, person: str, agent: str) -> list[SpokenLine]:
    """Return what `person` and `agent` said to each other, in order, without tools, approvals and summaries."""
    tasks: dict[str | None, str] = {e.task_id: e.agent_name for e in events if isinstance(e, TaskStarted)}
    approvals = {event.id for event in events if isinstance(event, ToolApprovalRequest)}
    lines = []
    for event in events:
        if isinstance(event, ModelRequest):
            lines.append(_line(event, person, _words(event), by_person=True))
        elif isinstance(event, HumanMessage) and event.parent_id not in approvals:
            lines.append(_line(event, person, event.content, by_person=True))
        elif isinstance(event, ModelResponse):
            lines.append(_line(event, agent, event.content or "", by_person=False))
        elif isinstance(event, HumanInputRequest) and event.id not in approvals:
            lines.append(_line(event, tasks.get(event.task_id, agent), event.content, by_person=False))
    return lines


def _line(event: BaseEvent, speaker: str, text: str, *, by_person: bool) -> SpokenLine:
    at = event.created_at
    said_at = datetime.fromtimestamp(at, timezone.utc)
    return SpokenLine(speaker=speaker, text=text, by_person=by_person, mark=at, said_at=said_at)


def _words(request: ModelRequest) -> str:
    """Return the text of a request without its pictures, its files and memory."""
    said = []
    for part in request.parts:
        if isinstance(part, TextInput) and not _is_memory(part):
            said.append(part.content)
        elif isinstance(part, DataInput):
            said.append(json.dumps(part.data, default=str, ensure_ascii=False, skipkeys=True))
    return "\n".join(said)


def _is_memory(part: Input) -> bool:
    return part.metadata.get(_MARK) is not None
