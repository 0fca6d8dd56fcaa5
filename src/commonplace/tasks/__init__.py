"""Task-centric memory: agents that learn from advice, demonstrations and failures, and share what they learned.

The parts that are AutoGen's (Teachability, Apprentice) are in `commonplace.tasks.utils`.
"""

from __future__ import annotations

from commonplace.tasks.bank import MemoryBank
from commonplace.tasks.config import MemoryBankConfig, MemoryControllerConfig
from commonplace.tasks.controller import MemoryController
from commonplace.tasks.memo import Memo

__all__ = ["Memo", "MemoryBank", "MemoryBankConfig", "MemoryController", "MemoryControllerConfig"]
