"""Hearing what agents say: each message once, with its speaker and its conversation."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from autogen import ConversableAgent, GroupChatManager

from commonplace.integrations.autogen_classic import hooks, voices
from commonplace.integrations.autogen_classic.hooks import Messages
from commonplace.integrations.autogen_classic.sessions import Sessions

Tell = Callable[[dict[str, str], str], None]
"""Takes what was said and the session in which it was."""
_KEPT = 10_000
"""Lines of speakers who are not listened to that are known: several agents hear them, and each would tell them."""


class Listener:
    """Tells what its agents say when they say it, and what they hear from others when they come to answer it.

    A chat's manager says nothing of its own: it passes on what the members said.
    """

    def __init__(self, tell: Tell, session: str | None = None) -> None:
        self._tell = tell
        self.sessions = Sessions(session)
        self._agents: WeakSet[ConversableAgent] = WeakSet()
        self._names: set[str] = set()
        self._last: WeakKeyDictionary[ConversableAgent, dict[int, Any]] = WeakKeyDictionary()
        self._told: dict[tuple[str, str, str], int] = {}
        self._lock = threading.Lock()
        self.on = True

    def add(self, agents: Iterable[ConversableAgent]) -> None:
        """Listen to agents from now on; to listen twice is the same as once."""
        for agent in agents:
            if agent not in self._agents and not isinstance(agent, GroupChatManager):
                self._agents.add(agent)
                self._names.add(agent.name)
                self._last[agent] = {id(each): held[-1] for each, held in agent.chat_messages.items() if held}
                hooks.before_send(agent, self._said)
                hooks.before_reply(agent, partial(self._heard, agent))

    def sweep(self) -> None:
        """Tell what agents heard and nobody answered."""
        for agent in list(self._agents):
            for held in list(agent.chat_messages.values()):
                self._heard(agent, held)

    def _said(self, sender: Any, message: Any, recipient: Any, silent: bool) -> Any:
        line = voices.line(message, sender)
        if self.on and line is not None and not isinstance(message, voices.Kept):
            self._tell(line, self.sessions.of(sender, recipient))
        return message

    def _heard(self, agent: ConversableAgent, messages: Messages) -> Messages:
        if self.on and messages:
            partner = self.sessions.partner(agent, messages)
            # The history itself: what a hook left of it may be the end, or copies.
            told = messages if partner is None else agent.chat_messages[partner]
            start = self._start(agent, partner, told)
            often: Counter[str] = Counter()
            for at, message in enumerate(told):
                if isinstance(message, voices.Kept) or message.get("role") == "assistant" or message.get("tool_calls"):
                    continue
                said = str((message.get("name"), message.get("content")))
                often[said] += 1
                if at >= start:
                    self._hear(agent, partner, message, often[said])
        return messages

    def _hear(self, agent: ConversableAgent, partner: object, message: dict[str, Any], often: int) -> None:
        name = message.get("name") or getattr(partner, "name", None)
        line = voices.line(message, voices.speaker(partner, name), name or "user")
        if line is None or line["name"] in self._names:
            return
        key = (self.sessions.conversation(agent, partner), line["name"], line["content"])
        # Several agents hear it, and each would tell it; but people change their minds, and back.
        with self._lock:
            told = self._told.pop(key, 0)
            self._told[key] = max(told, often)
            for old in list(self._told)[:-_KEPT]:
                del self._told[old]
        if often > told:
            self._tell(line, self.sessions.of(agent, partner))

    def _start(self, agent: ConversableAgent, partner: object, messages: Messages) -> int:
        """Where the messages begin that came after the last one heard of this partner; 0, if in another history."""
        seen = self._last[agent].get(id(partner))
        self._last[agent][id(partner)] = messages[-1]
        return next((at + 1 for at in reversed(range(len(messages))) if messages[at] is seen), 0)
