"""Where memory stands in a model context: one message, just above the words it was recalled for.

It is a UserMessage, not a SystemMessage. AssistantAgent puts its own system message before the context: a second one
further down is refused by clients that take only one, or only neighbours, and makes some models answer nothing when it
comes last. Recalled text is data, which a system message would give the developer's authority. And a UserMessage has a
source: by it the message is known again, in a saved state too, and replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage

from commonplace.adapters.words import readable, shortened

MARK = "commonplace_memory"
"""What the source of every injected message begins with; letters that every client takes for a name."""


def source(*known: object) -> str:
    """The source of one memory's messages: the same for the same memory in every process."""
    return f"{MARK}_{hashlib.blake2b(repr(known).encode(), digest_size=6).hexdigest()}"


def is_injected(message: LLMMessage, source: str | None = None) -> bool:
    """Whether a message is memory, of any kind or from one source."""
    if not isinstance(message, UserMessage):
        return False
    return message.source.startswith(MARK) if source is None else message.source == source


async def messages_of(context: ChatCompletionContext) -> list[LLMMessage]:
    """All messages of a context, also those outside of the window that it shows."""
    held = getattr(context, "_messages", None)
    return list(held if isinstance(held, list) else await context.get_messages())


async def replace(context: ChatCompletionContext, source: str, text: str) -> None:
    """Put a text above the last thing said, in place of the one before; an empty text only takes that away.

    What any memory showed before the agent last spoke is of an earlier turn and goes too: every memory shows its own
    again, and a state may have been saved by one that is set up otherwise today.
    """
    before = await messages_of(context)
    spoke = max((at for at, message in enumerate(before) if isinstance(message, AssistantMessage)), default=-1)
    after = [message for at, message in enumerate(before) if not is_injected(message, source if at > spoke else None)]
    if text:
        after.insert(_place(after), UserMessage(content=text, source=source))
    if len(after) == len(before) == 0 or (not text and len(after) == len(before)):
        return
    if isinstance(getattr(context, "_messages", None), list):
        # The public interface can only add and clear, and shows a window: what is outside of it would be lost.
        context._messages = after
    else:
        await context.clear()
        for message in after:
            await context.add_message(message)


def question(messages: Sequence[LLMMessage]) -> str:
    """What was said since the agent last spoke, by people and other agents: no memory, nothing of its own or its tools.

    In a chat that is the user's last message. In a team it is also what the others answered to it.
    """
    own = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    said = [at for at, message in enumerate(messages) if isinstance(message, UserMessage) and not is_injected(message)]
    new = [at for at in said if not own or at > own[-1]] or said[-1:]
    return shortened("\n".join(words(message) for at in new if isinstance(message := messages[at], UserMessage)))


def words(message: UserMessage) -> str:
    """The text of a message without its pictures, and without what no book takes."""
    content = message.content
    text = content if isinstance(content, str) else "\n".join(part for part in content if isinstance(part, str))
    return readable(text)


def _place(messages: Sequence[LLMMessage]) -> int:
    """Before the last words that are not the agent's own, so that they stay last; at the end if there are none."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], UserMessage) and not is_injected(messages[index]):
            return index
    return len(messages)
