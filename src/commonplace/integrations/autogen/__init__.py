"""A book as the memory, the canvas, the tools and the state of AutoGen agents and teams (autogen-agentchat 0.7)."""

from __future__ import annotations

from commonplace.integrations.autogen._needed import PACKAGES as PACKAGES
from commonplace.integrations.autogen.canvas import SharedCanvas
from commonplace.integrations.autogen.canvas_memory import CanvasMemory, CanvasMemoryConfig
from commonplace.integrations.autogen.memory import CommonplaceMemory
from commonplace.integrations.autogen.options import CommonplaceMemoryConfig
from commonplace.integrations.autogen.sharing import shared_memory
from commonplace.integrations.autogen.team import PersistentTeam
from commonplace.integrations.autogen.tools import memory_tools

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
