"""A book as the memory, canvas, tools and state of AutoGen agents and teams (autogen-agentchat 0.7)."""

from __future__ import annotations

from commonplace.errors import missing_package

try:
    from commonplace.integrations.autogen.canvas import CanvasMemory, CanvasMemoryConfig, SharedCanvas
    from commonplace.integrations.autogen.config import CommonplaceMemoryConfig
    from commonplace.integrations.autogen.memory import CommonplaceMemory, memory_tools, shared_memory
    from commonplace.integrations.autogen.team import PersistentTeam
except ModuleNotFoundError as error:
    package = str(error.name).partition(".")[0]
    raise ModuleNotFoundError(missing_package(__name__, package, "autogen"), name=package) from error

__all__ = [
    "CanvasMemory",
    "CanvasMemoryConfig",
    "CommonplaceMemory",
    "CommonplaceMemoryConfig",
    "PersistentTeam",
    "SharedCanvas",
    "memory_tools",
    "shared_memory",
]
