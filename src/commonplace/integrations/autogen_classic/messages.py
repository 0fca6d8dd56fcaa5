"""AutoGen's messages: the words and the speaker of one, and how a transcript stores and restores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen import GroupChatManager, UserProxyAgent

from commonplace import Message
from commonplace.integrations.conversation import clean_text
from commonplace.values import Json

_RAN = "exitcode: "
"""Prefix of the output of code that AutoGen ran."""
_PICTURE = 200_000
"""Characters of a picture's data that a transcript stores."""


@dataclass(frozen=True, slots=True)
class Person:
    """A speaker who is no agent."""

    name: str


class RestoredMessage(dict[str, Any]):
    """A message that came out of a book: it is neither stored nor learned again."""


def content_text(content: object) -> str:
    """Return the text of a content, without pictures."""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict)).strip()
    return clean_text(content) if isinstance(content, str) else ""


def spoken_line(message: Mapping[str, Any] | str, speaker: object, name: str | None = None) -> dict[str, str] | None:
    """Return what somebody said, to learn from; None for a tool call, its result or a system message."""
    said = {"content": message} if isinstance(message, str) else message
    text = content_text(said.get("content"))
    if not text.strip() or said.get("role") in ("tool", "function", "system") or "tool_responses" in said:
        return None
    role = _speaker_role(speaker)
    known = name or getattr(speaker, "name", None) or role
    return {"content": text, "role": "tool" if text.startswith(_RAN) else role, "name": known}


def find_speaker(partner: object, name: str | None) -> object:
    """Return who speaks under a name: a member of the group that the partner manages, or the partner."""
    if isinstance(partner, GroupChatManager) and name is not None:
        return partner.groupchat.agent_by_name(name)
    return partner or Person(name or "user")


def to_transcript(message: Mapping[str, Any], speaker: str | None = None, **more: Json) -> dict[str, Any]:
    """Return a message as a transcript takes it, named for people who read it; other fields go into metadata."""
    rest = {key: to_json(value) for key, value in message.items() if key not in ("content", "role", "name")}
    metadata: dict[str, Json] = {**more, **({"autogen": rest} if rest else {})}
    if not message.get("name"):
        metadata["unnamed"] = True
    line: dict[str, Any] = {"content": to_json(message.get("content")), "role": str(message.get("role") or "user")}
    name = message.get("name") or speaker
    return {**line, **({"name": str(name)} if name else {}), "metadata": metadata}


def from_transcript(message: Message) -> RestoredMessage:
    """Return the message that `to_transcript` was given."""
    rest: Any = message.metadata.get("autogen") or {}
    named = {} if message.name is None or message.metadata.get("unnamed") else {"name": message.name}
    return RestoredMessage({"content": message.content, "role": message.role, **named, **rest})


def drop_unpaired(messages: Sequence[RestoredMessage]) -> list[RestoredMessage]:
    """Return the messages without tool calls that have no answer and answers that have no call: no model takes them.

    A program may have ended in between, and a window begins anywhere.
    """
    made: list[RestoredMessage] = []
    for at, message in enumerate(messages):
        answered = at + 1 < len(messages) and _is_answer(messages[at + 1])
        asked = bool(made) and (_is_call(made[-1]) or _is_answer(made[-1]))
        if (answered or not _is_call(message)) and (asked or not _is_answer(message)):
            made.append(message)
    return made


def to_json(value: object) -> Any:
    """Return a value as JSON; a picture that is too large for a transcript is replaced by a note."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        if value.get("type") == "image_url" and len(str(value.get("image_url"))) > _PICTURE:
            return {"type": "text", "text": "[a picture was left out]"}
        return {clean_text(str(key)): to_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(each) for each in value]
    return clean_text(str(value))


def for_chat(messages: Sequence[RestoredMessage]) -> list[dict[str, Any]]:
    """Return messages as a group chat has them, where everybody who speaks is a user."""
    return [each if _is_tool(each) else RestoredMessage({**each, "role": "user"}) for each in messages]


def for_agent(message: RestoredMessage, agent: Any) -> RestoredMessage:
    """Return a message of a group chat as it stands in the history of one of its agents."""
    if _is_tool(message):
        return message
    own = message.get("name") == agent.name or _is_call(message)
    return RestoredMessage({**message, "role": "assistant" if own else "user"})


def for_memory(message: Mapping[str, Any], speaker: object) -> dict[str, Any]:
    """Return a message of a group chat as a memory has it, whose role tells people and agents apart."""
    return {**message, "role": str(message["role"]) if _is_tool(message) else _speaker_role(speaker)}


def _is_tool(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("tool", "function")


def _speaker_role(speaker: object) -> str:
    return "user" if isinstance(speaker, (UserProxyAgent, Person)) else "assistant"


def _is_call(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call"))


def _is_answer(message: Mapping[str, Any]) -> bool:
    return _is_tool(message) or "tool_responses" in message
