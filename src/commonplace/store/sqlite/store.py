"""The embedded store: one SQLite file, many threads and processes, group commit."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw

from commonplace.errors import CommonplaceError, InvalidInput, StoreClosed, StoreError
from commonplace.settings import Settings
from commonplace.store import schema, verify
from commonplace.store.base import Choose, Found, Tx, Where
from commonplace.store.candidates import Probe
from commonplace.store.dialects import SqliteDialect
from commonplace.store.sqlite.connection import (
    APPLICATION,
    SQLITE,
    Connection,
    connect,
    explained,
    patience,
    translate,
)
from commonplace.store.sqlite.mirror import Mirrors
from commonplace.store.sqlite.segments import Segments
from commonplace.store.tables import memories
from commonplace.values import Check
from commonplace.values.arrays import Ints

T = TypeVar("T")
J = TypeVar("J")

CHECKPOINT_PAGES = 1000
"""Fold the write-ahead log into the file past this many pages (4 MB), as SQLite itself would."""


class _Job(Generic[T]):
    """One caller's transaction, waiting for a leader to run it."""

    __slots__ = ("abandoned", "done", "error", "result", "work")

    def __init__(self, work: Callable[[Tx], T]) -> None:
        self.work = work
        self.done = False
        self.abandoned = False
        self.error: BaseException | None = None
        self.result: T


