"""What a team's state looks like in a book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_agentchat.messages import BaseChatMessage

from commonplace.integrations.exact import unpacked
from commonplace.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The state after a run, and the number of the last message that it knows."""

    after: int
    state: Mapping[str, Any] | None

    @classmethod
    def read(cls, value: Json) -> Saved:
        if not isinstance(value, dict):
            return cls(after=0, state=None)
        after, state = value["after"], unpacked(value["state"])
        return cls(after=after if isinstance(after, int) else 0, state=state if isinstance(state, dict) else None)


def advanced(state: Mapping[str, Any], said: Sequence[BaseChatMessage]) -> Mapping[str, Any]:
    """A state with the turns counted that were taken since, so that it is the next one's turn."""
    agents = state.get("agent_states", {})
    spoke = [message.source for message in said if message.source in agents]
    return {**state, "agent_states": {name: _counted(each, spoke, len(agents) - 1) for name, each in agents.items()}}


def _counted(state: Mapping[str, Any], spoke: Sequence[str], agents: int) -> Mapping[str, Any]:
    if "message_thread" not in state:
        return state
    counted = {**state, "current_turn": state.get("current_turn", 0) + len(spoke)}
    if "next_speaker_index" in state:
        counted["next_speaker_index"] = (state["next_speaker_index"] + len(spoke)) % max(agents, 1)
    if "ready" in state:  # a graph: who has spoken does not begin again
        counted["ready"] = [name for name in state["ready"] if name not in spoke]
    return counted
