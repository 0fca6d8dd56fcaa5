"""Memstore's two functions, as tools for any agent: `from commonplace.integrations.services.memstore import …`."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.integrations.services import book


def remember(content: str, tags: Sequence[str] | None = None) -> str:
    """Store a memory. Use this to save anything worth keeping between sessions: user preferences, decisions,
    research findings, facts."""
    return f"Memory stored (id: {book().remember(content, tags=tags or ()).id})"


def recall(query: str, limit: int = 5, tags: Sequence[str] | None = None) -> str:
    """Search past memories relevant to a query. Use this at the start of sessions, or when you need context about
    a user or topic."""
    found = book().recall(query, k=limit, max_tokens=None, tags=tags)
    return "\n".join(f"- {hit.memory.text}" for hit in found.hits) or "No relevant memories found."
