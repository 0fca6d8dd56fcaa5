"""A book as the memory of classic AutoGen: pyautogen 0.2, autogen-agentchat 0.2, ag2 before 1.0, autogen 0.14."""

from __future__ import annotations

from commonplace.integrations.autogen_classic._needed import MODULE as MODULE
from commonplace.integrations.autogen_classic.agents import PersistentAgent, StatefulAgent
from commonplace.integrations.autogen_classic.group_chat import GroupChat, PersistentGroupChat
from commonplace.integrations.autogen_classic.group_memory import GroupChatMemory, MemoryBase, share_memory
from commonplace.integrations.autogen_classic.learning import Learner, attach
from commonplace.integrations.autogen_classic.persistent import Persistent
from commonplace.integrations.autogen_classic.priming import prime
from commonplace.integrations.autogen_classic.teaching import Teachability
from commonplace.integrations.autogen_classic.tools import register_memory_tools

__all__ = [
    "GroupChat",
    "GroupChatMemory",
    "Learner",
    "MemoryBase",
    "Persistent",
    "PersistentAgent",
    "PersistentGroupChat",
    "StatefulAgent",
    "Teachability",
    "attach",
    "prime",
    "register_memory_tools",
    "share_memory",
]
