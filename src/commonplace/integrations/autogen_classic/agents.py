"""Agents that continue after a restart: Persistent, PersistentAgent and StatefulAgent, with their Notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakSet

from autogen import ConversableAgent, UserProxyAgent

from commonplace import KeyValue, Transcript
from commonplace.errors import Conflict, InvalidInput
from commonplace.integrations.autogen_classic import messages
from commonplace.integrations.autogen_classic.messages import RestoredMessage
from commonplace.integrations.handle import BookLike, open_shared


class Notes:
    """Key-value state of a book that several processes write; keys in `computed` are read-only."""

    def __init__(self, entries: KeyValue, computed: Mapping[str, Callable[[], Any]] | None = None) -> None:
        self._entries = entries
        self._computed = computed or {}

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under a key, or `default` if there is none."""
        return self._computed[key]() if key in self._computed else self._entries.get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Set a JSON value; when this returns it is on disk. None deletes."""
        if key in self._computed:
            raise InvalidInput(f"{key} is stored message by message and cannot be set")
        if value is None:
            self._entries.delete(key)
        else:
            self._entries.set(key, value)

    def delete(self, key: str) -> bool:
        """Delete a value; False if there was none."""
        return self._entries.delete(key)

    def append(self, key: str, *items: Any) -> None:
        """Append to a list atomically; what others append at the same time is kept, too."""
        self._entries.append(key, *items)

    def update(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Set members of a mapping atomically and return all of it; what others set at the same time is kept, too."""
        while True:
            entry = self._entries.entry(key)
            known: Any = {} if entry is None else entry.value
            changed = {**known, **values}
            try:
                self._entries.set(key, changed, if_version=0 if entry is None else entry.version)
            except Conflict:
                continue  # another process was quicker: add to what it wrote
            return changed

    def keys(self) -> list[str]:
        """Return the keys, sorted."""
        return self._entries.keys()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None


class Persistent:
    """Makes an agent class persistent: `class Coder(Persistent, AssistantAgent)`.

    Agents of one name on one book are one agent. When it first meets a partner in a process, what the two said is
    restored from the last `recent` messages. `memory` is key-value state under `autogen-<name>`.
    """

    def __init__(
        self,
        name: str,
        *rest: Any,
        book: BookLike | None = None,
        space: str | None = None,
        recent: int = 200,
        **options: Any,
    ) -> None:
        self.book = open_shared(book, space)
        self.memory = Notes(
            self.book.kv(f"autogen-{name}"), {"conversation_history": lambda: self.conversation_history}
        )
        self._session = f"autogen-{name}"
        self._recent = recent
        self._met: WeakSet[Any] = WeakSet()
        self._user: UserProxyAgent | None = None
        super().__init__(name, *rest, **options)  # type: ignore[call-arg]  # the agent class beside this one

    @property
    def conversation_history(self) -> list[dict[str, Any]]:
        """All that the agent heard and said, in all processes, oldest first: mappings of sender and message."""
        return [{"sender": each.name, "message": each.content} for each in self._transcript.read()]

    @property
    def message_count(self) -> int:
        """How many messages the agent heard and said, in all processes."""
        last = self._transcript.tail(1)
        return last[0].number if last else 0

    def receive(
        self, message: Any, sender: Any = None, request_reply: bool | None = None, silent: bool | None = False
    ) -> Any:
        """Hear a message; without a sender it is from a user who does not answer."""
        agent: Any = super()
        return agent.receive(message, sender or self._default_user(), request_reply, silent)

    async def a_receive(
        self, message: Any, sender: Any = None, request_reply: bool | None = None, silent: bool | None = False
    ) -> Any:
        """Hear a message, awaited."""
        agent: Any = super()
        return await agent.a_receive(message, sender or self._default_user(), request_reply, silent)

    def knows(self, partner: str) -> bool:
        """Return whether messages with a partner of that name would be restored."""
        return bool(self._restore(partner))

    def _append_oai_message(self, message: Any, *given: Any, **named: Any) -> bool:
        """Store what was heard or said: every version of AutoGen calls this, with arguments in another order."""
        partner = next(each for each in (*given, *named.values()) if hasattr(each, "name"))
        history = self.chat_messages[partner]  # type: ignore[attr-defined]  # of the agent class beside this one
        if partner not in self._met:
            self._met.add(partner)
            # A chat that is resumed tells all of it itself.
            history[:0] = [] if isinstance(message, RestoredMessage) else self._restore(partner.name)
        agent: Any = super()
        added: bool = agent._append_oai_message(message, *given, **named)
        if added and not isinstance(message, RestoredMessage):
            said = history[-1]
            speaker: Any = self if said["role"] == "assistant" else partner
            self._transcript.extend([messages.to_transcript(said, speaker.name, partner=partner.name)])
        return added

    def _restore(self, partner: str) -> list[RestoredMessage]:
        told = [each for each in self._transcript.tail(self._recent) if each.metadata.get("partner") == partner]
        return messages.drop_unpaired([messages.from_transcript(each) for each in told])

    def _default_user(self) -> UserProxyAgent:
        if self._user is None:
            self._user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False)
        return self._user

    @property
    def _transcript(self) -> Transcript:
        return self.book.transcript(self._session)


class PersistentAgent(Persistent, ConversableAgent):  # type: ignore[misc]  # AutoGen is not installed here
    """A ConversableAgent whose conversations and key-value `memory` outlive its process."""


class StatefulAgent(PersistentAgent):
    """A persistent agent with preferences and patterns that all processes share."""

    @property
    def user_preferences(self) -> dict[str, Any]:
        """The current preferences."""
        return dict(self.memory.get("preferences") or {})

    @property
    def learned_patterns(self) -> list[Any]:
        """The current patterns, oldest first."""
        return list(self.memory.get("patterns") or [])

    def learn_preference(self, key: str, value: Any) -> None:
        """Set one preference; when this returns it is on disk, beside those that others set."""
        self.memory.update("preferences", {key: value})

    def add_pattern(self, pattern: Any) -> None:
        """Add a pattern; when this returns it is on disk, beside those that others added."""
        self.memory.append("patterns", pattern)

    def get_context(self) -> dict[str, Any]:
        """Return the preferences, the patterns, and how many messages the agent heard and said."""
        return {
            "preferences": self.user_preferences,
            "patterns": self.learned_patterns,
            "conversation_count": self.message_count,
        }
