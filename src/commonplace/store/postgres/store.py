"""The shared store: a PostgreSQL database for many machines.

Writers of one space take turns by an advisory lock, so what they read stays true until they commit; writers of other
spaces do not wait for them. Callers of one process that write to one space share a commit, and no commit is ever made
twice.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import psycopg

from commonplace.errors import CommonplaceError, StoreClosed, StoreError
from commonplace.settings import Settings
from commonplace.store.base import BytesSeen, Choose, Found, Probe, Task, Tx, Where
from commonplace.store.postgres import connections as errors
from commonplace.store.postgres import database, vacuum
from commonplace.store.postgres.address import DatabaseAddress, parse
from commonplace.store.postgres.connections import Connections, Patience, PostgresConnection, Replica
from commonplace.store.postgres.search import Graphs, count_terms, search
from commonplace.store.postgres.transaction import EVERY_SPACE, SYNTAX, Transaction, make_beginning
from commonplace.store.postgres.wire import Numbers
from commonplace.store.where import PostgresSyntax
from commonplace.values import Check
from commonplace.values.arrays import Ints

T = TypeVar("T")
J = TypeVar("J")


_TOGETHER = 50
"""At most this many callers share a commit: each has a savepoint, and more than 64 of those are slow for everybody."""
_FATE = b"SELECT pg_xact_status(CAST($1 AS xid8))"
# The transaction's number alone proves nothing: after a crash, unused numbers are given out again.
_RECEIPT = """WITH counted AS (INSERT INTO census (space, population, last) SELECT * FROM unnest(:spaces, :more, :lasts)
    ON CONFLICT (space) DO UPDATE SET population = census.population + excluded.population,
    last = greatest(census.last, excluded.last))
    INSERT INTO receipt (writer, token, at) VALUES (:writer, :token, now())
    ON CONFLICT (writer) DO UPDATE SET token = excluded.token, at = excluded.at"""
_RECEIVED = "SELECT 1 FROM {schema}.receipt WHERE writer = $1 AND token = $2"


@dataclass(slots=True, eq=False)
class _Lane:
    """The callers of one process that write to one space."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    leader: int | None = None
    queue: deque[Task] = field(default_factory=deque)
    users: int = 0


@dataclass(slots=True)
class _Attempt:
    """How far one attempt of a transaction got."""

    committing: bool = False
    committed: bool = False
    number: str = ""
    token: int = field(default_factory=lambda: secrets.randbits(62))
    writer: int = 0


