"""Every error that commonplace raises on purpose, in one tree; docs/errors.md says what to do about each.

`code` is stable and meant for machines, `status` is the HTTP status, and `retryable` says whether the same call may
succeed later unchanged. A class has the status and retryable of the one above it unless it names its own.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar


class CommonplaceError(Exception):
    """The root of every error that commonplace raises on purpose."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, code: str | None = None, status: int | None = None, retryable: bool | None = None
    ) -> None:
        super().__init_subclass__()
        for name, value in (("code", code), ("status", status), ("retryable", retryable)):
            if value is not None:
                setattr(cls, name, value)


class InvalidInput(CommonplaceError, code="invalid_input", status=400):
    """A value cannot be stored or searched; the message says which and why."""


class InvalidText(InvalidInput, code="invalid_text"):
    """Text holds a NUL or a lone surrogate, which no index and no JSON document can carry."""


class InvalidFilter(InvalidInput, code="invalid_filter"):
    """A filter has an unknown operator or field, or a malformed shape."""


class InvalidPatch(InvalidInput, code="invalid_patch"):
    """The text is not a unified diff, or it names a file twice."""


class DimensionMismatch(InvalidInput, code="dimension_mismatch"):
    """A vector's length is not the book's dimension."""


class TooLarge(InvalidInput, code="too_large", status=413):
    """Content is beyond the book's limits."""


class NotFound(CommonplaceError, code="not_found", status=404):
    """This space has no such memory, entry, file or revision."""


class Conflict(CommonplaceError, code="conflict", status=409):
    """Another writer came first; `current` is the current version (0: none)."""

    def __init__(self, message: str, *, current: int) -> None:
        super().__init__(message)
        self.current = current

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), str(self), current=self.current), ()


class StalePatch(Conflict, code="stale_patch"):
    """The file no longer reads as the patch expects; nothing was applied."""


class QueueFull(CommonplaceError, code="queue_full", status=429, retryable=True):
    """As many jobs wait as the settings allow."""


class LimitReached(CommonplaceError, code="limit_reached", status=429, retryable=True):
    """The key has used what it may; `retry_after` is the number of seconds to wait."""

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), str(self), retry_after=self.retry_after), ()


class RateLimited(LimitReached, code="rate_limited"):
    """The key sent more requests at once than it may, or an address too many wrong keys or sign-ups."""


class QuotaExceeded(LimitReached, code="quota_exceeded"):
    """The key's plan for the day, the month or altogether is used up."""


class Unauthorized(CommonplaceError, code="unauthorized", status=401):
    """A request has no key, or one that is unknown, expired or revoked."""


class Forbidden(CommonplaceError, code="forbidden", status=403):
    """The key does not give access to this space, or not for this."""


class RequestReused(CommonplaceError, code="request_reused", status=422):
    """An idempotency key came before, with another request."""


class AnswerLost(CommonplaceError, code="answer_lost", status=409):
    """A repeated request was carried out the first time; its answer was too large to keep."""


class ReplayMismatch(CommonplaceError, code="replay_mismatch", status=409):
    """A program asks a model something else than when its session was recorded, or more, or less."""


class RequestTimeout(CommonplaceError, code="request_timeout", status=408, retryable=True):
    """A request's body took too long to arrive."""


class ServerUnavailable(CommonplaceError, code="server_unavailable", status=503, retryable=True):
    """The server cannot be reached, or closed the connection."""


class ServerFailed(CommonplaceError, code="server_failed", status=502):
    """An answer is not commonplace's: the address may be another service's."""


class JobFailed(CommonplaceError, code="job_failed"):
    """A job that a call waited for failed in another process; it is tried again, or has failed for good."""


class EmbedderMismatch(CommonplaceError, code="embedder_mismatch", status=409):
    """The book's vectors come from another embedder; the message names the command that re-embeds."""


class EmbedderFailed(CommonplaceError, code="embedder_failed", status=502, retryable=True):
    """The embedder did not answer, or its answer is not an embedding."""


class RerankerFailed(CommonplaceError, code="reranker_failed", status=502, retryable=True):
    """The reranker raised, or its answer is not one number for each text."""


class ModelUnavailable(CommonplaceError, code="model_unavailable", status=503):
    """A model's package or weights are not installed, are damaged, or cannot be fetched."""


class EmbedderUnavailable(ModelUnavailable, code="embedder_unavailable"):
    """The embedder's package or weights are not installed."""


class StoreError(CommonplaceError, code="store_error"):
    """The store could not carry out the call; nothing was changed."""


class StoreBusy(StoreError, code="store_busy", status=503, retryable=True):
    """Other writers held the store for longer than the time-out."""


class StoreClosed(StoreError, code="store_closed", status=503):
    """The book was closed before the call."""


class StoreReadOnly(StoreError, code="store_read_only", status=403):
    """The file, its directory or the database role does not allow writing."""


class StoreFull(StoreError, code="store_full", status=507):
    """There is no room left on the disk."""


class StoreUnavailable(StoreError, code="store_unavailable", status=503, retryable=True):
    """The store cannot be opened or reached."""


class StoreCorrupt(StoreError, code="store_corrupt"):
    """The store is damaged, or its indexes disagree with its rows."""


class StoreReplaced(StoreError, code="store_replaced", status=503):
    """The book's file, or its log, was deleted, moved or replaced while the book was open."""


class NotABook(StoreError, code="not_a_book", status=400):
    """The file is not a database, or not one that commonplace wrote."""


class BookTooNew(StoreError, code="book_too_new", status=409):
    """A newer commonplace wrote the book."""


def missing_package(user: str, package: str, extra: str) -> str:
    """Return the message for an optional package that is not installed, with the command that installs it."""
    return f'{user} needs the package {package}: pip install "commonplace-memory[{extra}]"'
