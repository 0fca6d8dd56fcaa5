"""Task-centric memory: agents that learn from advice, demonstrations and failures, and share what they learned.

The parts that need AutoGen, such as Teachability and Apprentice, are in `commonplace.integrations.tasks.utils`.
"""

from __future__ import annotations

from commonplace.integrations.tasks.bank import MemoryBank, MemoryBankConfig
from commonplace.integrations.tasks.controller import MemoryController, MemoryControllerConfig
from commonplace.integrations.tasks.memo import Memo

__all__ = ["Memo", "MemoryBank", "MemoryBankConfig", "MemoryController", "MemoryControllerConfig"]
