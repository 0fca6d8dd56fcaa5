"""Connections to the primary and to a replica, patience while a server is away, and PostgreSQL's errors as ours."""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from commonplace.errors import (
    InvalidInput,
    NotABook,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from commonplace.settings import Settings
from commonplace.store.base import Row, Tx
from commonplace.store.postgres.address import DatabaseAddress
from commonplace.store.postgres.transaction import Transaction
from commonplace.store.postgres.wire import VectorTypes, Wire, register_types

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
_LOG = logging.getLogger(__name__)

_TYPES = """SELECT t.typname, t.oid, n.nspname FROM pg_type t JOIN pg_extension e ON e.extname = 'vector'
    JOIN pg_depend d ON d.objid = t.oid AND d.refobjid = e.oid JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typname IN ('halfvec', 'vector')"""
# The pool must not log to the terminal of programs without logging: our errors say the same.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_CONNECT = 10
_ASK_AGAIN = 1.0
_NAP = 0.05
_LONGEST_NAP = 1.0


class PostgresConnection(psycopg.Connection[Row]):
    """A connection with a number of its own, under which it stores receipts of its commits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.writer = secrets.randbits(62)
        self.made = time.monotonic()
        self._wire: Wire | None = None

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Self:
        """Return the connection in the option `spare`, if there is one, else a new one."""
        spare: list[Self] = options.pop("spare", [])
        return spare.pop() if spare else super().connect(*args, **options)

    @contextmanager
    def wire(self) -> Iterator[Wire]:
        """Pipeline statements; at the end all of them are answered."""
        if self._wire is None:
            self._wire = Wire(self, prepare=self.prepare_threshold is not None)
        wire = self._wire
        wire.prepare = self.prepare_threshold is not None
        wire.open()
        try:
            yield wire
        except Exception:
            with suppress(psycopg.Error):
                wire.close()
            raise
        wire.close()

    def close(self) -> None:
        if self._wire is not None:
            self._wire.discard()
        super().close()


def connect(url: str, shown: str, settings: Settings) -> PostgresConnection:
    """Open a connection outside the pool: its errors say at once what is wrong with the URL or the server."""
    try:
        return PostgresConnection.connect(url, **_options(settings))
    except psycopg.ProgrammingError:  # its message holds the URL
        raise InvalidInput(
            f"the URL of {shown} cannot be read: write special characters in a user or password as %40 and the like"
        ) from None
    except psycopg.Error as error:
        raise translate(error, shown) from error


def find_vector_types(connection: PostgresConnection, shown: str) -> VectorTypes:
    """Return pgvector's types in this database."""
    found = {name: (oid, schema) for name, oid, schema in connection.execute(_TYPES).fetchall()}
    if "halfvec" not in found:
        raise StoreUnavailable(
            f"{shown} has no pgvector 0.8 or later: install it on the server, then run CREATE EXTENSION vector there"
        )
    return VectorTypes(halfvec=found["halfvec"][0], vector=found["vector"][0], schema=f'"{found["halfvec"][1]}"')


class Connections:
    """A pool of connections to one server; with the `first` connection it is ready at once."""

    def __init__(
        self, url: str, shown: str, settings: Settings, types: VectorTypes, *, first: PostgresConnection | None = None
    ) -> None:
        self._url = url
        self._shown = shown
        self._settings = settings
        self._prepare: int | None = _PREPARE_AFTER
        self._types = types
        self._renewed = 0.0
        self._troubled = True  # until the first connection is there
        self._renewing = threading.Lock()
        self._pool: ConnectionPool[PostgresConnection] = ConnectionPool(
            url,
            connection_class=PostgresConnection,
            kwargs={**_options(settings), "spare": [] if first is None else [first]},
            configure=self._configure,
            min_size=1,
            max_size=int(settings.pool_size),
            open=True,
            name="commonplace",
            # The pool doubles its waits; callers would wait as long again as the server was away (see `_take`).
            reconnect_timeout=0.01,
        )
        if first is not None:
            self._await_first()

    def _await_first(self) -> None:
        # A caller that asks while the pool is empty would make it connect once more.
        try:
            self._pool.wait(timeout=_CONNECT)
        except PoolTimeout:
            connect(self._url, self._shown, self._settings).close()  # raises the reason
            raise

    @contextmanager
    def borrow(self, deadline: float) -> Iterator[PostgresConnection]:
        """Lend a connection for one transaction; a broken one does not come back."""
        connection = self._take(deadline)
        if connection.prepare_threshold != self._prepare:
            connection.prepare_threshold = self._prepare
        try:
            yield connection
        except BaseException as error:
            # The server may still be working for this connection, unless the caller's own code failed.
            if isinstance(error, psycopg.Error) or not isinstance(error, Exception):
                with suppress(psycopg.Error):
                    connection.close()
                self._renew(connection, error)
            raise
        finally:
            self._pool.putconn(connection)

    def _take(self, deadline: float) -> PostgresConnection:
        while True:
            rest = max(deadline - time.monotonic(), 0.01)
            try:
                # Each request makes the pool try to connect once, if it may grow: a server that was away is found
                # again soon. While nothing is wrong, callers keep their place in the queue.
                taken = self._pool.getconn(timeout=min(rest, _ASK_AGAIN) if self._troubled else rest)
                self._troubled = False
                return taken
            except PoolClosed:
                raise StoreClosed(f"the book at {self._shown} was closed") from None
            except PoolTimeout:
                if time.monotonic() >= deadline:
                    connect(self._url, self._shown, self._settings).close()  # raises the reason
                    raise

    def _renew(self, connection: PostgresConnection, error: BaseException) -> None:
        """Drop every connection that is as old as a broken one: a restart has broken them all."""
        if not isinstance(error, psycopg.Error) or not is_lost(error):
            return
        with self._renewing:
            self._troubled = True
            if connection.made > self._renewed:
                self._renewed = time.monotonic()
                self._pool.drain()

    def stop_preparing(self) -> None:
        """Stop preparing statements: a pooler gives each transaction to another server connection."""
        self._prepare = None

    def close(self) -> None:
        self._pool.close(timeout=5)

    def _configure(self, connection: PostgresConnection) -> None:
        register_types(connection, self._types)
        # A pooler gives each transaction to any server connection, where another client's statement may be prepared
        # under the same name. A pooler is recognised by its made-up process number.
        ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
        if process != connection.info.backend_pid:
            self.stop_preparing()


_PREPARE_AFTER = 2
"""Any number allows prepared statements, None forbids them."""


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "autocommit": True,  # BEGIN and COMMIT are sent in the pipeline with the other statements
        "cursor_factory": psycopg.RawCursor,
        "prepare_threshold": None,  # until it is known that there is no pooler
        "application_name": "commonplace",
        "connect_timeout": _CONNECT,
        # Notice a server that vanished.
        "keepalives_idle": 30,
        "tcp_user_timeout": int(1000 * settings.statement_timeout),
    }


