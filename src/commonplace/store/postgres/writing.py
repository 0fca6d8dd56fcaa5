"""Writing: callers of one process that write to one space share a commit, and no commit is ever made twice."""

from __future__ import annotations

import secrets
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import psycopg

from commonplace.errors import CommonplaceError, StoreError
from commonplace.store.base import Tx
from commonplace.store.postgres import faults
from commonplace.store.postgres.address import Address
from commonplace.store.postgres.beginning import Beginning
from commonplace.store.postgres.connections import Connections, Link, Patience
from commonplace.store.postgres.replica import Replica
from commonplace.store.postgres.tables import EVERY_SPACE
from commonplace.store.postgres.transaction import Transaction
from commonplace.store.postgres.types import Numbers

T = TypeVar("T")

_TOGETHER = 50
"""At most this many callers share a commit: each has a savepoint, and past 64 those become slow for everybody."""
_FATE = b"SELECT pg_xact_status(CAST($1 AS xid8))"
# The number alone proves nothing: after a crash, numbers that never reached the disk are given out again.
_LAST = """WITH counted AS (INSERT INTO census (space, population, last) SELECT * FROM unnest(:spaces, :more, :lasts)
    ON CONFLICT (space) DO UPDATE SET population = census.population + excluded.population,
    last = greatest(census.last, excluded.last))
    INSERT INTO receipt (writer, token, at) VALUES (:writer, :token, now())
    ON CONFLICT (writer) DO UPDATE SET token = excluded.token, at = excluded.at"""
_RECEIVED = "SELECT 1 FROM {schema}.receipt WHERE writer = $1 AND token = $2"


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


class _Attempt:
    """How far one try of a transaction got."""

    __slots__ = ("committed", "committing", "number", "token", "writer")

    def __init__(self) -> None:
        self.committing = False
        self.committed = False
        self.number = ""
        self.token = secrets.randbits(62)
        self.writer = 0


class Writer:
    """Runs callers' work in transactions on the primary."""

    def __init__(
        self,
        address: Address,
        connections: Connections,
        beginning: Beginning,
        *,
        replica: Replica | None,
        timeout: float,
    ) -> None:
        self._address = address
        self._connections = connections
        self._beginning = beginning
        self._replica = replica
        self._timeout = timeout
        self._lanes: defaultdict[int, _Lane] = defaultdict(_Lane)
        self._lanes_lock = threading.Lock()

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        """Every caller queues its work; whoever gets the lane first runs all that is queued in one transaction."""
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
        """Run some of what is queued, and see to it that each caller is answered, whatever happens."""
        jobs: list[_Job] = []
        lane.leader = threading.get_ident()
        try:
            while lane.queue and len(jobs) < _TOGETHER:
                jobs.append(lane.queue[0])  # before it is taken: an interrupt in between must lose nobody's work
                lane.queue.popleft()
            jobs = [job for job in jobs if not job.abandoned]
            self._commit(jobs, space)
        except psycopg.Error as error:
            self._answer_each(jobs, space, error)
        except CommonplaceError as error:
            # Nobody's job may be run again: what became of the group is not known, or the store was closed.
            _answer(jobs, error)
        finally:
            lane.leader = None
            # What an interrupt left undone goes back: its callers wait for the lane and lead in their turn.
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
                _answer([job], faults.translate(own, self._address.shown))

    def _commit(self, jobs: list[_Job], space: int | None) -> None:
        """Run the jobs in one transaction, again and again while the server comes and goes, but never twice."""
        if not jobs:
            return
        patience = Patience(self._timeout)
        attempt = _Attempt()
        while not self._is_committed(jobs, space, attempt, patience):
            attempt = _Attempt()
        for job in jobs:
            job.done = True

    def _is_committed(self, jobs: list[_Job], space: int | None, attempt: _Attempt, patience: Patience) -> bool:
        """Try once; False if it came to nothing and may be tried again."""
        try:
            with self._connections.borrowed(patience.deadline) as connection:
                self._transact(connection, jobs, space, attempt)
        except psycopg.Error as error:
            if attempt.committing and (attempt.committed or faults.is_lost(error)):
                if self._replica is not None:
                    self._replica.missed(space)
                return attempt.committed or self._was_committed(attempt, patience)
            if faults.is_pooler(error):
                self._connections.without_prepared_statements()
            elif not patience.allows(error):
                raise
            return False
        except BaseException:
            if attempt.committing:  # interrupted: nobody else may try again what may have happened
                _answer(jobs, self._unknown("the caller that committed was interrupted"))
            raise
        return True

    def _transact(self, connection: Link, jobs: list[_Job], space: int | None, attempt: _Attempt) -> None:
        with connection.piped() as wire:
            tx = Transaction(wire)
            # Waited for: what the work takes for the time must not be from before its turn.
            attempt.number = self._beginning.writing(tx, space)
            for job in jobs:
                _run(tx, job, alone=len(jobs) == 1)
            attempt.writer = connection.writer
            tx.send(_LAST, {"writer": attempt.writer, "token": attempt.token, **_census(tx)})
            attempt.committing = True
            # A lone failure has nothing to keep.
            tx.run("ROLLBACK" if all(job.error for job in jobs) else "COMMIT")
            if self._replica is not None:
                wire.sync()
                attempt.committed = True
                self._replica.written(tx, space)

    def _was_committed(self, attempt: _Attempt, patience: Patience) -> bool:
        """Ask the server what became of a transaction whose COMMIT was sent and never answered."""
        while True:
            try:
                with self._connections.borrowed(patience.deadline) as connection:
                    if not _is_running(connection, attempt.number):
                        sql = _RECEIVED.format(schema=self._address.quoted)
                        return bool(connection.execute(sql.encode(), [attempt.writer, attempt.token]).fetchall())
            except psycopg.Error as error:
                if not patience.allows(error):
                    raise self._unknown("the server did not come back in time to ask") from error
            else:
                if not patience.allows(psycopg.OperationalError("still in progress")):
                    raise self._unknown("it is still under way")

    def _unknown(self, why: str) -> StoreError:
        shown = self._address.shown
        return StoreError(f"the connection to {shown} broke in a commit, and {why}: the write may or may not be there")


def _census(tx: Transaction) -> dict[str, Numbers]:
    spaces, more = list(tx.population), list(tx.population.values())
    return {
        "spaces": Numbers(np.array(spaces, np.int32)),
        "more": Numbers(np.array(more, np.int64)),
        "lasts": Numbers(np.array([tx.last.get(space, 0) for space in spaces], np.int64)),
    }


def _run(tx: Transaction, job: _Job, *, alone: bool) -> None:
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


def _answer(jobs: list[_Job], error: BaseException) -> None:
    for job in jobs:
        job.error, job.done = error, True


def _is_running(connection: Link, number: str) -> bool:
    ((standby,),) = connection.execute("SELECT pg_is_in_recovery()").fetchall()
    if standby:
        raise psycopg.OperationalError("a standby may not have heard of a commit yet")
    try:
        ((fate,),) = connection.execute(_FATE, [number]).fetchall()
    except psycopg.errors.InvalidParameterValue:
        return False  # a number that a new primary has not reached
    return bool(fate == "in progress")
