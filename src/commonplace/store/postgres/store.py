"""The shared store: a PostgreSQL database for many machines.

Writers of one space take turns by an advisory lock, so that what they read stays true until they commit;
writers of other spaces do not wait for them. Callers of one process that write to the same space at the same
time share one transaction and one commit.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from commonplace.errors import CommonplaceError, StoreClosed, StoreError
from commonplace.recall.types import Probe
from commonplace.settings import Settings
from commonplace.store.base import Choose, Found, Row, Tx, Where
from commonplace.store.dialects import PostgresDialect
from commonplace.store.postgres import faults, upkeep
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.blocks import Blocks
from commonplace.store.postgres.connections import Connections, Patience
from commonplace.store.postgres.graphs import Graphs
from commonplace.store.postgres.replica import Replica
from commonplace.store.postgres.search import search
from commonplace.store.postgres.tables import EVERY_SPACE
from commonplace.store.postgres.transaction import POSTGRES, Transaction
from commonplace.values import Check

T = TypeVar("T")

_TOGETHER = 50
"""At most this many callers share a commit: each has a savepoint, and past 64 those become slow for everybody."""
_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# One statement, sent together with the first of the work. The search path and the wall hold for this
# transaction alone, so that a pooler may give the connection to anybody afterwards.
_SETTINGS = """SELECT set_config('search_path', :path, TRUE), set_config('commonplace.space', :space, TRUE),
    set_config('statement_timeout', :statement, TRUE), set_config('lock_timeout', :lock, TRUE),
    set_config('jit', 'off', TRUE)"""
# For a writer also its turn, and the number by which the server knows the transaction.
_NUMBER = "CAST(pg_current_xact_id() AS text)"
_TURN = f"""{_SETTINGS}, pg_advisory_xact_lock_shared(CAST(:book AS integer), -1),
    pg_advisory_xact_lock(CAST(:book AS integer), CAST(:space AS integer)), {_NUMBER}"""
_WHOLE_TURN = f"{_SETTINGS}, pg_advisory_xact_lock(CAST(:book AS integer), -1), {_NUMBER}"
_FATE = "SELECT pg_xact_status(CAST(:number AS xid8))"
_COUNT = """INSERT INTO census (space, population) VALUES (:space, :more)
    ON CONFLICT (space) DO UPDATE SET population = census.population + excluded.population"""


class _Job:
    """One caller's work, waiting for a leader to run it."""

    __slots__ = ("abandoned", "done", "error", "result", "work")

    def __init__(self, work: Callable[[Tx], Any]) -> None:
        self.work = work
        self.done = False
        self.abandoned = False
        self.error: BaseException | None = None
        self.result: Any = None


class _Lane:
    """The callers of one process that want to write to one space."""

    __slots__ = ("leader", "lock", "queue", "users")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.leader: int | None = None
        self.queue: deque[_Job] = deque()
        self.users = 0


