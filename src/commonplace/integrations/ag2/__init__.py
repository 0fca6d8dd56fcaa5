"""A book as the memory of AG2 agents (ag2 1.2): recall for each call, learning, a knowledge store, tools."""

from __future__ import annotations

from commonplace.errors import missing_package

try:
    from commonplace.integrations.ag2.memory import LearnAggregate, RecallPolicy, memory_tools
    from commonplace.integrations.ag2.store import BookKnowledgeStore
except ModuleNotFoundError as error:
    package = str(error.name).partition(".")[0]
    raise ModuleNotFoundError(missing_package(__name__, package, "ag2"), name=package) from error

__all__ = ["BookKnowledgeStore", "LearnAggregate", "RecallPolicy", "memory_tools"]
