"""A book as the memory of classic AutoGen: pyautogen 0.2, autogen-agentchat 0.2, ag2 before 1.0, autogen 0.14."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    from commonplace.integrations.autogen_classic.agents import Persistent, PersistentAgent, StatefulAgent
    from commonplace.integrations.autogen_classic.group import (
        GroupChat,
        GroupChatMemory,
        MemoryBase,
        PersistentGroupChat,
        share_memory,
    )
    from commonplace.integrations.autogen_classic.learner import Learner, attach
    from commonplace.integrations.autogen_classic.teachability import Teachability, prime
    from commonplace.integrations.autogen_classic.tools import register_memory_tools
except ModuleNotFoundError as error:
    # Distributions that once brought the module, with the release since which they no longer do.
    hints = []
    for name, since in {"pyautogen": "0.10", "ag2": "1.0", "autogen-agentchat": "0.4"}.items():
        try:
            hints.append(f"{name} {version(name)} is installed, but since {since} it has no such module. ")
        except PackageNotFoundError:
            continue
    raise ModuleNotFoundError(
        f"{__name__} needs the module {error.name} of the classic AutoGen. {''.join(hints)}"
        'Install one of them, and only one: pip install "ag2[openai]<1", or "autogen-agentchat==0.2.40", '
        'or "pyautogen==0.2.35"',
        name=error.name,
    ) from error

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
