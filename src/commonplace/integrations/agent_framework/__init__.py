"""A book as the memory and the history of Agent Framework agents (agent-framework-core 1.23)."""

from __future__ import annotations

from commonplace.errors import missing_package

try:
    from commonplace.integrations.agent_framework.context import CommonplaceContextProvider, memory_tools
    from commonplace.integrations.agent_framework.history import CommonplaceHistoryProvider
except ModuleNotFoundError as error:
    package = str(error.name).partition(".")[0]
    raise ModuleNotFoundError(missing_package(__name__, package, "agent-framework"), name=package) from error

__all__ = ["CommonplaceContextProvider", "CommonplaceHistoryProvider", "memory_tools"]
