"""A book as the memory and the history of Agent Framework agents (agent-framework-core 1.23)."""

from __future__ import annotations

from commonplace.integrations.agent_framework._needed import PACKAGES as PACKAGES
from commonplace.integrations.agent_framework.context import CommonplaceContextProvider
from commonplace.integrations.agent_framework.history import CommonplaceHistoryProvider
from commonplace.integrations.agent_framework.tools import memory_tools

__all__ = ["CommonplaceContextProvider", "CommonplaceHistoryProvider", "memory_tools"]
