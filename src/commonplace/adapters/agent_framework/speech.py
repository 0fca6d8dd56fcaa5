"""Who said what, read from Agent Framework's messages."""

from __future__ import annotations

from collections.abc import Sequence

from agent_framework import Message

from commonplace.adapters.hearing import Heard


def question(messages: Sequence[Message]) -> str:
    """The words of an input, of people and of other agents."""
    return "\n".join(message.text for message in messages if message.role in ("user", "assistant"))


def heard(messages: Sequence[Message], *, person: str, agent: str) -> list[Heard]:
    """What was said, in order, by whom; tools, instructions and what a provider put there are no speech."""
    lines = []
    for message in messages:
        if message.role in ("user", "assistant") and "_attribution" not in message.additional_properties:
            by_person = message.role == "user"
            speaker = message.author_name or (person if by_person else agent)
            lines.append(Heard(speaker=speaker, text=message.text, by_person=by_person, mark=message.message_id))
    return lines
