"""What a team's state and messages look like in a book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_agentchat.base import Team
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage, MessageFactory
from pydantic_core import to_jsonable_python

from commonplace.adapters.autogen.injecting import MARK, readable
from commonplace.values import Json, Message

DUMP = "autogen"
"""The key in a message's metadata under which the whole of it stands, to make it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The state after a run, and the number of the last message that it knows."""

    after: int
    state: Mapping[str, Any] | None

    @classmethod
    def read(cls, value: Json) -> Saved:
        if not isinstance(value, dict):
            return cls(after=0, state=None)
        after, state = value["after"], value["state"]
        return cls(after=after if isinstance(after, int) else 0, state=state if isinstance(state, dict) else None)


def line(message: BaseAgentEvent | BaseChatMessage) -> dict[str, object]:
    """A message for a transcript: its text for readers, and all of it to make it again."""
    role = "user" if message.source == "user" else "assistant"
    if isinstance(message, BaseAgentEvent):
        role = "tool"
    dump = to_jsonable_python(message.dump())
    return {"content": readable(message.to_text()), "role": role, "name": message.source, "metadata": {DUMP: dump}}


def chat(said: Sequence[Message], team: Team) -> list[BaseChatMessage]:
    """The chat messages among what was said; events are told by nobody."""
    # A team of structured messages knows their types, and keeps them to itself.
    factory: MessageFactory = getattr(team, "_message_factory", None) or MessageFactory()
    made = [factory.create(each.metadata[DUMP]) for each in said if isinstance(each.metadata.get(DUMP), dict)]  # type: ignore[arg-type]  # a dict, as just asked
    return [each for each in made if isinstance(each, BaseChatMessage)]


def without_memory(state: Any) -> Any:
    """A state for JSON, without the memory that was before the models: it is recalled afresh, or was forgotten."""
    return _without_memory(to_jsonable_python(state))


def advanced(state: Mapping[str, Any], said: Sequence[BaseChatMessage]) -> Mapping[str, Any]:
    """A state with the turns counted that were taken since, so that it is the next one's turn."""
    agents = state.get("agent_states", {})
    turns = sum(1 for message in said if message.source in agents)
    return {**state, "agent_states": {name: _counted(each, turns, len(agents) - 1) for name, each in agents.items()}}


def _counted(state: Mapping[str, Any], turns: int, agents: int) -> Mapping[str, Any]:
    if "message_thread" not in state:
        return state
    counted = {**state, "current_turn": state.get("current_turn", 0) + turns}
    if "next_speaker_index" in state:
        counted["next_speaker_index"] = (state["next_speaker_index"] + turns) % max(agents, 1)
    return counted


def _without_memory(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_memory(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_memory(each) for each in value if not _is_memory(each)]
    return value


def _is_memory(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "UserMessage" and str(value.get("source")).startswith(MARK)