class Patience:
    """How long a call retries while the server is away or busy."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self._nap = _NAP

    def allows(self, error: psycopg.Error) -> bool:
        """Whether to try again after this error; waits a little first."""
        hopeless = isinstance(error, PoolTimeout) or not (is_lost(error) or isinstance(error, _AGAIN))
        if hopeless or time.monotonic() + self._nap > self.deadline:
            return False
        time.sleep(random.uniform(self._nap / 2, self._nap))
        self._nap = min(2 * self._nap, _LONGEST_NAP)
        return True


# -- replica -------------------------------------------------------------------------------------------

_WRITTEN = "SELECT CAST(pg_current_wal_insert_lsn() AS text)"
# A promoted server may have diverged: the primary answers instead.
_FRESH = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn)"
_REMEMBERED = 10_000
_PATIENCE = 1.0
"""Seconds that a recall waits for a replica; then it asks the primary."""
_REST = 5.0
"""Seconds without requests to a replica that did not answer."""


class ReplicaBehind(Exception):
    """The replica has not seen a write yet."""


class Replica:
    """A read replica, asked only when it has seen everything that this process wrote to the space."""

    def __init__(self, address: DatabaseAddress, settings: Settings, types: VectorTypes, position: str) -> None:
        self._connections = Connections(address.url, address.shown, settings, types)
        self._written: OrderedDict[int, int] = OrderedDict()
        self._missed: set[int | None] = set()
        self._floor = _position(position)  # writes of others before the book was opened count, too
        self._resting_until = 0.0
        self._lock = threading.Lock()

    def note_written(self, tx: Tx, space: int | None) -> None:
        """Record the position of the primary's log after a write to a space."""
        ((said,),) = tx.run(_WRITTEN)
        position = _position(said)
        with self._lock:
            self._missed.discard(space)
            if space is None:
                self._floor = max(self._floor, position)
                return
            self._written.pop(space, None)
            self._written[space] = position
            while len(self._written) > _REMEMBERED:
                self._floor = max(self._floor, self._written.popitem(last=False)[1])

    def note_missed(self, space: int | None) -> None:
        """Record that a write may be in the log at an unknown position: the primary must be asked."""
        with self._lock:
            self._missed.add(space)

    def find_missed(self, space: int) -> list[int | None]:
        """Return the spaces whose log position must be read from the primary before the replica may answer."""
        with self._lock:
            return [each for each in (space, None) if each in self._missed]

    def ensure_fresh(self, wire: Wire, space: int) -> None:
        """Raise ReplicaBehind unless the replica has seen every write of this process to the space."""
        with self._lock:
            wanted = max(self._written.get(space, 0), self._floor)
        answer = Transaction(wire).send(_FRESH, {"written": f"{wanted >> 32:X}/{wanted & 0xFFFFFFFF:X}"})
        wire.sync()  # outside the snapshot, so that the answer holds for it
        if not answer.fetchall()[0][0]:
            raise ReplicaBehind

    def ask(self, question: Callable[[Connections, Patience], T]) -> T | None:
        """Return the replica's answer; None if it is behind or away."""
        if time.monotonic() < self._resting_until:
            return None
        try:
            return question(self._connections, Patience(_PATIENCE))
        except ReplicaBehind:
            return None
        except StoreError as error:
            if not isinstance(error, (StoreBusy, StoreUnavailable)):
                _LOG.warning("a replica could not answer, the primary does: %s", error)
            self._resting_until = time.monotonic() + _REST
            return None

    def close(self) -> None:
        self._connections.close()


