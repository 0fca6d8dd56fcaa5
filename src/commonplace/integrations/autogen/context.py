"""A model context of AutoGen: memory shown above the last words said in it, and lines learned from it.

Memory is shown as a UserMessage, not a SystemMessage. AssistantAgent puts its own system message before the context:
clients that take only one refuse a second one further down, and some models answer nothing when it comes last. Recalled
text is data, which a system message would give the developer's authority.

It is laid over the context's messages when they are read and is never among those that the context keeps: they are what
was said, `save_state` writes them, and a buffer of ten holds ten of them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from autogen_core import CancellationToken
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage

from commonplace.integrations.conversation import HeardLines, clean_text, ensure_no_session, shorten
from commonplace.integrations.handle import BookHandle
from commonplace.values import Scope

MARK = "commonplace_memory"
"""Prefix of the source of every message that shows memory; letters that every client accepts as a name."""

T = TypeVar("T")


class Overlay:
    """A context's `get_messages` with memory: what each source shows, as long as the words it is for are the last."""

    def __init__(self, below: Callable[[], Awaitable[list[LLMMessage]]]) -> None:
        self._below = below
        self._shown: dict[str, tuple[LLMMessage | None, str]] = {}

    async def __call__(self) -> list[LLMMessage]:
        messages = list(await self._below())
        at = _last_words(messages)
        place = len(messages) if at is None else at
        last = None if at is None else messages[at]
        memory = [UserMessage(content=text, source=by) for by, (under, text) in self._shown.items() if under == last]
        return [*messages[:place], *memory, *messages[place:]]

    def show(self, source: str, text: str, under: LLMMessage | None) -> None:
        """Show a text above a message, in place of what this source showed before; an empty text is not shown."""
        self._shown.pop(source, None)
        if text:
            self._shown[source] = (under, text)


def make_source(*identity: object) -> str:
    """Return the source of one memory's messages: the same for the same memory in every process."""
    return f"{MARK}_{hashlib.blake2b(repr(identity).encode(), digest_size=6).hexdigest()}"


def show(context: ChatCompletionContext, source: str, text: str, messages: Sequence[LLMMessage]) -> None:
    """Show a text above the last words to whoever reads the context; `messages` are those of the context."""
    overlay = vars(context).get("get_messages")
    if not isinstance(overlay, Overlay):
        # AutoGen has no way to show a message without keeping it: this one context reads through ours from now on.
        overlay = vars(context)["get_messages"] = Overlay(context.get_messages)
    at = _last_words(messages)
    overlay.show(source, text, None if at is None else messages[at])


async def read_messages(context: ChatCompletionContext) -> list[LLMMessage]:
    """Return all that was said in a context, also outside of the window that it shows, without memory."""
    held = getattr(context, "_messages", None)  # empty, if a custom context keeps them elsewhere
    messages = held if isinstance(held, list) and held else await context.get_messages()
    return [each for each in messages if not (isinstance(each, UserMessage) and each.source.startswith(MARK))]


def unanswered_messages(messages: Sequence[LLMMessage]) -> list[UserMessage]:
    """Return what people and other agents said since the agent last spoke."""
    own = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    return [each for each in messages[own[-1] if own else 0 :] if isinstance(each, UserMessage)]


def question(messages: Sequence[LLMMessage]) -> str:
    """Return the query for memory: what the agent has not answered yet, or what it answered last.

    In a chat that is the user's last message. In a team it includes what other agents answered to it.
    """
    said = [each for each in messages if isinstance(each, UserMessage)]
    return shorten("\n".join(map(words, unanswered_messages(messages) or said[-1:])))


def words(message: UserMessage) -> str:
    """Return the text of a message without its pictures."""
    content = message.content
    text = content if isinstance(content, str) else "\n".join(part for part in content if isinstance(part, str))
    return clean_text(text)


async def run_cancellable(work: Coroutine[Any, Any, T], token: CancellationToken | None) -> T:
    """Await work that a token may cancel; if the token is cancelled already, the work does not begin."""
    task = asyncio.ensure_future(work)
    if token is not None:
        token.link_future(task)
    return await task


@dataclass(frozen=True, slots=True)
class _Position:
    """How far a context was heard."""

    count: int
    last: LLMMessage | None

    def precedes(self, spoken: Sequence[LLMMessage]) -> bool:
        """Return whether these are the same messages and later ones: a context may have been cleared or loaded."""
        return self.count == 0 or (len(spoken) >= self.count and spoken[self.count - 1] == self.last)


class ContextListener:
    """Learns from each new message of the contexts that it is given, once."""

    def __init__(self, handle: BookHandle, scope: Scope, session: str | None) -> None:
        ensure_no_session(scope)
        self.session = session or uuid4().hex
        self._handle = handle
        self._scope = scope
        self._heard: WeakKeyDictionary[ChatCompletionContext, _Position] = WeakKeyDictionary()
        self._lines = HeardLines()

    async def listen(self, context: ChatCompletionContext, messages: Sequence[LLMMessage]) -> None:
        """Learn from what was said since the last time; in a context that is new here, since the agent last spoke."""
        spoken = [(message, line) for message in messages if (line := _line(message)) is not None]
        told = [message for message, _ in spoken]
        before = self._heard.get(context)
        start = before.count if before is not None and before.precedes(told) else _after_own_words(told)
        counts: Counter[tuple[str, str]] = Counter()
        new = []
        for at, (_, line) in enumerate(spoken):
            counts[_key(line)] += 1
            # Noted before it is on disk: another agent that shares this memory may hear the same meanwhile.
            if at >= start and self._lines.add(_key(line), counts[_key(line)]):
                new.append(line)
        try:
            if new:
                await (await self._handle.book()).learn(new, session=self.session, scope=self._scope)
        except BaseException:
            for line in new:
                self._lines.remove(_key(line))
            raise
        self._heard[context] = _Position(len(told), told[-1] if told else None)

    async def finish(self) -> None:
        """Learn from what agents said last, which would be heard in their next turn."""
        for context in list(self._heard):
            await self.listen(context, await read_messages(context))
        self._heard.clear()


def _line(message: LLMMessage) -> dict[str, str] | None:
    """Return what somebody said; None for a tool call or result, and for a picture alone."""
    if isinstance(message, UserMessage):
        text, role = words(message), "user" if message.source == "user" else "assistant"
    elif isinstance(message, AssistantMessage) and isinstance(message.content, str):
        text, role = clean_text(message.content), "assistant"
    else:
        return None
    return {"content": text, "role": role, "name": message.source} if text.strip() else None


def _key(line: dict[str, str]) -> tuple[str, str]:
    return line["name"], line["content"]


def _after_own_words(spoken: Sequence[LLMMessage]) -> int:
    own = [index for index, message in enumerate(spoken) if isinstance(message, AssistantMessage)]
    return own[-1] + 1 if own else 0


def _last_words(messages: Sequence[LLMMessage]) -> int | None:
    """Return where the last words stand that are not the agent's own or its tools'."""
    said = (at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], UserMessage))
    return next(said, None)
