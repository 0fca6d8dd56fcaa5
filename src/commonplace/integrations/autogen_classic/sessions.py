"""Which conversation a message belongs to: AutoGen has no name for one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autogen import GroupChatManager

from commonplace.values.times import new_id


@dataclass(slots=True)
class _Conversation:
    session: str
    first: object
    """The message that it began with; another one in its place means that the history was cleared."""
    between: object
    """The two, or the manager of the group: kept, so that its id is not another's."""


class Sessions:
    """Gives each conversation a session: two agents, or a group, from one clearing of their history to the next."""

    def __init__(self, session: str | None) -> None:
        self._session = session
        self._conversations: dict[tuple[int, ...], _Conversation] = {}
        self._lock = threading.Lock()

    def of(self, agent: Any, partner: Any) -> str:
        """The session of what two agents say to each other now."""
        return self._session or self.conversation(agent, partner)

    def conversation(self, agent: Any, partner: Any) -> str:
        """The conversation that two agents are in now, whatever its session is called."""
        between = next((each for each in (agent, partner) if isinstance(each, GroupChatManager)), None)
        if between is None:
            pair = sorted((agent, partner), key=lambda each: (str(getattr(each, "name", "")), id(each)))
            key, first = tuple(map(id, pair)), _first(pair)
        else:
            pair, key, first = [between], (id(between),), (between.groupchat.messages or [None])[0]
        with self._lock:
            known = self._conversations.get(key)
            if known is None or (known.first is not None and known.first is not first):
                known = self._conversations[key] = _Conversation(new_id(), first, pair)
            known.first = first
            return known.session

    def partner(self, agent: Any, messages: Sequence[Any]) -> Any:
        """The partner whose conversation with an agent these messages are; None if it is nobody's."""
        held = [(partner, each[-1]) for partner, each in agent.chat_messages.items() if each]
        same = (partner for partner, last in held if last is messages[-1])
        # A hook may have made copies: AutoGen's TransformMessages does.
        return next(same, next((partner for partner, last in held if last == messages[-1]), None))


def _first(pair: Sequence[Any]) -> object:
    """The first message that one of two has of their conversation: of the same one each time, as each has its own."""
    for one, other in (pair, reversed(pair)):
        histories = getattr(one, "chat_messages", None)
        if histories is not None and histories.get(other):
            return histories[other][0]
    return None
