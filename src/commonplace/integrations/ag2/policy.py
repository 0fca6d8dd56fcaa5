"""RecallPolicy: before each call of the model, what bears on the words that it is to answer."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ag2.context import ConversationContext
from ag2.events import BaseEvent, ModelRequest, TextInput

from commonplace.aio import AsyncBook
from commonplace.integrations.ag2.speech import MARK, is_memory, question
from commonplace.integrations.door import Door, Where
from commonplace.integrations.recalling import Wanted
from commonplace.values import Recall, Scope, Within


class RecallPolicy:
    """An assembly policy that shows the model what a book knows; the stream never holds it.

    `where` is a path, a URL or an open book (else COMMONPLACE_BOOK, else commonplace.db). The memory is the first part
    of the last request, so that the words stay last and no provider meets a second system message or two user messages
    in a row. Nothing is added when nothing bears on the words.
    """

    name = "commonplace_memory"

    def __init__(
        self,
        where: Where | None = None,
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
        self._door = Door(where, space)
        self._wanted = Wanted(
            within=within, k=k, threshold=threshold, max_tokens=max_tokens, filter=filter, kinds=kinds, tags=tags
        )
        known = repr((self._door.where, self._door.space, self._wanted)).encode()
        self._source = hashlib.blake2b(known, digest_size=6).hexdigest()

    async def apply(
        self, prompts: list[str], events: list[BaseEvent], context: ConversationContext
    ) -> tuple[list[str], list[BaseEvent]]:
        """Put what bears on the last words in front of them, for this call only."""
        asked = [(at, event) for at, event in enumerate(events) if isinstance(event, ModelRequest)]
        if not asked:
            return prompts, events
        last, shown = asked[-1]
        found = await self._door.run(self._recall, question(events), str(context.stream.id))
        parts = [part for part in shown.parts if not is_memory(part, self._source)]
        if found is not None:
            others = sum(1 for part in parts if is_memory(part))  # of other policies, which stand first, too
            parts.insert(others, TextInput(found.text, metadata={MARK: self._source}))
        changed = copy.copy(shown)
        changed.parts = parts
        return prompts, [*events[:last], changed, *events[last + 1 :]]

    async def book(self) -> AsyncBook:
        """The book itself, with every verb."""
        return await self._door.book()

    async def close(self) -> None:
        """Release the book if this policy opened it; what it holds stays."""
        await self._door.close()

    def _recall(self, words: str, conversation: str) -> Recall | None:
        return self._wanted.recall(self._door.open(), words, besides=conversation)
