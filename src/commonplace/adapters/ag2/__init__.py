"""A book as the memory of AG2 agents (ag2 1.2): recall for each call, learning, a knowledge store, tools."""

from __future__ import annotations

from commonplace.adapters.ag2._needed import PACKAGES as PACKAGES
from commonplace.adapters.ag2.learning import LearnAggregate
from commonplace.adapters.ag2.policy import RecallPolicy
from commonplace.adapters.ag2.store import BookKnowledgeStore
from commonplace.adapters.ag2.tools import memory_tools

__all__ = ["BookKnowledgeStore", "LearnAggregate", "RecallPolicy", "memory_tools"]
