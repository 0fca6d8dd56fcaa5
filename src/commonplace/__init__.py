"""commonplace: a shared, persistent memory for AI agents.

import commonplace

book = commonplace.open("team.db")
book.remember("We chose FastAPI over Flask because of async support", kind="decision")
print(book.recall("which web framework did we pick?").text)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.aio import AsyncBook
    from commonplace.book import Book
    from commonplace.errors import (
        AnswerLost,
        BookTooNew,
        CommonplaceError,
        Conflict,
        DimensionMismatch,
        EmbedderFailed,
        EmbedderMismatch,
        EmbedderUnavailable,
        Forbidden,
        InvalidFilter,
        InvalidInput,
        InvalidPatch,
        InvalidText,
        JobFailed,
        LimitReached,
        ModelUnavailable,
        NotABook,
        NotFound,
        QueueFull,
        QuotaExceeded,
        RateLimited,
        ReplayMismatch,
        RequestReused,
        RequestTimeout,
        RerankerFailed,
        ServerFailed,
        ServerUnavailable,
        StalePatch,
        StoreBusy,
        StoreClosed,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreReadOnly,
        StoreUnavailable,
        TooLarge,
        Unauthorized,
    )
    from commonplace.location import open, open_async, reindex
    from commonplace.settings import Settings, __version__
    from commonplace.text.dates import Dated, dates_in
    from commonplace.values import (
        Check,
        Draft,
        Entry,
        File,
        Forgotten,
        Hit,
        Job,
        Learned,
        Link,
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

__all__ = [
    "AnswerLost",
    "AsyncBook",
    "Book",
    "BookTooNew",
    "Check",
    "CommonplaceError",
    "Conflict",
    "Dated",
    "DimensionMismatch",
    "Draft",
    "EmbedderFailed",
    "EmbedderMismatch",
    "EmbedderUnavailable",
    "Entry",
    "File",
    "Forbidden",
    "Forgotten",
    "Hit",
    "InvalidFilter",
    "InvalidInput",
    "InvalidPatch",
    "InvalidText",
    "Job",
    "JobFailed",
    "Learned",
    "LimitReached",
    "Link",
    "Memory",
    "Message",
    "ModelUnavailable",
    "NotABook",
    "NotFound",
    "Page",
    "QueueFull",
    "QuotaExceeded",
    "RateLimited",
    "Recall",
    "ReplayMismatch",
    "RequestReused",
    "RequestTimeout",
    "RerankerFailed",
    "Revision",
    "Scope",
    "Score",
    "ServerFailed",
    "ServerUnavailable",
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
    "Unauthorized",
    "Within",
    "__version__",
    "dates_in",
    "open",
    "open_async",
    "reindex",
]

_HOMES = {
    "commonplace.aio": ("AsyncBook",),
    "commonplace.book": ("Book",),
    "commonplace.location": ("open", "open_async", "reindex"),
    "commonplace.settings": ("Settings", "__version__"),
    "commonplace.values": (
        "Check",
        "Draft",
        "Entry",
        "File",
        "Forgotten",
        "Hit",
        "Job",
        "Learned",
        "Link",
        "Memory",
        "Message",
        "Page",
        "Recall",
        "Revision",
        "Scope",
        "Score",
        "Stats",
        "Within",
    ),
    "commonplace.text.dates": ("Dated", "dates_in"),
}


def __getattr__(name: str) -> object:
    """Import each name from its home when it is first asked for: `commonplace --help` needs no numpy."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "commonplace.errors")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
