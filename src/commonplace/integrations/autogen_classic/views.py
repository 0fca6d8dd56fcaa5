"""A group chat's messages from where each stands: in the chat, in a member's history, in a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autogen import UserProxyAgent

from commonplace.integrations.autogen_classic.voices import Kept, Person


def in_chat(earlier: Sequence[Kept]) -> list[dict[str, Any]]:
    """Messages as a chat has them, where everybody who speaks is a user."""
    return [each if _is_tool(each) else Kept({**each, "role": "user"}) for each in earlier]


def heard(message: Kept, agent: Any) -> Kept:
    """A message as it stands in the history of one of the chat's agents."""
    if _is_tool(message):
        return message
    own = message.get("name") == agent.name or message.get("tool_calls") or message.get("function_call")
    return Kept({**message, "role": "assistant" if own else "user"})


def role(message: Mapping[str, Any], speaker: object) -> str:
    """The role of a message in a memory, which tells people and agents apart."""
    if _is_tool(message):
        return str(message["role"])
    return "user" if isinstance(speaker, (UserProxyAgent, Person)) else "assistant"


def _is_tool(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("tool", "function")
