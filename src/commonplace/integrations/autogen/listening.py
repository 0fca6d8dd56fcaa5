"""Learning from what an agent hears and says, without making it wait for more than the words to be on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen.injecting import messages_of, words
from commonplace.integrations.autogen.options import Options
from commonplace.integrations.door import Door
from commonplace.integrations.words import readable
from commonplace.values import Scope
from commonplace.values.times import new_id

Key = tuple[str, str]
_KEPT = 10_000
"""Lines that are known to have been heard: agents of one team hear the same, and each would tell it again."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """How far a context was heard."""

    count: int
    last: LLMMessage | None

    def goes_on_in(self, spoken: Sequence[LLMMessage]) -> bool:
        """Whether these are the same messages and later ones; a context may have been cleared, or loaded."""
        return self.count == 0 or (len(spoken) >= self.count and spoken[self.count - 1] == self.last)


class Listener:
    """Gives each new message of a context to `learn`, once; a durable job of the book makes memories of it."""

    def __init__(self, door: Door, scope: Scope, session: str | None) -> None:
        if scope.session is not None:
            raise InvalidInput("what is learned belongs to no session or group: give the group a space of its own")
        self._door = door
        self._scope = scope
        self._session = session or new_id()
        self._heard: WeakKeyDictionary[ChatCompletionContext, _Heard] = WeakKeyDictionary()
        self._told: dict[Key, int] = {}

    def elsewhere(self, options: Options) -> Options:
        """The options without this conversation's own messages: the model has them before it already."""
        others: dict[str, Any] = {"session": {"$ne": self._session}}
        return replace(options, filter=others if options.filter is None else {"$and": [options.filter, others]})

    async def listen(self, context: ChatCompletionContext, messages: Sequence[LLMMessage]) -> None:
        """Learn from what was said since the last time; of a context that is new here, since the agent last spoke."""
        spoken = [message for message in messages if _is_spoken(message)]
        heard = self._heard.get(context)
        start = heard.count if heard is not None and heard.goes_on_in(spoken) else _after_own_words(spoken)
        often: Counter[Key] = Counter()
        lines = []
        for at, line in enumerate(map(_line, spoken)):
            often[_key(line)] += 1
            if at >= start and self._is_new(_key(line), often[_key(line)]):
                lines.append(line)
        try:
            if lines:
                await (await self._door.book()).learn(lines, session=self._session, scope=self._scope)
        except BaseException:
            for line in lines:
                self._told[_key(line)] -= 1
            raise
        self._heard[context] = _Heard(len(spoken), spoken[-1] if spoken else None)
        for old in list(self._told)[:-_KEPT]:
            del self._told[old]

    async def finish(self) -> None:
        """Learn from what agents said last, which they would be heard to have said in their next turn."""
        for context in list(self._heard):
            await self.listen(context, await messages_of(context))
        self._heard.clear()

    def _is_new(self, key: Key, often: int) -> bool:
        """Whether nobody told of a line that stands so often in a conversation: people change their minds, and back."""
        told = self._told.pop(key, 0)
        # Known before it is on disk: another agent that shares this memory may hear the same meanwhile.
        self._told[key] = max(told, often)
        return often > told


def _is_spoken(message: LLMMessage) -> bool:
    """Whether it is something that somebody said: no tool call or result, no picture alone."""
    if isinstance(message, UserMessage):
        return bool(words(message).strip())
    return isinstance(message, AssistantMessage) and isinstance(message.content, str) and bool(message.content.strip())


def _after_own_words(spoken: Sequence[LLMMessage]) -> int:
    own = [index for index, message in enumerate(spoken) if isinstance(message, AssistantMessage)]
    return own[-1] + 1 if own else 0


def _line(message: LLMMessage) -> dict[str, str]:
    if isinstance(message, UserMessage):
        role = "user" if message.source == "user" else "assistant"
        return {"content": words(message), "role": role, "name": message.source}
    assert isinstance(message, AssistantMessage)  # noqa: S101 - _is_spoken left nothing else
    return {"content": readable(str(message.content)), "role": "assistant", "name": message.source}


def _key(line: dict[str, str]) -> Key:
    return line["name"], line["content"]