def _position(position: str) -> int:
    high, low = position.split("/")
    return int(high, 16) << 32 | int(low, 16)


# -- errors --------------------------------------------------------------------------------------------

_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
_GOING_DOWN = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)
_UNPREPARED = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is lost, or leads to a server that no longer takes writes; a new one may work."""
    if isinstance(error, (psycopg.InterfaceError, errors.ReadOnlySqlTransaction, *_GOING_DOWN)):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith("08")


def is_busy(error: psycopg.Error) -> bool:
    """Whether others held a lock or connection for too long."""
    return isinstance(error, (errors.LockNotAvailable, errors.QueryCanceled, PoolTimeout))


def is_pooler(error: psycopg.Error) -> bool:
    """Whether a pooler has mixed up prepared statements."""
    return isinstance(error, _UNPREPARED)


_MEANINGS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], type[StoreError], str], ...] = (
    (PoolTimeout, StoreBusy, "no connection to {where} became free in time; try again, or raise pool_size"),
    (errors.LockNotAvailable, StoreBusy, "other writers held {where} for too long; try again, or raise busy_timeout"),
    (errors.QueryCanceled, StoreBusy, "{where} took longer than statement_timeout; try again, or raise it"),
    (
        errors.TooManyConnections,
        StoreBusy,
        "{where} takes no more connections; lower pool_size, or put a pooler in front ({said})",
    ),
    ((errors.DiskFull, errors.OutOfMemory), StoreFull, "{where} has no room left; nothing was changed ({said})"),
    (
        errors.ReadOnlySqlTransaction,
        StoreReadOnly,
        "{where} is a read-only server: give the primary's URL, a replica's as read_url",
    ),
    (errors.InsufficientPrivilege, StoreReadOnly, "the role may not do this in {where}: {said}"),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt, "{where} is damaged: {said}; restore a backup"),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName),
        NotABook,
        "the tables in {where} are not those of a commonplace book: {said}",
    ),
)
"""Our error for each kind of theirs; the first match counts."""


def translate(error: psycopg.Error, where: str) -> StoreError:
    """Return our error for a PostgreSQL error on the book at `where`."""
    lines = str(error).strip().splitlines()
    said = lines[0] if lines else type(error).__name__
    for kinds, becomes, words in _MEANINGS:
        if isinstance(error, kinds):
            return becomes(words.format(where=where, said=said))
    if is_lost(error):
        return StoreUnavailable(f"{where} cannot be reached: {said}")
    return StoreError(f"PostgreSQL could not finish on {where}: {said}")
