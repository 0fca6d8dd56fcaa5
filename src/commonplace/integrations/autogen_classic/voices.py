"""AutoGen's messages: what was said in them, by whom, and how they are kept in a transcript and come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen import GroupChatManager, UserProxyAgent

from commonplace.integrations.conversation import clean_text
from commonplace.values import Json, Message

_RAN = "exitcode: "
"""What AutoGen begins the output of code with that it ran."""
_PICTURE = 200_000
"""Characters of a picture's data that a transcript keeps."""


@dataclass(frozen=True, slots=True)
class Person:
    """A speaker who is no agent."""

    name: str


class Kept(dict[str, Any]):
    """A message that came out of a book: it is neither stored nor learned again."""


def words(content: object) -> str:
    """The text of a content, without pictures."""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict)).strip()
    return clean_text(content) if isinstance(content, str) else ""


def line(message: Mapping[str, Any] | str, speaker: object, name: str | None = None) -> dict[str, str] | None:
    """What somebody said, to learn from; None if it is nothing of the kind, such as a call of a tool or its result."""
    said = {"content": message} if isinstance(message, str) else message
    text = words(said.get("content"))
    if not text.strip() or said.get("role") in ("tool", "function", "system") or "tool_responses" in said:
        return None
    role = "user" if isinstance(speaker, (UserProxyAgent, Person)) else "assistant"
    known = name or getattr(speaker, "name", None) or role
    return {"content": text, "role": "tool" if text.startswith(_RAN) else role, "name": known}


def speaker(partner: object, name: str | None) -> object:
    """Who of that name speaks in a conversation: a member of the group that the partner manages, or the partner."""
    if isinstance(partner, GroupChatManager) and name is not None:
        return partner.groupchat.agent_by_name(name)
    return partner or Person(name or "user")


def kept(message: Mapping[str, Any], speaker: str | None = None, **more: Json) -> dict[str, Any]:
    """A message as a transcript takes it, with a name for those who read it; what has no place there is metadata."""
    rest = {key: plain(value) for key, value in message.items() if key not in ("content", "role", "name")}
    metadata: dict[str, Json] = {**more, **({"autogen": rest} if rest else {})}
    if not message.get("name"):
        metadata["unnamed"] = True
    told: dict[str, Any] = {"content": plain(message.get("content")), "role": str(message.get("role") or "user")}
    name = message.get("name") or speaker
    return {**told, **({"name": str(name)} if name else {}), "metadata": metadata}


def restored(told: Message) -> Kept:
    """The message that a line of a transcript was made of."""
    rest: Any = told.metadata.get("autogen") or {}
    named = {} if told.name is None or told.metadata.get("unnamed") else {"name": told.name}
    return Kept({"content": told.content, "role": told.role, **named, **rest})


def whole(told: Sequence[Kept]) -> list[Kept]:
    """The messages without calls of tools that nothing answers, and answers without their call: no model takes them.

    A program may have ended in between, and a window begins anywhere.
    """
    made: list[Kept] = []
    for at, message in enumerate(told):
        answered = at + 1 < len(told) and _is_answer(told[at + 1])
        asked = bool(made) and (_is_call(made[-1]) or _is_answer(made[-1]))
        if (answered or not _is_call(message)) and (asked or not _is_answer(message)):
            made.append(message)
    return made


def _is_call(message: Kept) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call"))


def _is_answer(message: Kept) -> bool:
    return message.get("role") in ("tool", "function") or "tool_responses" in message


def plain(value: object) -> Any:
    """A value as JSON can say it; a picture too large for a transcript is left out, and the place says so."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        if value.get("type") == "image_url" and len(str(value.get("image_url"))) > _PICTURE:
            return {"type": "text", "text": "[a picture was left out]"}
        return {clean_text(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return clean_text(str(value))