class SqliteStore:
    """A Store in one file. Acknowledged means on disk."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self._settings = settings
        self._pid = os.getpid()
        self._closed = False
        self._queue: deque[_Job[Any]] = deque()
        # Reentrant, since a signal handler may close the book on the very thread that leads.
        self._leading = threading.RLock()
        self._leader: int | None = None
        self._readers: deque[Connection] = deque()
        self._mirrors = Mirrors(settings)
        self._segments = Segments(path, settings, self.write)
        self._writer = connect(path, settings)
        self._pages = 0
        self._writer.raw.set_wal_hook(self._count_pages)
        try:
            with explained(path):
                self._migrate()
        except CommonplaceError:
            self._writer.raw.close()
            raise

    @property
    def engine(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"

    @property
    def dialect(self) -> SqliteDialect:
        return SQLITE

    # -- writing ---------------------------------------------------------------------------------

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        # Group commit without a thread of its own: every caller queues its work; whoever gets the lock
        # first runs all that is queued in one transaction, with one fsync, while the others wait.
        self._ensure_open()
        if self._leader == threading.get_ident():
            raise StoreError("a write cannot begin inside another one of the same thread, as from a signal handler")
        job: _Job[T] = _Job(work)
        try:
            self._queue.append(job)
            with self._leading:
                if not job.done:
                    with self._answering() as jobs:
                        self._ensure_open()
                        self._transact(jobs)
        except BaseException:
            # An interrupted call must not be carried out later, by somebody else's.
            job.abandoned = True
            raise
        if job.error is not None:
            raise job.error
        return job.result

    @contextmanager
    def _answering(self) -> Iterator[list[_Job[Any]]]:
        """Take everything queued, and see to it that each caller is answered, whatever happens."""
        jobs: list[_Job[Any]] = []
        self._leader = threading.get_ident()
        try:
            while self._queue:
                jobs.append(self._queue.popleft())
            yield jobs
        except apsw.Error as error:
            self._answer_each(jobs, error)
        except StoreClosed as error:
            for job in jobs:
                job.error, job.done = StoreClosed(str(error)), True
        finally:
            # What an interrupt left undone goes back: its callers wait for the lock and lead in their turn.
            self._queue.extendleft(job for job in reversed(jobs) if not job.done)
            self._leader = None
            if self._closed:  # by a signal handler, meanwhile
                self._release()
        if self._pages > CHECKPOINT_PAGES and not self._closed:
            self._checkpoint()

    def _answer_each(self, jobs: list[_Job[Any]], error: apsw.Error) -> None:
        """The engine refused the group: give each caller a transaction of its own, since one may have spoilt it.

        A lock that others hold was nobody's fault, and waiting for it again for each caller would multiply the
        time-out.
        """
        alone = len(jobs) == 1 or isinstance(error, (apsw.BusyError, apsw.LockedError))
        for job in jobs:
            try:
                if alone:
                    raise error
                self._transact([job])
            except apsw.Error as own:
                job.error, job.done = translate(own, self.path), True

    def _transact(self, jobs: list[_Job[Any]]) -> None:  # noqa: C901  # in one: each frame above the SQL costs
        """Run the jobs in one transaction; one that fails undoes its own changes and nobody else's."""
        raw, alone, ended = self._writer.raw, len(jobs) == 1, False
        try:
            raw.execute("BEGIN IMMEDIATE")
            for job in jobs:
                job.error = None
                if job.abandoned:
                    continue
                if not alone:
                    raw.execute("SAVEPOINT job")
                try:
                    job.result = job.work(self._writer)
                except apsw.Error:
                    # The engine itself failed (disk full, damage): it may have ended the transaction already.
                    raise
                except Exception as error:  # noqa: BLE001  # whatever a caller's work raises is that caller's to see
                    job.error = error
                    if not alone:
                        raw.execute("ROLLBACK TO job")
                if not alone:
                    raw.execute("RELEASE job")
            ended = True
            # A lone failure has nothing to keep: no commit, no fsync.
            raw.execute("ROLLBACK" if all(job.error for job in jobs) else "COMMIT")
        except apsw.Error:
            ended = False
            raise
        finally:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
                ended = False
            # An interrupt that arrives while COMMIT returns finds the transaction over: it was committed.
            if ended:
                for job in jobs:
                    job.done = True

    def _count_pages(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._pages = pages
        return 0  # SQLITE_OK

    def _checkpoint(self) -> None:
        # Passive: takes what no reader needs and never waits. What it leaves, the next one takes.
        # A failure costs nothing: the commit stands, the log keeps the data, the next writer tries again.
        with suppress(apsw.Error):
            self._writer.raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._pages = 0

    # -- reading ---------------------------------------------------------------------------------

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        with self._snapshot() as tx:
            return work(tx)

    @contextmanager
    def _snapshot(self) -> Iterator[Connection]:
        self._ensure_open()
        with explained(self.path):
            try:
                tx = self._readers.pop()
            except IndexError:
                tx = connect(self.path, self._settings)
            try:
                tx.raw.execute("BEGIN")
                yield tx
            finally:
                with suppress(apsw.Error):  # a damaged page may have ended it already
                    tx.raw.execute("ROLLBACK")
                self._readers.append(tx)
                if self._closed:
                    self._close_readers()

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        while True:
            with self._snapshot() as tx:
                view = self._mirrors.view(tx, space, as_of, probe.generation)
                if view is None:  # another thread has moved the mirror past this snapshot
                    continue
                allowed = memories.select_seqs(tx, where) if narrow else None
                graph = None if as_of is not None else self._segments.find(tx, space, view)
                candidates = view.search(probe, allowed, graph)
                chosen = choose(candidates)
                positions, rows, uses = memories.fetch(tx, candidates.seqs, chosen.positions, where)
                vectors = view.rows(candidates.seqs[positions])
                return Found(
                    candidates=candidates, judgement=chosen.judgement, positions=positions, rows=rows, uses=uses,
                    vectors=vectors,
                )  # fmt: skip

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        while True:
            with self._snapshot() as tx:
                view = self._mirrors.view(tx, space, None, generation)
                if view is not None:
                    return view.frequencies(terms)

    # -- keeping ---------------------------------------------------------------------------------

    def scrub(self, space: int) -> None:
        self._segments.remove(space)
        with self._leading:
            self._ensure_open()
            raw = self._writer.raw
            # Cuts the log if no reader is in it. Without patience: a reader may take its time, and a later
            # writer starts the log anew in any case.
            raw.set_busy_handler(None)
            try:
                with suppress(apsw.Error):
                    raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            finally:
                raw.set_busy_handler(patience(self._settings.busy_timeout))

    def size(self) -> int:
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def backup(self, path: Path) -> None:
        if path.exists():
            raise InvalidInput(f"{path} exists already; a backup never overwrites a file: choose another name")
        with self._snapshot() as tx, explained(path):
            # A first look fixes the snapshot: without it, every commit of others would start the copy anew.
            tx.run("SELECT value FROM counter")
            target = apsw.Connection(str(path))
            try:
                with target.backup("main", tx.raw, "main") as copy:
                    while not copy.done:
                        copy.step(1000)
            except BaseException:
                target.close()
                path.unlink(missing_ok=True)
                raise
            target.close()

    def check(self, *, deep: bool) -> Check:
        with self._snapshot() as tx:
            return verify.check(tx, deep=deep)

    def close(self) -> None:
        # In a forked child neither the lock nor the connections are its own to touch.
        if os.getpid() != self._pid:
            return
        self._segments.close()
        if self._leader == threading.get_ident():  # a signal handler amid a write: the write closes on its way out
            self._closed = True
            return
        with self._leading:
            if not self._closed:
                self._closed = True
                self._release()

    def _release(self) -> None:
        self._close_readers()
        self._writer.raw.close()

    def _close_readers(self) -> None:
        while self._readers:
            self._readers.pop().raw.close()

    def _ensure_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the book at {self.path} was closed")
        if os.getpid() != self._pid:
            # A forked connection shares its file locks with the parent: using it can corrupt the file.
            raise StoreClosed(f"{self.path} was opened before a fork; open it again in the child process")

    # -- schema ----------------------------------------------------------------------------------

    def _migrate(self) -> None:
        if self._version() >= schema.VERSION:
            return
        raw = self._writer.raw
        try:
            raw.execute("BEGIN IMMEDIATE")
            # Read again under the lock: another process may have done the work meanwhile.
            current = self._version()
            if current < schema.VERSION:
                schema.migrate(self._writer, schema.SQLITE, current=current)
                raw.pragma("application_id", APPLICATION)
                raw.pragma("user_version", schema.VERSION)
            raw.execute("COMMIT")
        except BaseException:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            raise

    def _version(self) -> int:
        """The file's schema version; 0 for an empty file."""
        raw = self._writer.raw
        if raw.pragma("application_id") != APPLICATION:
            return 0
        version = int(raw.pragma("user_version"))
        if version > schema.VERSION:
            rows = self._writer.run("SELECT value FROM book WHERE name = 'oldest'")
            schema.ensure_known(version, int(rows[0][0]) if rows else None, str(self.path))
        return version
