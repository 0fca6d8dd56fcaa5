"""GroupChat with a memory, and PersistentGroupChat, which always has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autogen

from commonplace.integrations.autogen_classic import views
from commonplace.integrations.autogen_classic.group_memory import GROUP, GroupChatMemory, MemoryBase
from commonplace.integrations.autogen_classic.notes import Notes
from commonplace.integrations.autogen_classic.persistent import Persistent
from commonplace.integrations.autogen_classic.voices import Kept, Person, whole
from commonplace.integrations.handle import BookLike


class GroupChat(autogen.GroupChat):  # type: ignore[misc]  # AutoGen is not installed where types are checked
    """AutoGen's GroupChat with a `memory`: every message is kept there, and a chat begins where the last one ended.

    The last `recent` messages stand before the agents when somebody first speaks. A persistent agent that was there
    brings its own.
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
        self._earlier = [] if messages else _earlier(memory, recent)
        self._resumed: list[Kept] = []
        told = [] if messages is None else messages
        told.extend(views.in_chat(self._earlier))
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
        if self.memory is not None and not isinstance(message, Kept) and not self._is_told_again(message):
            # In a chat everybody is a "user", as each agent sees the others; a memory tells people and agents apart.
            self.memory.add({**message, "role": views.role(message, speaker)})

    def reset(self) -> None:
        """Clear the messages; the memory keeps them, and what was said before this process began stays until then."""
        super().reset()
        self.messages.extend(views.in_chat(self._earlier))

    def _begin(self, message: dict[str, Any], speaker: Any) -> None:
        earlier = self._earlier.copy()
        self._earlier.clear()
        if isinstance(message, Kept):
            self.messages.clear()  # the manager's `resume` tells all of it again, and leaves the last to its caller
            self._resumed.append(earlier[-1])
            return
        manager = next((each for each in getattr(speaker, "chat_messages", ()) if _manages(each, self)), None)
        if manager is not None:
            for agent in self.agents:
                knows = isinstance(agent, Persistent) and agent.knows(manager.name)
                if hasattr(agent, "chat_messages") and not knows:
                    agent.chat_messages[manager][:0] = [views.heard(each, agent) for each in earlier]

    def _is_told_again(self, message: dict[str, Any]) -> bool:
        last = self._resumed.pop() if self._resumed else {}
        return all(last.get(key) == message.get(key) for key in ("name", "content"))


class PersistentGroupChat(GroupChat):
    """A group chat that goes on after a restart; by default all of one book are the same chat.

    `memory` is a GroupChatMemory or any MemoryBase, or the name of a session.
    """

    def __init__(
        self,
        agents: Sequence[Any],
        messages: list[dict[str, Any]] | None = None,
        *rest: Any,
        memory: MemoryBase | str = GROUP,
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


def _earlier(memory: MemoryBase | None, recent: int) -> list[Kept]:
    if memory is None:
        return []
    told = memory.recent(recent) if isinstance(memory, GroupChatMemory) else list(memory.get())[-recent:]
    return whole([Kept(each) for each in told])


def _manages(each: object, chat: GroupChat) -> bool:
    return isinstance(each, autogen.GroupChatManager) and each.groupchat.messages is chat.messages
