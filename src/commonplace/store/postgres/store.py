"""The shared store: a PostgreSQL database for many machines.

Writers of one space take turns by an advisory lock, so that what they read stays true until they commit;
writers of other spaces do not wait for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar, overload

import psycopg

from commonplace.errors import CommonplaceError, StoreClosed
from commonplace.settings import Settings
from commonplace.store.base import Choose, Found, Tx, Where
from commonplace.store.candidates import Probe
from commonplace.store.dialects import PostgresDialect
from commonplace.store.postgres import faults, upkeep
from commonplace.store.postgres.address import Address, parse
from commonplace.store.postgres.beginning import beginning
from commonplace.store.postgres.connections import Connections, Patience
from commonplace.store.postgres.graphs import Graphs
from commonplace.store.postgres.replica import Replica
from commonplace.store.postgres.search import count_terms, search
from commonplace.store.postgres.transaction import POSTGRES, Transaction
from commonplace.store.postgres.wire import Answer
from commonplace.store.postgres.writing import Writer
from commonplace.values import Check
from commonplace.values.arrays import Ints

T = TypeVar("T")
J = TypeVar("J")
_Asks = Callable[[Transaction], Answer]


class PostgresStore:
    """A Store in a PostgreSQL database. Acknowledged means on the server's disk."""

    def __init__(self, address: Address, settings: Settings, *, read_url: str | None = None) -> None:
        self._address = address
        self._settings = settings
        self._pid = os.getpid()
        self._closed = False
        replica_address = None if read_url is None else parse(read_url)
        with _explained(address.shown):
            prepared = upkeep.prepare(address, settings)
            types = prepared.types
            self._primary = Connections(address.url, address.shown, settings, types, first=prepared.connection)
        self._engine = prepared.engine
        self._beginning = beginning(address, settings, types)
        self._graphs = Graphs(address, settings, types.schema)
        self._replica = (
            None if replica_address is None else Replica(replica_address, settings, types, prepared.position)
        )
        self._writer = Writer(
            address,
            self._primary,
            self._beginning,
            replica=self._replica,
            timeout=settings.busy_timeout,
        )

    @property
    def engine(self) -> str:
        return self._engine

    @property
    def dialect(self) -> PostgresDialect:
        return POSTGRES

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        self._ensure_open()
        return self._writer.write(work, space)

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        self._ensure_open()
        return self._looked(self._primary, work, space, Patience(self._settings.busy_timeout))

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        return self._recalled(
            lambda tx: search(tx, self._graphs, space, probe, where, choose, narrow=narrow, as_of=as_of), space
        )

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        return self._recalled(lambda tx: count_terms(tx, space, terms), space)

    def _recalled(self, work: Callable[[Transaction], T], space: int) -> T:
        """Run the work on the replica if there is one that has seen enough, else on the primary."""
        self._ensure_open()
        if self._replica is not None:
            for missed in self._replica.missing(space):
                self.read(partial(self._replica.written, space=missed), space)
            fresh = partial(self._replica.is_fresh, space=space)
            found = self._replica.tried(lambda there, patience: self._looked(there, work, space, patience, fresh))
            if found is not None:
                return found
        return self._looked(self._primary, work, space, Patience(self._settings.busy_timeout))

    @overload
    def _looked(
        self, connections: Connections, work: Callable[[Transaction], T], space: int | None, patience: Patience
    ) -> T: ...

    @overload
    def _looked(
        self,
        connections: Connections,
        work: Callable[[Transaction], T],
        space: int | None,
        patience: Patience,
        fresh: _Asks,
    ) -> T | None: ...

    def _looked(
        self,
        connections: Connections,
        work: Callable[[Transaction], T],
        space: int | None,
        patience: Patience,
        fresh: _Asks | None = None,
    ) -> T | None:
        """Run the work on a snapshot; None if `fresh` says that the server is behind."""
        while True:
            try:
                with connections.borrowed(patience.deadline) as connection, connection.piped() as wire:
                    tx = Transaction(wire)
                    # Asked before the snapshot is taken, so that it holds what the answer promises.
                    asked = None if fresh is None else fresh(tx)
                    if asked is not None:
                        wire.sync()
                        if not asked.fetchall()[0][0]:
                            return None
                    return self._look(tx, work, space)
            except psycopg.Error as error:
                if faults.is_pooler(error):
                    connections.without_prepared_statements()
                elif not patience.allows(error):
                    raise faults.translate(error, self._address.shown) from error

    def _look(self, tx: Transaction, work: Callable[[Transaction], T], space: int | None) -> T:
        self._beginning.reading(tx, space)
        try:
            result = work(tx)
        except CommonplaceError:
            tx.run("ROLLBACK")
            raise
        tx.run("ROLLBACK")
        return result

    def scrub(self, space: int) -> None:
        """Nothing to do: rows that were deleted go with the next vacuum, which the server sees to."""

    def size(self) -> int:
        return self.read(upkeep.size, None)

    def backup(self, path: Path) -> None:
        upkeep.backup(self, path, self._settings)

    def check(self, *, deep: bool) -> Check:
        return self.read(lambda tx: upkeep.check(tx, deep=deep), None)

    def close(self) -> None:
        # In a forked child the connections are not its own to touch.
        if os.getpid() != self._pid or self._closed:
            return
        self._closed = True
        self._graphs.close()
        self._primary.close()
        if self._replica is not None:
            self._replica.close()

    def _ensure_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the book at {self._address.shown} was closed")
        if os.getpid() != self._pid:
            raise StoreClosed(f"{self._address.shown} was opened before a fork; open it again in the child process")


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours."""
    try:
        yield
    except psycopg.Error as error:
        raise faults.translate(error, shown) from error
