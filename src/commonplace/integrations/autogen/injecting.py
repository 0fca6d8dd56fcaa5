"""Where memory stands before a model: one message, just above the words it was recalled for, and in no state.

It is a UserMessage, not a SystemMessage. AssistantAgent puts its own system message before the context: a second one
further down is refused by clients that take only one, or only neighbours, and makes some models answer nothing when it
comes last. Recalled text is data, which a system message would give the developer's authority.

It is laid over the context's messages when they are read, and is never among those that the context keeps: they are
what was said, they are what `save_state` writes, and a buffer of ten holds ten of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage

from commonplace.integrations.words import readable, shortened

MARK = "commonplace_memory"
"""What the source of every injected message begins with; letters that every client takes for a name."""


class Overlay:
    """A context's `get_messages` with memory: what each source shows, as long as the words that it is for are last."""

    def __init__(self, below: Callable[[], Awaitable[list[LLMMessage]]]) -> None:
        self._below = below
        self._shown: dict[str, tuple[LLMMessage | None, str]] = {}

    async def __call__(self) -> list[LLMMessage]:
        messages = list(await self._below())
        words = last_words(messages)
        place = len(messages) if words is None else words
        said = None if words is None else messages[words]
        memory = [UserMessage(content=text, source=by) for by, (under, text) in self._shown.items() if under == said]
        return [*messages[:place], *memory, *messages[place:]]

    def show(self, source: str, text: str, under: LLMMessage | None) -> None:
        """Show a text above a message, in place of what this source showed before; an empty text is not shown."""
        self._shown.pop(source, None)
        if text:
            self._shown[source] = (under, text)


def source(*known: object) -> str:
    """The source of one memory's messages: the same for the same memory in every process."""
    return f"{MARK}_{hashlib.blake2b(repr(known).encode(), digest_size=6).hexdigest()}"


def show(context: ChatCompletionContext, source: str, text: str, messages: Sequence[LLMMessage]) -> None:
    """Let whoever reads the context see a text above the last thing said; `messages` are those of the context."""
    overlay = vars(context).get("get_messages")
    if not isinstance(overlay, Overlay):
        # AutoGen has no way to show a message without keeping it: this one context reads through ours from now on.
        overlay = vars(context)["get_messages"] = Overlay(context.get_messages)
    words = last_words(messages)
    overlay.show(source, text, None if words is None else messages[words])


async def messages_of(context: ChatCompletionContext) -> list[LLMMessage]:
    """All that was said in a context, also what is outside of the window that it shows; no memory."""
    held = getattr(context, "_messages", None)  # empty, if a context of one's own keeps them elsewhere
    messages = held if isinstance(held, list) and held else await context.get_messages()
    return [message for message in messages if not is_injected(message)]


def is_injected(message: LLMMessage) -> bool:
    """Whether a message is memory."""
    return isinstance(message, UserMessage) and message.source.startswith(MARK)


def last_words(messages: Sequence[LLMMessage]) -> int | None:
    """Where the last words stand that are not the agent's own or its tools'."""
    said = (at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], UserMessage))
    return next(said, None)


def unanswered(messages: Sequence[LLMMessage]) -> list[UserMessage]:
    """What was said since the agent last spoke, by people and other agents: nothing of its own or its tools."""
    own = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    return [each for each in messages[own[-1] if own else 0 :] if isinstance(each, UserMessage)]


def question(messages: Sequence[LLMMessage]) -> str:
    """What memory is asked for: what the agent has not answered yet, or what it answered last.

    In a chat that is the user's last message. In a team it is also what the others answered to it.
    """
    said = [each for each in messages if isinstance(each, UserMessage)]
    return shortened("\n".join(map(words, unanswered(messages) or said[-1:])))


def words(message: UserMessage) -> str:
    """The text of a message without its pictures, and without what no book takes."""
    content = message.content
    text = content if isinstance(content, str) else "\n".join(part for part in content if isinstance(part, str))
    return readable(text)
