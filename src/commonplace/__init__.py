"""commonplace: a shared, persistent memory for AI agents.

    import commonplace

    book = commonplace.open("team.db")
    book.remember("We chose FastAPI over Flask because of async support", kind="decision")
    print(book.recall("which web framework did we pick?").text)
"""

from typing import TYPE_CHECKING

from commonplace.__about__ import __version__
from commonplace.book import Book
from commonplace.errors import (
    BookTooNew,
    CommonplaceError,
    Conflict,
    DimensionMismatch,
    EmbedderFailed,
    EmbedderMismatch,
    EmbedderUnavailable,
    InvalidFilter,
    InvalidInput,
    InvalidPatch,
    InvalidText,
    NotABook,
    NotFound,
    StalePatch,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    TooLarge,
)
from commonplace.opening import open
from commonplace.settings import Settings
from commonplace.values import (
    Check,
    Draft,
    Entry,
    File,
    Forgotten,
    Hit,
    Memory,
    Message,
    Page,
    Recall,
    Revision,
    Scope,
    Score,
    Stats,
    Within,
)

if TYPE_CHECKING:
    from commonplace.aio import AsyncBook, open_async
    from commonplace.reindexing import reindex

__all__ = [
    "AsyncBook",
    "Book",
    "BookTooNew",
    "Check",
    "CommonplaceError",
    "Conflict",
    "DimensionMismatch",
    "Draft",
    "EmbedderFailed",
    "EmbedderMismatch",
    "EmbedderUnavailable",
    "Entry",
    "File",
    "Forgotten",
    "Hit",
    "InvalidFilter",
    "InvalidInput",
    "InvalidPatch",
    "InvalidText",
    "Memory",
    "Message",
    "NotABook",
    "NotFound",
    "Page",
    "Recall",
    "Revision",
    "Scope",
    "Score",
    "Settings",
    "StalePatch",
    "Stats",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreReadOnly",
    "StoreUnavailable",
    "TooLarge",
    "Within",
    "__version__",
    "open",
    "open_async",
    "reindex",
]


def __getattr__(name: str) -> object:
    """Import what most programs do not need, such as asyncio, only when it is asked for."""
    if name in ("AsyncBook", "open_async"):
        from commonplace import aio

        return getattr(aio, name)
    if name == "reindex":
        from commonplace.reindexing import reindex

        return reindex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