class PostgresStore:
    """A Store in a PostgreSQL database. Acknowledged means on the server's disk."""

    def __init__(self, address: DatabaseAddress, settings: Settings, *, read_url: str | None = None) -> None:
        self._address = address
        self._settings = settings
        self._pid = os.getpid()
        self._closed = False
        replica_address = None if read_url is None else parse(read_url)
        try:
            prepared = database.prepare(address, settings)
            types = prepared.types
            self._primary = Connections(address.url, address.shown, settings, types, first=prepared.connection)
        except psycopg.Error as error:
            raise errors.translate(error, address.shown) from error
        self._engine = prepared.engine
        self._beginning = make_beginning(address, settings, types)
        self._graphs = Graphs(address, settings, types.schema)
        self._replica = (
            None if replica_address is None else Replica(replica_address, settings, types, prepared.position)
        )
        self._lanes: defaultdict[int, _Lane] = defaultdict(_Lane)
        self._lanes_lock = threading.Lock()

    @property
    def engine(self) -> str:
        return self._engine

    @property
    def syntax(self) -> PostgresSyntax:
        return SYNTAX

    # -- writing ---------------------------------------------------------------------------------

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        # Every caller queues its work; the first to get the lane runs everything queued in one transaction.
        self._ensure_open()
        task = Task(work)
        with self._lane(EVERY_SPACE if space is None else space) as lane:
            if lane.leader == threading.get_ident():
                raise StoreError("a write cannot start inside another one of the same thread, as in a signal handler")
            try:
                lane.queue.append(task)
                with lane.lock:
                    while not task.done:
                        self._lead(lane, space)
            except BaseException:
                # Nobody else may run the work of an interrupted call.
                task.abandoned = True
                raise
        if task.error is not None:
            raise task.error
        result: T = task.result
        return result

    @contextmanager
    def _lane(self, space: int) -> Iterator[_Lane]:
        """Lend the lane of a space; it is removed after its last user."""
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
        """Run some of the queue and make sure that each caller gets an answer."""
        tasks: list[Task] = []
        lane.leader = threading.get_ident()
        try:
            while lane.queue and len(tasks) < _TOGETHER:
                tasks.append(lane.queue[0])  # before popping it: an interrupt in between must not lose it
                lane.queue.popleft()
            tasks = [task for task in tasks if not task.abandoned]
            self._commit(tasks, space)
        except psycopg.Error as error:
            self._answer_each(tasks, space, error)
        except CommonplaceError as error:
            # No task may run again: the fate of the group is unknown, or the store was closed.
            _answer(tasks, error)
        finally:
            lane.leader = None
            # After an interrupt, unfinished tasks go back: their callers wait for the lane and lead in turn.
            lane.queue.extendleft(task for task in reversed(tasks) if not task.done)

    def _answer_each(self, tasks: list[Task], space: int | None, error: psycopg.Error) -> None:
        """Run each task in its own transaction after the group failed: one task may have caused it.

        If the server is away or busy, every caller gets the error: waiting again for each would multiply the time-out.
        """
        alone = len(tasks) == 1 or errors.is_lost(error) or errors.is_busy(error)
        for task in tasks:
            try:
                if alone:
                    raise error
                self._commit([task], space)
            except psycopg.Error as own:
                _answer([task], errors.translate(own, self._address.shown))

    def _commit(self, tasks: list[Task], space: int | None) -> None:
        """Run the tasks in one transaction, retried while the server is away, but never committed twice."""
        if not tasks:
            return
        patience = Patience(self._settings.busy_timeout)
        attempt = _Attempt()
        while not self._is_committed(tasks, space, attempt, patience):
            attempt = _Attempt()
        for task in tasks:
            task.done = True

    def _is_committed(self, tasks: list[Task], space: int | None, attempt: _Attempt, patience: Patience) -> bool:
        """Try once; False if nothing happened and it may be tried again."""
        try:
            with self._primary.borrow(patience.deadline) as connection:
                self._transact(connection, tasks, space, attempt)
        except psycopg.Error as error:
            if attempt.committing and (attempt.committed or errors.is_lost(error)):
                if self._replica is not None:
                    self._replica.note_missed(space)
                return attempt.committed or self._was_committed(attempt, patience)
            if errors.is_pooler(error):
                self._primary.stop_preparing()
            elif not patience.allows(error):
                raise
            return False
        except BaseException:
            if attempt.committing:  # interrupted: it may have happened, so nobody may try again
                _answer(tasks, self._unknown("the caller that committed was interrupted"))
            raise
        return True

    def _transact(
        self, connection: PostgresConnection, tasks: list[Task], space: int | None, attempt: _Attempt
    ) -> None:
        with connection.wire() as wire:
            tx = Transaction(wire)
            # Waited for: the work must not read the clock before its turn.
            attempt.number = self._beginning.begin_writing(tx, space)
            for task in tasks:
                _run(tx, task, alone=len(tasks) == 1)
            attempt.writer = connection.writer
            tx.send(_RECEIPT, {"writer": attempt.writer, "token": attempt.token, **_census(tx)})
            attempt.committing = True
            # If all failed, there is nothing to commit.
            tx.run("ROLLBACK" if all(task.error for task in tasks) else "COMMIT")
            if self._replica is not None:
                wire.sync()
                attempt.committed = True
                self._replica.note_written(tx, space)

    def _was_committed(self, attempt: _Attempt, patience: Patience) -> bool:
        """Ask the server about a transaction whose COMMIT was never answered."""
        while True:
            try:
                with self._primary.borrow(patience.deadline) as connection:
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

    # -- reading ---------------------------------------------------------------------------------

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        self._ensure_open()
        return self._read(self._primary, work, space, Patience(self._settings.busy_timeout))

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        return self._recall(
            lambda tx: search(tx, self._graphs, space, probe, where, choose, narrow=narrow, as_of=as_of), space
        )

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        return self._recall(lambda tx: count_terms(tx, space, terms), space)

    def _recall(self, work: Callable[[Transaction], T], space: int) -> T:
        """Run the work on the replica if it has seen enough, else on the primary."""
        self._ensure_open()
        if self._replica is not None:
            for missed in self._replica.find_missed(space):
                self.read(partial(self._replica.note_written, space=missed), space)
            found = self._replica.ask(lambda there, patience: self._read(there, work, space, patience))
            if found is not None:
                return found
        return self._read(self._primary, work, space, Patience(self._settings.busy_timeout))

    def _read(
        self, connections: Connections, work: Callable[[Transaction], T], space: int | None, patience: Patience
    ) -> T:
        """Run the work on a snapshot."""
        while True:
            try:
                with connections.borrow(patience.deadline) as connection, connection.wire() as wire:
                    if self._replica is not None and space is not None and connections is not self._primary:
                        self._replica.ensure_fresh(wire, space)
                    tx = Transaction(wire)
                    self._beginning.begin_reading(tx, space)
                    try:
                        result = work(tx)
                    except CommonplaceError:
                        tx.run("ROLLBACK")
                        raise
                    tx.run("ROLLBACK")
                    return result
            except psycopg.Error as error:
                if errors.is_pooler(error):
                    connections.stop_preparing()
                elif not patience.allows(error):
                    raise errors.translate(error, self._address.shown) from error

    # -- maintenance -----------------------------------------------------------------------------

    def scrub(self, space: int) -> None:
        """Do nothing: deleted rows stay in their pages until `purge` writes the tables anew."""

    def purge(self, space: int, *, thorough: bool) -> tuple[str, ...]:
        self._ensure_open()
        if not thorough:
            return (vacuum.WAITING,)
        try:
            return vacuum.rewrite(self._address, self._settings, space)
        except psycopg.Error as error:
            raise errors.translate(error, self._address.shown) from error

    def find_bytes(self, wanted: Sequence[bytes]) -> BytesSeen:
        self._ensure_open()
        try:
            return vacuum.find_bytes(self._address, self._settings, wanted)
        except psycopg.Error as error:
            raise errors.translate(error, self._address.shown) from error

    @property
    def copied_to(self) -> tuple[str, ...]:
        return ("write-ahead log", "replicas")

    def scrub_log(self) -> None:
        """Do nothing, as `scrub`."""

    def size(self) -> int:
        return self.read(database.size, None)

    def backup(self, path: Path) -> bool:
        return False  # there is no file to copy

    def check(self, *, deep: bool) -> Check:
        return self.read(lambda tx: database.check(tx, deep=deep), None)

    def close(self) -> None:
        # A forked child must not touch its parent's connections.
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


