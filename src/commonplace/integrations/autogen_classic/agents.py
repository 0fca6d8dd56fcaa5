"""PersistentAgent and StatefulAgent: agents that go on after a restart."""

from __future__ import annotations

from typing import Any

from autogen import ConversableAgent

from commonplace.integrations.autogen_classic.persistent import Persistent


class PersistentAgent(Persistent, ConversableAgent):  # type: ignore[misc]  # AutoGen is not installed here
    """A ConversableAgent whose conversations and key-value `memory` outlive its process."""


class StatefulAgent(PersistentAgent):
    """A persistent agent with preferences and patterns that all processes share."""

    @property
    def user_preferences(self) -> dict[str, Any]:
        """The preferences as they stand."""
        return dict(self.memory.get("preferences") or {})

    @property
    def learned_patterns(self) -> list[Any]:
        """The patterns as they stand, oldest first."""
        return list(self.memory.get("patterns") or [])

    def learn_preference(self, key: str, value: Any) -> None:
        """Set one preference; when this returns it is on disk, beside those that others set."""
        self.memory.update("preferences", {key: value})

    def add_pattern(self, pattern: Any) -> None:
        """Add a pattern; when this returns it is on disk, beside those that others added."""
        self.memory.append("patterns", pattern)

    def get_context(self) -> dict[str, Any]:
        """The preferences, the patterns, and how many messages the agent heard and said."""
        return {
            "preferences": self.user_preferences,
            "patterns": self.learned_patterns,
            "conversation_count": self.message_count,
        }
