"""Who said what, read from Agent Framework's messages."""

from __future__ import annotations

from collections.abc import Sequence

from agent_framework import Message

from commonplace.integrations.hearing import Heard


def question(messages: Sequence[Message]) -> str:
    """The words of an input, of people and of other agents."""
    return "\n".join(message.text for message in messages if message.role in ("user", "assistant"))


def heard(told: Sequence[Message], answered: Sequence[Message], *, person: str, agent: str) -> list[Heard]:
    """What was said, in order, by whom; tools, instructions and what a provider put there are no speech.

    Some callers tell a conversation from its beginning each time: only the last of what they tell is new for certain.
    """
    spoken = [message for message in told if _is_spoken(message)]
    new = [*spoken[-1:], *(message for message in answered if _is_spoken(message))]
    return [_line(message, person, agent, new=False) for message in spoken[:-1]] + [
        _line(message, person, agent, new=True) for message in new
    ]


def _is_spoken(message: Message) -> bool:
    return message.role in ("user", "assistant") and "_attribution" not in message.additional_properties


def _line(message: Message, person: str, agent: str, *, new: bool) -> Heard:
    by_person = message.role == "user"
    speaker = message.author_name or (person if by_person else agent)
    return Heard(speaker=speaker, text=message.text, by_person=by_person, new=new)
