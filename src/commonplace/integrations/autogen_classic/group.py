"""Group chats with a memory: GroupChat and PersistentGroupChat, GroupChatMemory and share_memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import autogen
from autogen import ConversableAgent

from commonplace import Transcript
from commonplace.errors import InvalidInput
from commonplace.integrations.autogen_classic import messages as forms
from commonplace.integrations.autogen_classic.agents import Notes, Persistent
from commonplace.integrations.autogen_classic.learner import AgentListener
from commonplace.integrations.autogen_classic.messages import Person, RestoredMessage
from commonplace.integrations.handle import BookLike, open_shared

_SESSION = "group-chat-session"
"""The session of a group chat that was given no other name."""


class MemoryBase(ABC):
    """A memory that a group chat or an agent writes its messages into; `add` and `get` are all that it needs."""

    @abstractmethod
    def add(self, message: dict[str, Any]) -> None:
        """Store a message, a mapping with role, content and name."""

    @abstractmethod
    def get(self, role: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the messages, oldest first; with `role` only those of that role."""


class GroupChatMemory(MemoryBase):
    """The messages of one session of a book, in order: memories of the same session, in any process, are the same."""

    def __init__(self, session: str = _SESSION, book: BookLike | None = None, *, space: str | None = None) -> None:
        super().__init__()
        self.session = session
        self.book = open_shared(book, space)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages that any process added, oldest first."""
        return [forms.from_transcript(each) for each in self._transcript.read()]

    def add(self, message: dict[str, Any]) -> None:
        """Add a message; when this returns it is on disk, after all that others added."""
        if not isinstance(message, Mapping) or "content" not in message:
            raise InvalidInput("a message must be a mapping with content and optionally role and name")
        self._transcript.extend([forms.to_transcript(message)])

    def get(self, role: str | None = None) -> list[dict[str, Any]]:
        """Return the messages, oldest first; with `role` only those of that role."""
        return [message for message in self.messages if role is None or message["role"] == role]

    def recent(self, count: int) -> list[dict[str, Any]]:
        """Return the last messages, oldest first; the cost does not depend on how many there are in all."""
        return [forms.from_transcript(each) for each in self._transcript.tail(count)]

    def clear(self) -> int:
        """Erase the messages and return how many there were."""
        return self._transcript.forget()

    @property
    def _transcript(self) -> Transcript:
        return self.book.transcript(self.session)


class GroupChat(autogen.GroupChat):  # type: ignore[misc]  # AutoGen is not installed where types are checked
    """AutoGen's GroupChat with a `memory`: it stores every message, and a chat begins where the last one ended.

    The agents get the last `recent` messages when somebody first speaks. A persistent agent that was there brings its
    own.
    """

    def __init__(
        self,
        agents: Sequence[Any],
        messages: list[dict[str, Any]] | None = None,
        *rest: Any,
        memory: MemoryBase | None = None,
        recent: int = 200,
        **options: Any,
    ) -> None:
        self.memory = memory
        # Emptied when somebody first speaks. AutoGen runs a chat on a copy of it: only what is inside is shared.
        self._earlier = [] if messages else _read_earlier(memory, recent)
        self._resumed: list[RestoredMessage] = []
        told = [] if messages is None else messages
        told.extend(forms.for_chat(self._earlier))
        super().__init__(agents, told, *rest, **options)

    def append(self, message: dict[str, Any], speaker: Any = None) -> None:
        """Add a message to the chat and to its memory; without a speaker it is said by the one it names."""
        if speaker is None:
            message.setdefault("role", "user")
            name = message.get("name") or "user"
            speaker = self.agent_by_name(name) or Person(name)
        if self._earlier:
            self._begin(message, speaker)
        super().append(message, speaker)
        if self.memory is not None and not isinstance(message, RestoredMessage) and not self._is_repeated(message):
            self.memory.add(forms.for_memory(message, speaker))

    def reset(self) -> None:
        """Clear the messages; the memory keeps them, and earlier ones stay until somebody speaks."""
        super().reset()
        self.messages.extend(forms.for_chat(self._earlier))

    def _begin(self, message: dict[str, Any], speaker: Any) -> None:
        earlier = self._earlier.copy()
        self._earlier.clear()
        if isinstance(message, RestoredMessage):
            self.messages.clear()  # the manager's `resume` tells all of it again, and leaves the last to its caller
            self._resumed.append(earlier[-1])
            return
        manager = next((each for each in getattr(speaker, "chat_messages", ()) if _manages(each, self)), None)
        if manager is not None:
            for agent in self.agents:
                knows = isinstance(agent, Persistent) and agent.knows(manager.name)
                if hasattr(agent, "chat_messages") and not knows:
                    agent.chat_messages[manager][:0] = [forms.for_agent(each, agent) for each in earlier]

    def _is_repeated(self, message: dict[str, Any]) -> bool:
        last = self._resumed.pop() if self._resumed else {}
        return all(last.get(key) == message.get(key) for key in ("name", "content"))


class PersistentGroupChat(GroupChat):
    """A group chat that continues after a restart; by default all of one book are the same chat.

    `memory` is a GroupChatMemory or any MemoryBase, or the name of a session.
    """

    def __init__(
        self,
        agents: Sequence[Any],
        messages: list[dict[str, Any]] | None = None,
        *rest: Any,
        memory: MemoryBase | str = _SESSION,
        book: BookLike | None = None,
        space: str | None = None,
        **options: Any,
    ) -> None:
        kept = GroupChatMemory(memory, book, space=space) if isinstance(memory, str) else memory
        super().__init__(agents, messages, *rest, memory=kept, **options)
        self.group_memory: Notes | None = None
        if isinstance(kept, GroupChatMemory):
            self.group_memory = Notes(
                kept.book.kv(kept.session),
                {"messages": lambda: kept.messages, "speaker_history": lambda: self.speaker_history},
            )

    @property
    def speaker_history(self) -> list[str]:
        """Who spoke, oldest first, in all processes."""
        told = self.messages if self.memory is None else self.memory.get()
        return [str(message["name"]) for message in told if message.get("name")]


def share_memory(memory: MemoryBase, agents: ConversableAgent | Iterable[ConversableAgent]) -> None:
    """Write what agents say and hear into a memory, each message once; given to one agent, it is that agent's own."""

    def write(line: dict[str, str], session: str) -> None:
        memory.add(dict(line))

    AgentListener(write).add([agents] if isinstance(agents, ConversableAgent) else agents)


def _read_earlier(memory: MemoryBase | None, recent: int) -> list[RestoredMessage]:
    if memory is None:
        return []
    told = memory.recent(recent) if isinstance(memory, GroupChatMemory) else list(memory.get())[-recent:]
    return forms.drop_unpaired([RestoredMessage(each) for each in told])


def _manages(each: object, chat: GroupChat) -> bool:
    return isinstance(each, autogen.GroupChatManager) and each.groupchat.messages is chat.messages
