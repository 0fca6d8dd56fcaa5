"""A book as the memory of AG2 agents (ag2 1.2): recall for each call, learning, a knowledge store, tools."""

from __future__ import annotations

from commonplace.integrations.ag2._needed import PACKAGES as PACKAGES
from commonplace.integrations.ag2.learning import LearnAggregate
from commonplace.integrations.ag2.policy import RecallPolicy
from commonplace.integrations.ag2.store import BookKnowledgeStore
from commonplace.integrations.ag2.tools import memory_tools

__all__ = ["BookKnowledgeStore", "LearnAggregate", "RecallPolicy", "memory_tools"]
