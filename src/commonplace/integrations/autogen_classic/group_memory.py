"""GroupChatMemory: what a group says, kept for every process, and the shape of a memory of one's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autogen import ConversableAgent

from commonplace.errors import InvalidInput
from commonplace.integrations.autogen_classic import voices
from commonplace.integrations.autogen_classic.listening import Listener
from commonplace.integrations.handle import BookLike, open_shared
from commonplace.transcript import Transcript

GROUP = "group-chat-session"
"""The session of a group chat that was given no other name."""


class MemoryBase(ABC):
    """A memory that a group chat or an agent writes its messages into; `add` and `get` are all that it needs."""

    @abstractmethod
    def add(self, message: dict[str, Any]) -> None:
        """Keep a message, a mapping with role, content and name."""

    @abstractmethod
    def get(self, role: str | None = None) -> Sequence[Mapping[str, Any]]:
        """The messages, oldest first; with `role` only those of that role."""


class GroupChatMemory(MemoryBase):
    """The messages of one session of a book, in order: memories of the same session, in any process, are the same."""

    def __init__(self, session: str = GROUP, book: BookLike | None = None, *, space: str | None = None) -> None:
        self.session = session
        self.book = open_shared(book, space)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages that any process added, oldest first."""
        return [voices.restored(each) for each in self._transcript.read()]

    def add(self, message: dict[str, Any]) -> None:
        """Add a message; when this returns it is on disk, after all that others added."""
        if not isinstance(message, Mapping) or "content" not in message:
            raise InvalidInput("a message is a mapping with content, and perhaps role and name")
        self._transcript.extend([voices.kept(message)])

    def get(self, role: str | None = None) -> list[dict[str, Any]]:
        """The messages, oldest first; with `role` only those of that role."""
        return [message for message in self.messages if role is None or message["role"] == role]

    def recent(self, count: int) -> list[dict[str, Any]]:
        """The last messages, oldest first; costs the same however many there are."""
        return [voices.restored(each) for each in self._transcript.tail(count)]

    def clear(self) -> int:
        """Erase the messages; returns how many there were."""
        return self._transcript.forget()

    @property
    def _transcript(self) -> Transcript:
        return self.book.transcript(self.session)


def share_memory(memory: MemoryBase, agents: ConversableAgent | Iterable[ConversableAgent]) -> None:
    """Write what agents say and hear into a memory, each message once: given to one agent, it is that agent's own."""

    def tell(line: dict[str, str], session: str) -> None:
        memory.add(dict(line))

    Listener(tell).add([agents] if isinstance(agents, ConversableAgent) else agents)
