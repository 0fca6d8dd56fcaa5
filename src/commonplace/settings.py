"""One small frozen Settings: what a book may be told, with the reason for each default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from commonplace.errors import InvalidInput

Durability = Literal["full", "normal"]
_MOST_CONNECTIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a book behaves. The defaults are safe; each field says what changing it costs."""

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
    """Memory for the search mirrors of all spaces of one process; the longest unused go first."""

    candidates: int = 100
    """How many memories each of the two indexes proposes for a recall."""

    rerank_budget: float = 0.5
    """Seconds that a reranker may read candidates in one recall, if there is one; it stops in time, best first."""

    segment_rows: int = 250_000
    """SQLite: spaces larger than this are searched through an HNSW segment when usearch is installed."""

    graph_rows: int = 50_000
    """PostgreSQL: spaces larger than this get an HNSW index of their own, built in the background."""

    pool_size: int = 8
    """PostgreSQL: connections of one process to the server. More than the server has cores gain little."""

    statement_timeout: float = 60.0
    """PostgreSQL: seconds that one statement may take before it is stopped."""

    def __post_init__(self) -> None:
        if self.durability not in get_args(Durability):
            raise InvalidInput(f"durability is 'full' or 'normal', not {self.durability!r}")
        for name in self.__slots__:
            value = getattr(self, name)
            if name != "durability" and (
                isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0
            ):
                raise InvalidInput(f"{name} is a number above 0, not {value!r}")
        if not isinstance(self.pool_size, int) or self.pool_size > _MOST_CONNECTIONS:
            raise InvalidInput(f"pool_size is a whole number up to 10,000, not {self.pool_size!r}")
