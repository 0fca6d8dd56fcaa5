"""Connections to one server: a pool of them, what each is told, and patience while the server is away."""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from commonplace.errors import InvalidInput, StoreClosed, StoreUnavailable
from commonplace.settings import Settings
from commonplace.store.base import Row
from commonplace.store.postgres import faults
from commonplace.store.postgres.types import VectorTypes, register
from commonplace.store.postgres.wire import Wire

if TYPE_CHECKING:
    from typing_extensions import Self

_TYPES = """SELECT t.typname, t.oid, n.nspname FROM pg_type t JOIN pg_extension e ON e.extname = 'vector'
    JOIN pg_depend d ON d.objid = t.oid AND d.refobjid = e.oid JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typname IN ('halfvec', 'vector')"""
# What its pool has to say goes to those who listen, not to the terminal of those who do not: our errors say it too.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_CONNECT = 10
_ASK_AGAIN = 1.0
_NAP = 0.05
_LONGEST_NAP = 1.0


class Link(psycopg.Connection[Row]):
    """A connection with a name of its own, under which it leaves receipts of its commits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.writer = secrets.randbits(62)
        self.made = time.monotonic()
        self._wire: Wire | None = None

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Self:
        """Take the connection that the option `spare` holds, if there is one, else make one."""
        spare: list[Self] = options.pop("spare", [])
        return spare.pop() if spare else super().connect(*args, **options)

    @contextmanager
    def piped(self) -> Iterator[Wire]:
        """Send statements ahead; at the end all of them are answered."""
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


def connect(url: str, shown: str, settings: Settings) -> Link:
    """One connection outside the pool: its errors say at once what is wrong with the URL or the server."""
    try:
        return Link.connect(url, **_options(settings))
    except psycopg.ProgrammingError:  # its words hold the URL
        raise InvalidInput(
            f"the URL of {shown} cannot be read: write special characters in a user or password as %40 and the like"
        ) from None
    except psycopg.Error as error:
        raise faults.translate(error, shown) from error


def vector_types(connection: Link, shown: str) -> VectorTypes:
    """pgvector's types in this database."""
    found = {name: (oid, schema) for name, oid, schema in connection.execute(_TYPES).fetchall()}
    if "halfvec" not in found:
        raise StoreUnavailable(
            f"{shown} has no pgvector 0.8 or later: install it on the server, then run CREATE EXTENSION vector there"
        )
    return VectorTypes(halfvec=found["halfvec"][0], vector=found["vector"][0], schema=f'"{found["halfvec"][1]}"')


class Connections:
    """A pool of connections to one server; with the `first` of them, it is ready at once."""

    def __init__(
        self, url: str, shown: str, settings: Settings, types: VectorTypes, *, first: Link | None = None
    ) -> None:
        self._url = url
        self._shown = shown
        self._settings = settings
        self._prepare: int | None = _PREPARE_AFTER
        self._types = types
        self._renewed = 0.0
        self._troubled = True  # until the first connection is there
        self._renewing = threading.Lock()
        self._pool: ConnectionPool[Link] = ConnectionPool(
            url,
            connection_class=Link,
            kwargs={**_options(settings), "spare": [] if first is None else [first]},
            configure=self._configure,
            min_size=1,
            max_size=int(settings.pool_size),
            open=True,
            name="commonplace",
            # Its steps double, and callers would wait as long again as the server was away: see `_taken`.
            reconnect_timeout=0.01,
        )
        if first is not None:
            self._await_first()

    def _await_first(self) -> None:
        # Whoever asks while the pool is still empty makes it connect once more.
        try:
            self._pool.wait(timeout=_CONNECT)
        except PoolTimeout:
            connect(self._url, self._shown, self._settings).close()  # says why
            raise

    @contextmanager
    def borrowed(self, deadline: float) -> Iterator[Link]:
        """A connection for one transaction; one that is broken does not come back."""
        connection = self._taken(deadline)
        if connection.prepare_threshold != self._prepare:
            connection.prepare_threshold = self._prepare
        try:
            yield connection
        except BaseException as error:
            # Nobody knows what the server still works on for this connection, unless the caller's own code failed.
            if isinstance(error, psycopg.Error) or not isinstance(error, Exception):
                _discard(connection)
                self._renew(connection, error)
            raise
        finally:
            self._pool.putconn(connection)

    def _taken(self, deadline: float) -> Link:
        while True:
            rest = max(deadline - time.monotonic(), 0.01)
            try:
                # Each asking makes the pool try to connect once, if it may grow: so a server that was away is found
                # again soon. While nothing is wrong nobody gives up his place in the queue.
                taken = self._pool.getconn(timeout=min(rest, _ASK_AGAIN) if self._troubled else rest)
                self._troubled = False
                return taken
            except PoolClosed:
                raise StoreClosed(f"the book at {self._shown} was closed") from None
            except PoolTimeout:
                if time.monotonic() >= deadline:
                    connect(self._url, self._shown, self._settings).close()  # says why, if there is none to be had
                    raise

    def _renew(self, connection: Link, error: BaseException) -> None:
        """Drop every connection that is as old as a broken one: one restart has broken them all."""
        if not isinstance(error, psycopg.Error) or not faults.is_lost(error):
            return
        with self._renewing:
            self._troubled = True
            if connection.made > self._renewed:
                self._renewed = time.monotonic()
                self._pool.drain()

    def without_prepared_statements(self) -> None:
        """From now on prepare nothing: a pooler in front hands each transaction to another server connection."""
        self._prepare = None

    def close(self) -> None:
        self._pool.close(timeout=5)

    def _configure(self, connection: Link) -> None:
        register(connection, self._types)
        # A pooler gives each transaction to a server connection of its choice, where a statement that was prepared
        # under the same name may be somebody else's. It invents the number of the process that it answers for.
        ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
        if process != connection.info.backend_pid:
            self.without_prepared_statements()


_PREPARE_AFTER = 2
"""Any number says that statements may be prepared, None that they may not."""


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "autocommit": True,  # transactions are begun and ended in words, sent together with what they hold
        "cursor_factory": psycopg.RawCursor,
        "prepare_threshold": None,  # until it is known that no pooler is in between
        "application_name": "commonplace",
        "connect_timeout": _CONNECT,
        # A server that vanished without a word is noticed, not waited for.
        "keepalives_idle": 30,
        "tcp_user_timeout": int(1000 * settings.statement_timeout),
    }


def _discard(connection: Link) -> None:
    with suppress(psycopg.Error):
        connection.close()


class Patience:
    """How long one call goes on trying while the server is away or others are in the way."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self._nap = _NAP

    def allows(self, error: psycopg.Error) -> bool:
        """Whether to try again after this error; waits a little if so."""
        hopeless = isinstance(error, PoolTimeout) or not (faults.is_lost(error) or faults.is_passing(error))
        if hopeless or time.monotonic() + self._nap > self.deadline:
            return False
        time.sleep(random.uniform(self._nap / 2, self._nap))
        self._nap = min(2 * self._nap, _LONGEST_NAP)
        return True
