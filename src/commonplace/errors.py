"""Every error that commonplace raises, in one tree.

    CommonplaceError
    ├── InvalidInput            400  the caller's value cannot be used
    │   ├── InvalidText         400  NUL or lone surrogate
    │   ├── InvalidFilter       400  unknown operator, field or shape
    │   ├── InvalidPatch        400  not a unified diff, or it names a file twice
    │   ├── DimensionMismatch   400  a vector of the wrong length
    │   └── TooLarge            413  more than the book's limit
    ├── NotFound                404
    ├── Conflict                409  compare-and-set lost; carries the current version
    │   └── StalePatch          409  the file no longer reads as the patch expects
    ├── QueueFull               429  too many jobs wait; try again later
    ├── LimitReached            429  more than the key may have; carries the seconds to wait
    │   ├── RateLimited         429  too many requests at once
    │   └── QuotaExceeded       429  the plan of the key is used up
    ├── Unauthorized            401  no key, or one that is unknown, expired or revoked
    ├── Forbidden               403  the key does not open this space, or not for this
    ├── RequestReused           422  an idempotency key came with another request
    ├── AnswerLost              409  the request was carried out before, its answer is not kept
    ├── ReplayMismatch          409  a recorded session and what is asked now are not the same
    ├── RequestTimeout          408  the request took too long to arrive
    ├── ServerUnavailable       503  the server cannot be reached
    ├── ServerFailed            502  the server gave an answer that is none of ours
    ├── JobFailed               500  a job that a call waited for did not succeed
    ├── EmbedderMismatch        409  the book was written with another embedder
    ├── EmbedderFailed          502  the embedder could not be reached or answered wrongly
    ├── RerankerFailed          502  the reranker raised or answered wrongly
    ├── ModelUnavailable        503  a model's package or weights are missing, or cannot be fetched
    │   └── EmbedderUnavailable 503  those of the embedder
    └── StoreError              500
        ├── StoreBusy           503  locked for longer than the time-out; try again
        ├── StoreClosed         503  the book was closed
        ├── StoreReadOnly       403
        ├── StoreFull           507  the disk is full; nothing was changed
        ├── StoreUnavailable    503  the file cannot be opened, or the server is away
        ├── StoreCorrupt        500  the file is damaged, or an index disagrees with the rows
        ├── NotABook            400  the file is no database, or another program's
        └── BookTooNew          409  written by a newer commonplace

`code` is stable and meant for machines, `status` is the HTTP status, and
`retryable` says whether the same call may succeed later unchanged.
"""

from __future__ import annotations

from typing import ClassVar


class CommonplaceError(Exception):
    """The root of every error that commonplace raises on purpose."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False


class InvalidInput(CommonplaceError):
    """A value that cannot be stored or searched; the message says which and why."""

    code = "invalid_input"
    status = 400


class InvalidText(InvalidInput):
    """Text that no index and no JSON document can carry: NUL or a lone surrogate."""

    code = "invalid_text"


class InvalidFilter(InvalidInput):
    """A filter with an unknown operator or field, or a malformed shape."""

    code = "invalid_filter"


class InvalidPatch(InvalidInput):
    """Text that is not a usable unified diff."""

    code = "invalid_patch"


class DimensionMismatch(InvalidInput):
    """A vector whose length is not the book's dimension."""

    code = "dimension_mismatch"


class TooLarge(InvalidInput):
    """Content beyond the book's limits."""

    code = "too_large"
    status = 413


class NotFound(CommonplaceError):
    """No such memory, entry, file or revision in this space."""

    code = "not_found"
    status = 404


class Conflict(CommonplaceError):
    """A compare-and-set that lost the race; `current` is the version that stands now (0: none)."""

    code = "conflict"
    status = 409

    def __init__(self, message: str, *, current: int) -> None:
        super().__init__(message)
        self.current = current

    def __reduce__(self) -> tuple[object, ...]:
        return _conflict, (type(self), str(self), self.current)


class StalePatch(Conflict):
    """A patch whose context no longer matches the file; nothing was applied."""

    code = "stale_patch"


class QueueFull(CommonplaceError):
    """As many jobs wait as the settings allow."""

    code = "queue_full"
    status = 429
    retryable = True


