"""What memory is asked, and how its answer stands before a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.integrations.autogen_classic.hooks import Messages
from commonplace.integrations.autogen_classic.voices import words
from commonplace.integrations.conversation import shorten


def question(messages: Messages) -> str:
    """What others said since the agent last did: in a chat the last message, in a group all that was said since."""
    return shorten("\n".join(words(messages[at].get("content")) for at in _asked(messages)))


def reminded(messages: Messages, text: str) -> Messages:
    """The messages with a text above the last words of others, in copies; without a text the messages themselves.

    It is put into that message, since some models take no two of one role in a row.
    """
    asked = _asked(messages)
    if not text or not asked:
        return messages
    said = messages[asked[-1]]
    content: Any = said["content"]
    above = unfenced(text)
    more = [{"type": "text", "text": above}, *content] if isinstance(content, list) else f"{above}\n\n{content}"
    return [{**said, "content": more} if each is said else each for each in messages]


def unfenced(text: str) -> str:
    """The text without fences: nothing that was recalled may pass for a block of code to be run."""
    return text.replace("```", "'''")


def _asked(messages: Messages) -> Sequence[int]:
    own = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    said = [at for at, message in enumerate(messages) if _is_said(message)]
    return [at for at in said if not own or at > own[-1]] or said[-1:]


def _is_said(message: dict[str, Any]) -> bool:
    return message.get("role") == "user" and bool(words(message.get("content")).strip())
