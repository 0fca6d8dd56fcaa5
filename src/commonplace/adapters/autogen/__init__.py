"""A book as the memory, the canvas, the tools and the state of AutoGen agents and teams (autogen-agentchat 0.7)."""

from __future__ import annotations

from commonplace.adapters.autogen._needed import PACKAGES as PACKAGES
from commonplace.adapters.autogen.canvas import SharedCanvas
from commonplace.adapters.autogen.canvas_memory import CanvasMemory, CanvasMemoryConfig
from commonplace.adapters.autogen.memory import CommonplaceMemory
from commonplace.adapters.autogen.options import CommonplaceMemoryConfig
from commonplace.adapters.autogen.sharing import shared_memory
from commonplace.adapters.autogen.team import PersistentTeam
from commonplace.adapters.autogen.tools import memory_tools

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
