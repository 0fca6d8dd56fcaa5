"""commonplace: a shared, persistent memory for AI agents.

import commonplace

book = commonplace.open("team.db")
book.remember("We chose FastAPI over Flask because of async support", kind="decision")
print(book.recall("which web framework did we pick?").text)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.aio import AsyncBook as AsyncBook
    from commonplace.book import Book as Book
    from commonplace.canvas import Canvas as Canvas
    from commonplace.errors import AnswerLost as AnswerLost
    from commonplace.errors import BookTooNew as BookTooNew
    from commonplace.errors import CommonplaceError as CommonplaceError
    from commonplace.errors import Conflict as Conflict
    from commonplace.errors import DimensionMismatch as DimensionMismatch
    from commonplace.errors import EmbedderFailed as EmbedderFailed
    from commonplace.errors import EmbedderMismatch as EmbedderMismatch
    from commonplace.errors import EmbedderUnavailable as EmbedderUnavailable
    from commonplace.errors import Forbidden as Forbidden
    from commonplace.errors import InvalidFilter as InvalidFilter
    from commonplace.errors import InvalidInput as InvalidInput
    from commonplace.errors import InvalidPatch as InvalidPatch
    from commonplace.errors import InvalidText as InvalidText
    from commonplace.errors import JobFailed as JobFailed
    from commonplace.errors import LimitReached as LimitReached
    from commonplace.errors import ModelUnavailable as ModelUnavailable
    from commonplace.errors import NotABook as NotABook
    from commonplace.errors import NotFound as NotFound
    from commonplace.errors import QueueFull as QueueFull
    from commonplace.errors import QuotaExceeded as QuotaExceeded
    from commonplace.errors import RateLimited as RateLimited
    from commonplace.errors import ReplayMismatch as ReplayMismatch
    from commonplace.errors import RequestReused as RequestReused
    from commonplace.errors import RequestTimeout as RequestTimeout
    from commonplace.errors import RerankerFailed as RerankerFailed
    from commonplace.errors import ServerFailed as ServerFailed
    from commonplace.errors import ServerUnavailable as ServerUnavailable
    from commonplace.errors import StalePatch as StalePatch
    from commonplace.errors import StoreBusy as StoreBusy
    from commonplace.errors import StoreClosed as StoreClosed
    from commonplace.errors import StoreCorrupt as StoreCorrupt
    from commonplace.errors import StoreError as StoreError
    from commonplace.errors import StoreFull as StoreFull
    from commonplace.errors import StoreReadOnly as StoreReadOnly
    from commonplace.errors import StoreReplaced as StoreReplaced
    from commonplace.errors import StoreUnavailable as StoreUnavailable
    from commonplace.errors import TooLarge as TooLarge
    from commonplace.errors import Unauthorized as Unauthorized
    from commonplace.guard.echo import strip_recalled as strip_recalled
    from commonplace.guard.redaction import redact_text as redact_text
    from commonplace.kv import KeyValue as KeyValue
    from commonplace.location import open as open
    from commonplace.location import open_async as open_async
    from commonplace.location import reindex as reindex
    from commonplace.recall.pack import pack as pack
    from commonplace.recall.pack import quote_notes as quote_notes
    from commonplace.recall.request import informative_words as informative_words
    from commonplace.settings import Settings as Settings
    from commonplace.settings import __version__ as __version__
    from commonplace.text.dates import Dated as Dated
    from commonplace.text.dates import dates_in as dates_in
    from commonplace.transcript import Transcript as Transcript
    from commonplace.values import Brief as Brief
    from commonplace.values import BriefSection as BriefSection
    from commonplace.values import Check as Check
    from commonplace.values import Draft as Draft
    from commonplace.values import Entry as Entry
    from commonplace.values import File as File
    from commonplace.values import Forgotten as Forgotten
    from commonplace.values import Hit as Hit
    from commonplace.values import Job as Job
    from commonplace.values import Learned as Learned
    from commonplace.values import Link as Link
    from commonplace.values import Memory as Memory
    from commonplace.values import Mention as Mention
    from commonplace.values import Message as Message
    from commonplace.values import Page as Page
    from commonplace.values import Recall as Recall
    from commonplace.values import Receipt as Receipt
    from commonplace.values import Revision as Revision
    from commonplace.values import Scope as Scope
    from commonplace.values import Score as Score
    from commonplace.values import Stats as Stats
    from commonplace.values import User as User
    from commonplace.values import Within as Within

_HOMES = {
    "aio": "AsyncBook",
    "book": "Book",
    "canvas": "Canvas",
    "errors": (
        "AnswerLost BookTooNew CommonplaceError Conflict DimensionMismatch EmbedderFailed EmbedderMismatch "
        "EmbedderUnavailable Forbidden InvalidFilter InvalidInput InvalidPatch InvalidText JobFailed "
        "LimitReached ModelUnavailable NotABook NotFound QueueFull QuotaExceeded RateLimited ReplayMismatch "
        "RequestReused RequestTimeout RerankerFailed ServerFailed ServerUnavailable StalePatch StoreBusy "
        "StoreClosed StoreCorrupt StoreError StoreFull StoreReadOnly StoreReplaced StoreUnavailable TooLarge "
        "Unauthorized"
    ),
    "guard.echo": "strip_recalled",
    "guard.redaction": "redact_text",
    "kv": "KeyValue",
    "location": "open open_async reindex",
    "recall.pack": "pack quote_notes",
    "recall.request": "informative_words",
    "settings": "Settings __version__",
    "text.dates": "Dated dates_in",
    "transcript": "Transcript",
    "values": (
        "Brief BriefSection Check Draft Entry File Forgotten Hit Job Learned Link Memory Mention Message Page Receipt "
        "Recall Revision Scope Score Stats User Within"
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    """Import a name from its home when it is first used: `commonplace --help` needs no numpy."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