class PostgresStore:
    """A Store in a PostgreSQL database. Acknowledged means on the server's disk."""

    def __init__(self, address: Address, settings: Settings, *, read_url: str | None = None) -> None:
        self.address = address
        self._settings = settings
        self._pid = os.getpid()
        self._closed = False
        with faults_explained(address.shown):
            prepared = upkeep.prepare(address, settings)
            self._path = f"{address.schema}, {prepared.types.schema}"
            self._engine = prepared.engine
            self._book = zlib.crc32(address.schema.encode()) - (1 << 31)
            self._primary = Connections(address.url, address.shown, settings, prepared.types)
        self._replica = None if read_url is None else Replica(read_url, settings, prepared.types)
        self._graphs = Graphs(address, settings, prepared.types.schema)
        self._blocks = Blocks()
        self._lanes: defaultdict[int, _Lane] = defaultdict(_Lane)
        self._lanes_lock = threading.Lock()

    @property
    def engine(self) -> str:
        return self._engine

    @property
    def dialect(self) -> PostgresDialect:
        return POSTGRES

    # -- writing ---------------------------------------------------------------------------------

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        self._ensure_open()
        job = _Job(work)
        with self._lane(EVERY_SPACE if space is None else space) as lane:
            if lane.leader == threading.get_ident():
                raise StoreError("a write cannot begin inside another one of the same thread, as from a signal handler")
            try:
                lane.queue.append(job)
                with lane.lock:
                    while not job.done:
                        self._lead(lane, space)
            except BaseException:
                # An interrupted call must not be carried out later, by somebody else's.
                job.abandoned = True
                raise
        if job.error is not None:
            raise job.error
        result: T = job.result
        return result

    @contextmanager
    def _lane(self, space: int) -> Iterator[_Lane]:
        """The lane of a space, which goes when its last user has left."""
        with self._lanes_lock:
            lane = self._lanes[space]
            lane.users += 1
        try:
            yield lane
        finally:
            with self._lanes_lock:
                lane.users -= 1
                if not lane.users:
                    del self._lanes[space]

    def _lead(self, lane: _Lane, space: int | None) -> None:
        """Run what is queued, a group at a time, until nothing is left; the leader's own job is among the first."""
        jobs = [lane.queue.popleft() for _ in range(min(len(lane.queue), _TOGETHER))]
        jobs = [job for job in jobs if not job.abandoned]
        lane.leader = threading.get_ident()
        try:
            self._commit(jobs, space)
        except psycopg.Error as error:
            self._answer_each(jobs, space, error)
        except CommonplaceError as error:
            # Nobody's job may be run again: what became of the group is not known, or the store was closed.
            for job in jobs:
                job.error, job.done = error, True
        finally:
            lane.leader = None
            lane.queue.extendleft(job for job in reversed(jobs) if not job.done)

    def _answer_each(self, jobs: list[_Job], space: int | None, error: psycopg.Error) -> None:
        """The server refused the group: give each caller a transaction of its own, since one may have spoilt it.

        A server that is away or busy was nobody's fault, and waiting for it again for each caller would multiply the
        time-out.
        """
        alone = len(jobs) == 1 or faults.is_lost(error) or faults.is_busy(error)
        for job in jobs:
            try:
                if alone:
                    raise error
                self._commit([job], space)
            except psycopg.Error as own:
                job.error, job.done = faults.translate(own, self.address.shown), True

    def _commit(self, jobs: list[_Job], space: int | None) -> None:
        """Run the jobs in one transaction, again and again while the server comes and goes, but never twice."""
        patience = Patience(self._settings.busy_timeout)
        while True:
            attempt = _Attempt()
            try:
                with self._primary.borrowed(patience.deadline) as connection:
                    self._transact(connection, jobs, space, attempt)
                break
            except psycopg.Error as error:
                if faults.is_pooler(error):
                    self._primary.without_prepared_statements()
                elif attempt.committing and faults.is_lost(error):
                    if self._was_committed(attempt.number, patience):
                        break
                elif not patience.allows(error):
                    raise
        for job in jobs:
            job.done = True

    def _transact(
        self, connection: psycopg.Connection[Any], jobs: list[_Job], space: int | None, attempt: _Attempt
    ) -> None:
        with connection.pipeline():
            tx = Transaction(connection, self._blocks)
            tx.run("BEGIN")
            begun = self._settle(tx, space, _WHOLE_TURN if space is None else _TURN)
            for job in jobs:
                self._run(tx, job, alone=len(jobs) == 1)
            for changed, more in tx.population.items():
                tx.run(_COUNT, {"space": changed, "more": more})
            attempt.number = begun.fetchall()[0][-1]
            attempt.committing = True
            # A lone failure has nothing to keep.
            tx.run("ROLLBACK" if all(job.error for job in jobs) else "COMMIT")
            if self._replica is not None:
                self._replica.written(tx, space)

    def _run(self, tx: Transaction, job: _Job, *, alone: bool) -> None:
        """Run one job; one that fails undoes its own changes and nobody else's."""
        job.error = None
        before = Counter(tx.population)
        if not alone:
            tx.run("SAVEPOINT job")
        try:
            job.result = job.work(tx)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a caller's work raises is that caller's to see
            job.error = error
            tx.population = before
            if not alone:
                tx.run("ROLLBACK TO job")
        if not alone:
            tx.run("RELEASE job")

    def _was_committed(self, number: str, patience: Patience) -> bool:
        """Ask the server what became of a transaction whose COMMIT was sent and never answered."""
        while True:
            try:
                with self._primary.borrowed(patience.deadline) as connection:
                    ((fate,),) = connection.execute(_FATE.replace(":number", "$1"), [number]).fetchall()
            except psycopg.errors.InvalidParameterValue:
                return False  # a number that the new primary has not reached: the commit never came to it
            except psycopg.Error as error:
                if not patience.allows(error):
                    raise StoreError(
                        f"the connection to {self.address.shown} broke during a commit, and the server did not come"
                        " back in time to ask: the write may or may not be there"
                    ) from error
                continue
            if fate != "in progress":
                return bool(fate == "committed")
            if not patience.allows(psycopg.OperationalError("still in progress")):
                raise StoreError(f"a commit on {self.address.shown} is still in progress: the write may yet be there")

    # -- reading ---------------------------------------------------------------------------------

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        self._ensure_open()
        return self._attempted(self._primary, work, space, Patience(self._settings.busy_timeout))

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose, *, narrow: bool, as_of: int | None
    ) -> Found:
        self._ensure_open()

        def work(tx: Transaction) -> Found:
            return search(tx, self._graphs, space, probe, where, choose, narrow=narrow, as_of=as_of)

        if self._replica is not None:
            fresh = self._fresh(work, space)
            found = self._replica.tried(lambda there, patience: self._attempted(there, fresh, space, patience))
            if found is not None:
                return found
        return self._attempted(self._primary, work, space, Patience(self._settings.busy_timeout))

    def _fresh(self, work: Callable[[Transaction], T], space: int) -> Callable[[Transaction], T | None]:
        """The work, unless the server that it meets has not yet seen what this process wrote."""
        replica = self._replica

        def checked(tx: Transaction) -> T | None:
            return work(tx) if replica is not None and replica.is_fresh(tx, space) else None

        return checked

    def _attempted(
        self, connections: Connections, work: Callable[[Transaction], T], space: int | None, patience: Patience
    ) -> T:
        while True:
            try:
                with connections.borrowed(patience.deadline) as connection, connection.pipeline():
                    return self._looked(Transaction(connection, self._blocks), work, space)
            except psycopg.Error as error:
                if faults.is_pooler(error):
                    connections.without_prepared_statements()
                elif not patience.allows(error):
                    raise faults.translate(error, self.address.shown) from error

    def _looked(self, tx: Transaction, work: Callable[[Transaction], T], space: int | None) -> T:
        tx.run(_READING)
        self._settle(tx, space, _SETTINGS)
        try:
            result = work(tx)
        except CommonplaceError:
            tx.run("ROLLBACK")
            raise
        tx.run("ROLLBACK")
        return result

    def _settle(self, tx: Transaction, space: int | None, sql: str) -> psycopg.Cursor[Row]:
        """Tell the server what this transaction is about."""
        return tx.send(
            sql,
            {
                "path": self._path,
                "space": str(EVERY_SPACE if space is None else space),
                "statement": str(int(1000 * self._settings.statement_timeout)),
                "lock": str(int(1000 * self._settings.busy_timeout)),
                "book": self._book,
            },
        )

    # -- keeping ---------------------------------------------------------------------------------

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
            raise StoreClosed(f"the book at {self.address.shown} was closed")
        if os.getpid() != self._pid:
            raise StoreClosed(f"{self.address.shown} was opened before a fork; open it again in the child process")


class _Attempt:
    """How far one try of a transaction got."""

    __slots__ = ("committing", "number")

    def __init__(self) -> None:
        self.committing = False
        self.number = ""


@contextmanager
def faults_explained(shown: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours."""
    try:
        yield
    except CommonplaceError:
        raise
    except psycopg.Error as error:
        raise faults.translate(error, shown) from error
