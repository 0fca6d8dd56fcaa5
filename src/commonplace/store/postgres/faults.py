"""What PostgreSQL's errors mean to a caller, and which of them a new connection mends."""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from commonplace.errors import (
    NotABook,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
_GOING_DOWN = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)
_UNPREPARED = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, or leads to a server that no longer takes writes: another one may do."""
    if isinstance(error, (psycopg.InterfaceError, errors.ReadOnlySqlTransaction, *_GOING_DOWN)):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith("08")


def is_passing(error: psycopg.Error) -> bool:
    """Whether the same transaction may well succeed when it is tried again at once."""
    return isinstance(error, _AGAIN)


def is_busy(error: psycopg.Error) -> bool:
    """Whether somebody else held what was wanted for too long."""
    return isinstance(error, (errors.LockNotAvailable, errors.QueryCanceled, PoolTimeout))


def is_pooler(error: psycopg.Error) -> bool:
    """Whether a pooler between us and the server has mixed up prepared statements."""
    return isinstance(error, _UNPREPARED)


_MEANINGS: tuple[tuple[tuple[type[psycopg.Error], ...], type[StoreError], str], ...] = (
    ((PoolTimeout,), StoreBusy, "no connection to {where} became free in time; try again, or raise pool_size"),
    (
        (errors.LockNotAvailable,),
        StoreBusy,
        "other writers held {where} for too long; try again, or raise busy_timeout",
    ),
    ((errors.QueryCanceled,), StoreBusy, "{where} took longer than statement_timeout; try again, or raise it"),
    (
        (errors.TooManyConnections,),
        StoreBusy,
        "{where} takes no more connections; lower pool_size, or put a pooler in front ({said})",
    ),
    ((errors.DiskFull, errors.OutOfMemory), StoreFull, "{where} has no room left; nothing was changed ({said})"),
    (
        (errors.ReadOnlySqlTransaction,),
        StoreReadOnly,
        "{where} is a read-only server: give the primary's URL, a replica's as read_url",
    ),
    ((errors.InsufficientPrivilege,), StoreReadOnly, "the role may not do this in {where}: {said}"),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt, "{where} is damaged: {said}; restore a backup"),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName),
        NotABook,
        "the tables in {where} are not a commonplace book's: {said}",
    ),
)
"""What each kind of error becomes; the first that fits."""


def translate(error: psycopg.Error, where: str) -> StoreError:
    """The error of our own that says what this one means for the book at `where`."""
    lines = str(error).strip().splitlines()
    said = lines[0] if lines else type(error).__name__
    for kinds, becomes, words in _MEANINGS:
        if isinstance(error, kinds):
            return becomes(words.format(where=where, said=said))
    if is_lost(error):
        return StoreUnavailable(f"{where} cannot be reached: {said}")
    return StoreError(f"PostgreSQL could not finish on {where}: {said}")