class LimitReached(CommonplaceError):
    """More than the key may have; `retry_after` is the number of seconds after which it may have more."""

    code = "limit_reached"
    status = 429
    retryable = True

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[object, ...]:
        return _limit, (type(self), str(self), self.retry_after)


class RateLimited(LimitReached):
    """More requests at once than the key may send."""

    code = "rate_limited"


class QuotaExceeded(LimitReached):
    """What the key's plan grants for a day, a month or altogether is used up."""

    code = "quota_exceeded"


class Unauthorized(CommonplaceError):
    """A request without a key, or with one that is unknown, expired or revoked."""

    code = "unauthorized"
    status = 401


class Forbidden(CommonplaceError):
    """A key that does not open this space, or not for this."""

    code = "forbidden"
    status = 403


class RequestReused(CommonplaceError):
    """An idempotency key that came before, with another request."""

    code = "request_reused"
    status = 422


class AnswerLost(CommonplaceError):
    """A repeated request that was carried out the first time, whose answer was too large to be kept."""

    code = "answer_lost"
    status = 409


class ReplayMismatch(CommonplaceError):
    """A program that does not ask what it asked when its session was recorded: something else, more, or less."""

    code = "replay_mismatch"
    status = 409


class RequestTimeout(CommonplaceError):
    """A request whose body took too long to arrive."""

    code = "request_timeout"
    status = 408
    retryable = True


class ServerUnavailable(CommonplaceError):
    """A server that cannot be reached, or that closed the connection."""

    code = "server_unavailable"
    status = 503
    retryable = True


class ServerFailed(CommonplaceError):
    """An answer that no commonplace server gives: the address may be another service's."""

    code = "server_failed"
    status = 502


class JobFailed(CommonplaceError):
    """A job that a call waited for failed in another process; it is tried again, or waits among the dead."""

    code = "job_failed"


class EmbedderMismatch(CommonplaceError):
    """The book's vectors come from another embedder; the message names the command that re-embeds."""

    code = "embedder_mismatch"
    status = 409


class EmbedderFailed(CommonplaceError):
    """The embedder did not answer, or answered with something that is no embedding."""

    code = "embedder_failed"
    status = 502
    retryable = True


class RerankerFailed(CommonplaceError):
    """The reranker raised, or answered with something that is not one number a text."""

    code = "reranker_failed"
    status = 502
    retryable = True


class ModelUnavailable(CommonplaceError):
    """A model's package or weights are not installed, are damaged, or cannot be fetched."""

    code = "model_unavailable"
    status = 503


class EmbedderUnavailable(ModelUnavailable):
    """The embedder's package or weights are not installed."""

    code = "embedder_unavailable"


class StoreError(CommonplaceError):
    """The store could not do what was asked; nothing was changed."""

    code = "store_error"


class StoreBusy(StoreError):
    """Other writers held the store for longer than the time-out."""

    code = "store_busy"
    status = 503
    retryable = True


class StoreClosed(StoreError):
    """The book was closed before the call."""

    code = "store_closed"
    status = 503


class StoreReadOnly(StoreError):
    """The file or its directory does not allow writing."""

    code = "store_read_only"
    status = 403


class StoreFull(StoreError):
    """There is no room left on the disk."""

    code = "store_full"
    status = 507


class StoreUnavailable(StoreError):
    """The store cannot be opened or reached."""

    code = "store_unavailable"
    status = 503
    retryable = True


class StoreCorrupt(StoreError):
    """The store is damaged, or its indexes disagree with its rows."""

    code = "store_corrupt"


class NotABook(StoreError):
    """The file is not a database, or not one that commonplace wrote."""

    code = "not_a_book"
    status = 400


class BookTooNew(StoreError):
    """The book was written by a newer commonplace than this one."""

    code = "book_too_new"
    status = 409


def _conflict(kind: type[Conflict], message: str, current: int) -> Conflict:
    """Rebuild a Conflict on the other side of a process boundary."""
    return kind(message, current=current)


def _limit(kind: type[LimitReached], message: str, retry_after: float) -> LimitReached:
    """Rebuild a LimitReached on the other side of a process boundary."""
    return kind(message, retry_after=retry_after)


def missing_package(user: str, package: str, extra: str) -> str:
    """Return the message for an optional package that is not installed, with the command that installs it."""
    return f'{user} needs the package {package}: pip install "commonplace-memory[{extra}]"'