def _census(tx: Transaction) -> dict[str, Numbers]:
    spaces, more = list(tx.population), list(tx.population.values())
    return {
        "spaces": Numbers(np.array(spaces, np.int32)),
        "more": Numbers(np.array(more, np.int64)),
        "lasts": Numbers(np.array([tx.last.get(space, 0) for space in spaces], np.int64)),
    }


def _run(tx: Transaction, task: Task, *, alone: bool) -> None:
    """Run one task; if it fails, it undoes only its own changes."""
    task.error = None
    before = Counter(tx.population)
    if not alone:
        tx.run("SAVEPOINT task")
    try:
        task.result = task.work(tx)
    except psycopg.Error:
        raise
    except Exception as error:  # noqa: BLE001  # goes to the caller whose work raised it
        task.error = error
        tx.population = before
        if not alone:
            tx.run("ROLLBACK TO task")
    if not alone:
        tx.run("RELEASE task")


def _answer(tasks: list[Task], error: BaseException) -> None:
    for task in tasks:
        task.error, task.done = error, True


def _is_running(connection: PostgresConnection, number: str) -> bool:
    ((standby,),) = connection.execute("SELECT pg_is_in_recovery()").fetchall()
    if standby:
        raise psycopg.OperationalError("a standby may not have heard of a commit yet")
    try:
        ((fate,),) = connection.execute(_FATE, [number]).fetchall()
    except psycopg.errors.InvalidParameterValue:
        return False  # a new primary has not reached this number
    return bool(fate == "in progress")
