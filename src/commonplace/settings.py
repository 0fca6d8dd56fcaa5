"""Settings: how a book behaves, with the reason for each default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from commonplace.errors import InvalidInput

__version__ = "0.1.0"

Durability = Literal["full", "normal"]
Redact = Literal["secrets", "personal", "nothing"]
_MOST_CONNECTIONS = 10_000

HALF_LIVES: Mapping[str, float] = {
    "fact": 730.0,
    "preference": 730.0,
    "decision": 730.0,
    "pattern": 365.0,
    "insight": 365.0,
    "failure": 365.0,
    "note": 180.0,
    "message": 60.0,
}
"""Days after which a memory's freshness has halved: preferences age slower than messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a book. The defaults are safe; each field says what changing it costs."""

    durability: Durability = "full"
    """`full`: on disk when a call returns, also after a power cut. `normal`: survives a killed
    process, but a power cut may drop the last commits; single writes do not wait for the disk."""

    busy_timeout: float = 60.0
    """Seconds that a write waits for other processes before it raises StoreBusy."""

    max_text_bytes: int = 1_000_000
    """Largest text of one memory or message, in UTF-8 bytes."""

    max_content_bytes: int = 32_000_000
    """Largest bytes content, key-value entry or canvas file."""

    mirror_bytes: int = 1_000_000_000
    """Memory for the search mirrors of all spaces of one process; the least recently used are dropped first."""

    max_jobs: int = 10_000
    """Jobs that may wait in a space; `learn` raises QueueFull beyond."""

    redact: Redact = "secrets"
    """Removed from texts before they are stored: `secrets` are keys, tokens and passwords; `personal` adds mail
    addresses, phone and card numbers and the like; `nothing` stores texts as they are."""

    half_lives: Mapping[str, float] = field(default_factory=dict)
    """Days after which a memory's freshness has halved, by kind; other kinds keep their default (`HALF_LIVES`). Age
    orders relevant memories, and tells `prune` which are weak."""

    candidates: int = 100
    """How many memories each of the two indexes proposes for a recall."""

    read_budget: float = 1.0
    """Seconds that the reader may take in one recall; it reads the best candidates first and stops in time."""

    rerank_budget: float = 0.5
    """Seconds that a reranker may take in one recall; it reads the best candidates first and stops in time."""

    segment_rows: int = 250_000
    """SQLite: spaces larger than this are searched through an HNSW segment when usearch is installed."""

    graph_rows: int = 50_000
    """PostgreSQL: spaces larger than this get an HNSW index of their own, built in the background."""

    backup_days: float | None = None
    """Days for which backups of the book are kept, if known: receipts of erasures name the day after the last one."""

    pool_size: int = 8
    """PostgreSQL: connections of one process to the server. More than the server's cores gain little."""

    statement_timeout: float = 60.0
    """PostgreSQL: seconds that one statement may take before it is cancelled."""

    def __post_init__(self) -> None:
        if self.durability not in get_args(Durability):
            raise InvalidInput(f"durability is 'full' or 'normal', not {self.durability!r}")
        if self.redact not in get_args(Redact):
            raise InvalidInput(f"redact is 'secrets', 'personal' or 'nothing', not {self.redact!r}")
        for name in self.__slots__:
            value = getattr(self, name)
            if name not in ("durability", "redact", "half_lives") and (name, value) != ("backup_days", None):
                _ensure_positive(value, f"{name} is a number above 0")
        for kind, days in self.half_lives.items():
            if kind not in HALF_LIVES:
                raise InvalidInput(f"half_lives has no kind {kind!r}; known: {', '.join(HALF_LIVES)}")
            _ensure_positive(days, "half_lives are days above 0")
        object.__setattr__(self, "half_lives", {**HALF_LIVES, **self.half_lives})
        if not isinstance(self.pool_size, int) or self.pool_size > _MOST_CONNECTIONS:
            raise InvalidInput(f"pool_size is a whole number up to 10,000, not {self.pool_size!r}")


def _ensure_positive(value: object, rule: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise InvalidInput(f"{rule}, not {value!r}")
