"""The embedded store: one SQLite file, many threads and processes, group commit."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generic, TypeVar

import apsw

from commonplace.errors import BookTooNew, CommonplaceError, NotABook, StoreClosed, StoreError, StoreReadOnly
from commonplace.recall.types import Probe
from commonplace.settings import Settings
from commonplace.store import memories, schema, verify
from commonplace.store.base import Choose, Found, Tx, Where
from commonplace.store.connection import APPLICATION, Connection, connect, explained, translate
from commonplace.store.mirror import Mirrors
from commonplace.store.segments import Segments
from commonplace.values import Check

T = TypeVar("T")

CHECKPOINT_PAGES = 1000
"""Fold the write-ahead log into the file past this many pages (4 MB), as SQLite itself would."""


class _Job(Generic[T]):
    """One caller's transaction, waiting for a leader to run it."""

    __slots__ = ("done", "error", "result", "work")

    def __init__(self, work: Callable[[Tx], T]) -> None:
        self.work = work
        self.done = False
        self.error: BaseException | None = None
        self.result: T


class SqliteStore:
    """A Store in one file. Acknowledged means on disk."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self._settings = settings
        self._pid = os.getpid()
        self._closed = False
        self._queue: deque[_Job[object]] = deque()
        self._leading = threading.Lock()
        self._readers: deque[Connection] = deque()
        self._mirrors = Mirrors(settings)
        self._segments = Segments(path, settings)
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

    # -- writing ---------------------------------------------------------------------------------

    def write(self, work: Callable[[Tx], T]) -> T:
        # Group commit without a thread of its own: every caller queues its work; whoever gets the lock
        # first runs all that is queued in one transaction, with one fsync, while the others wait.
        job: _Job[T] = _Job(work)
        self._queue.append(job)  # type: ignore[arg-type]  # the queue mixes result types
        with self._leading:
            if not job.done:
                self._lead()
        if job.error is not None:
            raise job.error
        return job.result

    def _lead(self) -> None:
        """Run everything queued in one transaction, then answer every caller."""
        jobs = [self._queue.popleft() for _ in range(len(self._queue))]
        try:
            self._ensure_open()
            self._commit(jobs)
        except apsw.Error as error:
            self._fail(jobs, error)
        except BaseException as error:
            for job in jobs:
                job.error = StoreError("the write was interrupted; nothing was changed")
            if not isinstance(error, CommonplaceError):
                raise
            for job in jobs:
                job.error = error
        finally:
            for job in jobs:
                job.done = True
        if self._pages > CHECKPOINT_PAGES:
            self._checkpoint()

    def _fail(self, jobs: list[_Job[object]], error: apsw.Error) -> None:
        """The engine refused the group: give each caller a try of its own, since one may have spoilt it for all."""
        for job in jobs:
            job.error = None
            try:
                if len(jobs) == 1:
                    raise error
                self._commit([job])
            except apsw.Error as own:
                job.error = translate(own, self.path)

    def _commit(self, jobs: list[_Job[object]]) -> None:
        execute = self._writer.raw.execute
        execute("BEGIN IMMEDIATE")
        try:
            for job in jobs:
                self._attempt(job, alone=len(jobs) == 1)
            # A lone failure has nothing to keep: no commit, no fsync.
            execute("ROLLBACK" if all(job.error for job in jobs) else "COMMIT")
        except BaseException:
            if self._writer.raw.in_transaction:
                execute("ROLLBACK")
            raise

    def _attempt(self, job: _Job[object], *, alone: bool) -> None:
        """Run one caller's work so that its failure undoes its own changes and nobody else's."""
        execute = self._writer.raw.execute
        if not alone:
            execute("SAVEPOINT job")
        try:
            job.result = job.work(self._writer)
        except apsw.Error:
            # The engine itself failed (disk full, damage): SQLite may have ended the transaction already.
            raise
        except Exception as error:  # noqa: BLE001  # whatever a caller's work raises is that caller's to see
            job.error = error
            if not alone:
                execute("ROLLBACK TO job")
        if not alone:
            execute("RELEASE job")

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

    def read(self, work: Callable[[Tx], T]) -> T:
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
            tx.raw.execute("BEGIN")
            try:
                yield tx
            finally:
                tx.raw.execute("COMMIT")
                self._give_back(tx)

    def _give_back(self, tx: Connection) -> None:
        self._readers.append(tx)
        if self._closed:
            self._close_readers()

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose, *, narrow: bool, as_of: int | None
    ) -> Found:
        while True:
            with self._snapshot() as tx:
                view = self._mirrors.view(tx, space, as_of)
                if view is None:  # another thread has moved the mirror past this snapshot
                    continue
                allowed = memories.select_seqs(tx, where) if narrow else None
                graph = None if as_of is not None else self._segments.find(space, view)
                candidates = view.search(probe, allowed, graph)
                picked = choose(candidates)
                positions, rows, uses = memories.fetch(tx, candidates.seqs, picked, where)
                vectors = view.rows(candidates.seqs[positions])
                return Found(
                    candidates=candidates, positions=positions, rows=rows, uses=uses, vectors=vectors
                )

    # -- keeping ---------------------------------------------------------------------------------

    def scrub(self, space: int) -> None:
        self._segments.remove(space)
        with self._leading:
            self._ensure_open()
            # Readers may keep the log from being cut now; the next checkpoint cuts it then.
            with suppress(apsw.Error):
                self._writer.raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def size(self) -> int:
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def backup(self, path: Path) -> None:
        if path.exists():
            raise StoreReadOnly(f"{path} exists already; a backup never overwrites a file")
        with explained(path), self._snapshot() as tx:
            target = apsw.Connection(str(path))
            try:
                with target.backup("main", tx.raw, "main") as copy:
                    while not copy.done:
                        copy.step(1000)
            finally:
                target.close()

    def check(self, *, deep: bool) -> Check:
        with self._snapshot() as tx:
            return verify.check(tx, deep=deep)

    def close(self) -> None:
        with self._leading:
            if self._closed:
                return
            self._closed = True
            if os.getpid() == self._pid:
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
        if self._version() == schema.VERSION:
            return
        raw = self._writer.raw
        raw.execute("BEGIN IMMEDIATE")
        try:
            # Read again under the lock: another process may have done the work meanwhile.
            current = self._version()
            schema.migrate(self._writer, schema.SQLITE, current=current)
            raw.pragma("application_id", APPLICATION)
            raw.pragma("user_version", schema.VERSION)
            raw.execute("COMMIT")
        except BaseException:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            raise

    def _version(self) -> int:
        """The file's schema version; 0 for an empty file. Refuses files that are not ours."""
        raw = self._writer.raw
        application, version = int(raw.pragma("application_id")), int(raw.pragma("user_version"))
        if application != APPLICATION:
            if self._writer.run("SELECT 1 FROM sqlite_master LIMIT 1"):
                raise NotABook(f"{self.path} is a database of another program, not a commonplace book")
            return 0
        if version > schema.VERSION:
            raise BookTooNew(
                f"{self.path} has schema {version}, this commonplace knows up to {schema.VERSION}: upgrade it"
            )
        return version
