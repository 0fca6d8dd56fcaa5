"""The embedded store: one SQLite file, many threads and processes, group commit.

The file is the only source of truth. The search index of a space is a view in memory, brought up to date with the
snapshot of each search: it can neither miss an acknowledged write nor show a forgotten memory.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from commonplace.errors import CommonplaceError, StoreClosed, StoreError, StoreReplaced
from commonplace.settings import Settings
from commonplace.store import schema
from commonplace.store.base import BytesSeen, Choose, Found, Indexed, Params, Probe, Reembedded, Row, Task, Tx, Where
from commonplace.store.blocks import count_bytes
from commonplace.store.sqlite.connection import RULES, connect, explain_errors, migrate, patience, translate
from commonplace.store.sqlite.graphs import Segments
from commonplace.store.sqlite.names import FileNames, create
from commonplace.store.tables import memories
from commonplace.store.tables.memories import ensure_generation
from commonplace.store.view import View
from commonplace.store.where import SqliteSyntax
from commonplace.values import Check
from commonplace.values.arrays import Ints

T = TypeVar("T")
J = TypeVar("J")

CHECKPOINT_PAGES = 1000
"""Fold the write-ahead log into the file past this many pages (4 MB), as SQLite itself would."""

_SYNTAX = SqliteSyntax()
_TAKE = "UPDATE counter SET value = value + :count WHERE name = 'seq' RETURNING value"
_ADD = "INSERT INTO trace (seq, space, head, vector, terms) VALUES (:seq, :space, :head, :vector, :terms)"
_END = "INSERT INTO ended (space, seq, was) VALUES (:space, :seq, :was)"
_READ = "SELECT vector, terms FROM trace WHERE seq = :seq AND space = :space"
_REMOVE = "DELETE FROM {table} WHERE space = :space AND seq = :seq"
_KEEP = """INSERT INTO reembedded (seq, space, vector, terms) VALUES (:seq, :space, :vector, :terms)
    ON CONFLICT DO NOTHING"""
_PUT = """UPDATE trace SET vector = r.vector, terms = r.terms FROM reembedded r
    WHERE r.seq = trace.seq AND r.space = trace.space"""
# A graph holds vectors of forgotten memories: once the book does not name it, nobody opens it.
_UNREGISTER = "DELETE FROM book WHERE name = :name"
_STATE = """SELECT coalesce((SELECT epoch FROM space WHERE number = :space), 0),
    (SELECT value FROM counter WHERE name = 'seq'), (SELECT value FROM book WHERE name = 'dimension'),
    (SELECT value FROM book WHERE name = 'generation')"""
_TRACES = """SELECT seq, head, vector, terms FROM trace
    WHERE space = :space AND seq > :seq AND seq NOT IN (SELECT was FROM ended WHERE space = :space)
    ORDER BY seq LIMIT :limit"""
_TRACES_AS_OF = """SELECT t.seq, t.head, t.vector, t.terms FROM trace t JOIN memory m ON m.seq = t.seq
    WHERE t.space = :space AND m.recorded_at <= :as_of AND (m.ended_at IS NULL OR m.ended_at > :as_of)
    ORDER BY t.seq"""
_ENDED = "SELECT was FROM ended WHERE space = :space AND seq > :seq"
_COUNT = "SELECT count(*) FROM trace WHERE space = :space"
REWRITTEN_AT_ONCE = 4_000_000
"""Largest file in bytes that an erasure writes anew by itself: that takes 40 ms of CPU."""
_READERS_END = (0.005, 0.01, 0.02, 0.05, 0.1, 0.0)
"""Seconds between two attempts to empty the log."""
_GRAPHS = "SELECT value FROM book WHERE name LIKE 'segment %'"
_BLOCK = 1 << 22
_BATCH = 20_000
"""Traces that are read at a time, to limit memory."""


class SqliteTx:
    """A Tx and its SearchIndex on one SQLite connection; its owner opens and closes the transactions.

    Readers keep the index in memory and catch up by sequence number.
    """

    __slots__ = ("_execute", "index", "many", "raw", "syntax")

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw
        self.syntax = _SYNTAX
        self.index = self
        self._execute = raw.execute
        self.many = raw.executemany

    def run(self, sql: str, params: Params | None = None) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def take(self, space: int, count: int) -> int:
        # SQLite has one writer at a time, so these numbers follow the order of commits.
        last: list[Row] = self._execute(_TAKE, {"count": count}).fetchall()
        return int(last[0][0]) - count + 1

    def add(self, space: int, added: Sequence[Indexed]) -> None:
        self.many(
            _ADD,
            (
                {"seq": seq, "space": space, "head": head, "vector": vector, "terms": terms}
                for seq, head, _, vector, terms in added
            ),
        )

    def end(self, space: int, was: int, *, by: int) -> None:
        self.run(_END, {"space": space, "seq": by, "was": was})

    def read(self, space: int, seq: int) -> tuple[bytes | None, bytes]:
        ((vector, terms),) = self.run(_READ, {"space": space, "seq": seq})
        return vector, terms

    def remove(self, space: int, versions: Sequence[tuple[int, bool]]) -> None:
        for table in ("trace", "reembedded"):
            self.many(_REMOVE.format(table=table), [{"space": space, "seq": seq} for seq, _ in versions])
        # Views in other processes learn from these rows what was removed; only the number stays.
        first = self.take(space, 1)
        self.many(_END, [{"space": space, "seq": first, "was": seq} for seq, current in versions if current])
        self.run(_UNREGISTER, {"name": f"segment {space}"})

    def clear(self, space: int) -> None:
        for table in ("trace", "reembedded", "ended"):
            self.run(f"DELETE FROM {table} WHERE space = :space", {"space": space})
        self.run(_UNREGISTER, {"name": f"segment {space}"})

    def keep_reembedded(self, rows: Sequence[Reembedded]) -> None:
        self.many(_KEEP, (row._asdict() for row in rows))

    def put_reembedded(self) -> None:
        self.run(_PUT)


class Mirrors:
    """The views of one process: one for each space, the least recently used dropped beyond a budget."""

    def __init__(self, settings: Settings) -> None:
        self._budget = settings.mirror_bytes
        self._views: OrderedDict[int, View] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        # One more for each space, so that loading a large one does not block the others.
        self._space_locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)

    def view(self, tx: Tx, space: int, as_of: int | None, generation: int) -> View | None:
        """Return the index as of the snapshot of `tx`; None if the view is already past it."""
        epoch, seq, dimension, found = map(int, tx.run(_STATE, {"space": space})[0])
        ensure_generation(found, generation)
        if as_of is not None:
            rows = tx.run(_TRACES_AS_OF, {"space": space, "as_of": as_of})
            past, tail = View.empty(epoch, dimension, room=len(rows)).add(rows)
            return past.settle([tail], [], seq)
        with self._lock:
            space_lock = self._space_locks[space]
        with space_lock:
            with self._lock:
                view = self._views.get(space)
                if view is not None:
                    self._views.move_to_end(space)
            if view is not None and view.epoch == epoch and view.seq == seq:
                return view
            if view is not None and (view.seq > seq or view.epoch > epoch):
                return None
            if view is None or view.epoch != epoch:
                view = View.empty(epoch, dimension, room=tx.run(_COUNT, {"space": space})[0][0])
            tails, last, since = [], view.seq, view.seq
            while rows := tx.run(_TRACES, {"space": space, "seq": last, "limit": _BATCH}):
                view, tail = view.add(rows)
                tails.append(tail)
                last = rows[-1][0]
                if len(rows) < _BATCH:
                    break
            ended = tx.run(_ENDED, {"space": space, "seq": since})
            view = view.settle(tails, [was for (was,) in ended], seq)
            self._keep(space, view)
            return view

    def _keep(self, space: int, view: View) -> None:
        with self._lock:
            before = self._views.get(space)
            self._bytes += view.nbytes - (before.nbytes if before else 0)
            self._views[space] = view
            self._views.move_to_end(space)
            while self._bytes > self._budget and len(self._views) > 1:
                _, dropped = self._views.popitem(last=False)
                self._bytes -= dropped.nbytes


class SqliteStore:
    """A Store in one file. When a write returns, it is on disk."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self._settings = settings
        self._pid = os.getpid()
        self._closed = False
        self._replaced = ""
        """Why the book cannot be used any more: its file lost its name."""
        self._queue: deque[Task] = deque()
        # Reentrant, since a signal handler may close the book on the thread that leads.
        self._leading = threading.RLock()
        self._leader: int | None = None
        self._readers: deque[SqliteTx] = deque()
        self._mirrors = Mirrors(settings)
        self._segments = Segments(path, settings, self.write)
        self._writer = SqliteTx(connect(path, settings))
        self._names = FileNames(path)
        self._pages = 0
        self._writer.raw.set_wal_hook(self._count_pages)
        try:
            with explain_errors(path):
                migrate(self._writer, self._writer.raw, path)
        except CommonplaceError:
            self._writer.raw.close()
            raise
        self._names.remember_log()

    @property
    def engine(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"

    @property
    def syntax(self) -> SqliteSyntax:
        return _SYNTAX

    # -- writing ---------------------------------------------------------------------------------

    def write(self, work: Callable[[Tx], T], space: int | None) -> T:
        # Group commit without a thread of its own: every caller queues its work; the first to get the lock
        # runs everything queued in one transaction, with one fsync, while the others wait.
        self._ensure_open()
        if self._leader == threading.get_ident():
            raise StoreError("a write cannot start inside another one of the same thread, as in a signal handler")
        task = Task(work)
        try:
            self._queue.append(task)
            with self._leading:
                if not task.done:
                    with self._answering() as tasks:
                        self._ensure_open()
                        self._transact(tasks)
        except BaseException:
            # Nobody else may run the work of an interrupted call.
            task.abandoned = True
            raise
        if task.error is not None:
            raise task.error
        result: T = task.result
        return result

    @contextmanager
    def _answering(self) -> Iterator[list[Task]]:
        """Take everything queued and make sure that each caller gets an answer."""
        tasks: list[Task] = []
        self._leader = threading.get_ident()
        try:
            while self._queue:
                tasks.append(self._queue.popleft())
            yield tasks
        except apsw.Error as error:
            self._answer_each(tasks, error)
        except (StoreClosed, StoreReplaced) as error:
            for task in tasks:
                task.error, task.done = type(error)(str(error)), True
        finally:
            # After an interrupt, unfinished tasks go back: their callers wait for the lock and lead in turn.
            self._queue.extendleft(task for task in reversed(tasks) if not task.done)
            self._leader = None
            if self._closed or self._replaced:  # by a signal handler, meanwhile
                self._release()
        if self._pages > CHECKPOINT_PAGES and not self._closed:
            self._checkpoint()

    def _answer_each(self, tasks: list[Task], error: apsw.Error) -> None:
        """Run each task in its own transaction after the group failed: one task may have caused it.

        After a lock time-out every caller gets the error: waiting again for each would multiply the time-out.
        """
        alone = len(tasks) == 1 or isinstance(error, (apsw.BusyError, apsw.LockedError))
        for task in tasks:
            try:
                if alone:
                    raise error
                self._transact([task])
            except apsw.Error as own:
                task.error, task.done = translate(own, self.path), True

    def _transact(self, tasks: list[Task]) -> None:  # noqa: C901  # in one: each frame above the SQL costs
        """Run the tasks in one transaction; a task that fails undoes only its own changes."""
        raw, alone, ended = self._writer.raw, len(tasks) == 1, False
        try:
            raw.execute("BEGIN IMMEDIATE")
            for task in tasks:
                task.error = None
                if task.abandoned:
                    continue
                if not alone:
                    raw.execute("SAVEPOINT task")
                try:
                    task.result = task.work(self._writer)
                except apsw.Error:
                    # The engine itself failed (disk full, damage) and may have ended the transaction.
                    raise
                except Exception as error:  # noqa: BLE001  # goes to the caller whose work raised it
                    task.error = error
                    if not alone:
                        raw.execute("ROLLBACK TO task")
                if not alone:
                    raw.execute("RELEASE task")
            ended = True
            # If all failed, there is nothing to commit.
            raw.execute("ROLLBACK" if all(task.error for task in tasks) else "COMMIT")
            self._ensure_named(writing=True)
        except (apsw.Error, StoreReplaced):
            ended = False
            raise
        finally:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
                ended = False
            # An interrupt while COMMIT returns finds the transaction ended: it was committed.
            if ended:
                for task in tasks:
                    task.done = True

    def _count_pages(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._pages = pages
        return 0  # SQLITE_OK

    def _checkpoint(self) -> None:
        # Passive: never waits for readers. After a failure the log keeps the data and the next writer tries again.
        with suppress(apsw.Error):
            self._writer.raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._pages = 0

    # -- reading ---------------------------------------------------------------------------------

    def read(self, work: Callable[[Tx], T], space: int | None) -> T:
        with self._snapshot() as tx:
            return work(tx)

    @contextmanager
    def _snapshot(self) -> Iterator[SqliteTx]:
        self._ensure_open()
        try:
            self._ensure_named_for_reading()
            try:
                tx = self._readers.pop()
            except IndexError:
                tx = SqliteTx(connect(Path(self._names.path), self._settings, self._ensure_named))
            try:
                tx.raw.execute("BEGIN")
                yield tx
            finally:
                with suppress(apsw.Error):  # a damaged page may have ended it already
                    tx.raw.execute("ROLLBACK")
                self._readers.append(tx)
                if self._closed or self._replaced:
                    self._close_readers()
        except apsw.Error as error:
            raise translate(error, self.path) from error

    def search(
        self, space: int, probe: Probe, where: Where, choose: Choose[J], *, narrow: bool, as_of: int | None
    ) -> Found[J]:
        while True:
            with self._snapshot() as tx:
                view = self._mirrors.view(tx, space, as_of, probe.generation)
                if view is None:  # another thread has moved the view past this snapshot
                    continue
                allowed = memories.select_seqs(tx, where) if narrow else None
                large = as_of is None and view.seqs.count >= self._segments.rows
                graph = self._segments.find(tx, space, view) if large else None
                candidates = view.search(probe, allowed, graph)
                return memories.fetch(tx, candidates, choose(candidates), where, view.rows)

    def frequencies(self, space: int, terms: Sequence[int], generation: int) -> Ints:
        while True:
            with self._snapshot() as tx:
                view = self._mirrors.view(tx, space, None, generation)
                if view is not None:
                    return view.frequencies(terms)

    # -- maintenance -----------------------------------------------------------------------------

    def scrub(self, space: int) -> None:
        self._segments.remove(space)
        self.scrub_log()

    def scrub_log(self) -> None:
        with self._leading:
            self._ensure_open()
            raw = self._writer.raw
            # Truncates the log unless a reader uses it. Without waiting: a later writer restarts the log anyway.
            raw.set_busy_handler(None)
            try:
                with suppress(apsw.Error):
                    raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            finally:
                raw.set_busy_handler(patience(self._settings.busy_timeout))

    def purge(self, space: int, *, thorough: bool) -> tuple[str, ...]:
        # When SQLite divides a page, copies of cells stay in its free space, which secure_delete does not overwrite.
        # Only writing the whole file anew removes them.
        with self._leading, explain_errors(self.path):
            self._ensure_open()
            raw = self._writer.raw
            rewritten = thorough or raw.pragma("page_count") * raw.pragma("page_size") <= REWRITTEN_AT_ONCE
            if rewritten:
                # A large copy is not made in memory.
                raw.execute("PRAGMA temp_store = default")
                try:
                    raw.execute("VACUUM")
                finally:
                    raw.execute("PRAGMA temp_store = memory")
        self._wait_for_empty_log(space)
        left = () if rewritten else ("the free space of the file's pages: settle the receipts",)
        log = Path(f"{self.path}-wal")
        return (*left, "the write-ahead log, which a reader uses") if log.exists() and log.stat().st_size else left

    def _wait_for_empty_log(self, space: int) -> None:
        """Empty the log as soon as the readers of the moment have ended; a long one is not waited for."""
        log = Path(f"{self.path}-wal")
        for pause in _READERS_END:
            self.scrub(space)
            if not log.exists() or not log.stat().st_size:
                return
            time.sleep(pause)

    def find_bytes(self, wanted: Sequence[bytes]) -> BytesSeen:
        beside = [Path(f"{self.path}{suffix}") for suffix in ("-wal", "-shm", "-journal")]
        graphs = sorted(Path(f"{self.path}-hnsw").glob("*"))
        files = [file for file in (self.path, *beside, *graphs) if file.is_file()]
        found = {str(file): count_bytes(_read_blocks(file), wanted) for file in files}
        valid = self.read(lambda tx: {name for (name,) in tx.run(_GRAPHS)}, None)
        for file in graphs:
            if file.suffix == ".hnsw" and file.name not in valid:
                found[f"{file}: a graph that the book does not use"] = 1
        unseen = ("contents of bytes that hold a text compressed or encoded", "blocks that the file system has freed")
        return BytesSeen(found, unseen)

    @property
    def copied_to(self) -> tuple[str, ...]:
        return ()

    def size(self) -> int:
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def backup(self, path: Path) -> bool:
        with self._snapshot() as tx, explain_errors(path):
            # The first read fixes the snapshot: without it, every commit would restart the copy.
            tx.run("SELECT value FROM counter")
            create(path)
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
        return True

    def check(self, *, deep: bool) -> Check:
        with self._snapshot() as tx:
            pragma = "integrity_check" if deep else "quick_check"
            damage = [f"SQLite: {words}" for (words,) in tx.run(f"PRAGMA {pragma}") if words != "ok"]
            return schema.check(tx, RULES, damage, deep=deep)

    def close(self) -> None:
        # A forked child must not touch its parent's lock and connections.
        if os.getpid() != self._pid:
            return
        self._segments.close()
        if self._leader == threading.get_ident():  # a signal handler during a write: the write closes when it ends
            self._closed = True
            return
        with self._leading:
            if not self._closed:
                self._closed = True
                self._release()

    def _release(self) -> None:
        self._close_readers()
        raw = self._writer.raw
        if self._names.leave_log():
            # SQLite would leave our log, and whoever opens the file that has our name now would read both as one.
            with suppress(apsw.Error):
                raw.set_busy_handler(None)
                raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._close(raw)

    def _close_readers(self) -> None:
        while self._readers:
            self._close(self._readers.pop().raw)

    def _close(self, raw: apsw.Connection) -> None:
        if self._names.have_other_log():
            # As the last connection, SQLite would write our log into the file, and delete the other log.
            with suppress(apsw.Error):
                raw.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raw.close()

    def _ensure_named(self, *, writing: bool = False) -> None:
        """Raise StoreReplaced if the file or its log has lost its name; from then on, the book is not used any more."""
        names = self._names
        with suppress(OSError):
            found = os.stat(names.path)
            if (found.st_dev, found.st_ino) == names.file:
                if not writing or names.log is None:
                    return
                found = os.stat(names.log_path)
                if (found.st_dev, found.st_ino) == names.log:
                    return
        self._replaced = names.explain()
        raise StoreReplaced(self._replaced)

    def _ensure_named_for_reading(self) -> None:
        try:
            self._ensure_named()
        except StoreReplaced:
            if self._leader is None and self._leading.acquire(blocking=False):
                try:
                    self._release()
                finally:
                    self._leading.release()
            raise

    def _ensure_open(self) -> None:
        if self._replaced:
            raise StoreReplaced(self._replaced)
        if self._closed:
            raise StoreClosed(f"the book at {self.path} was closed")
        if os.getpid() != self._pid:
            # A forked connection shares its file locks with the parent and can corrupt the file.
            raise StoreClosed(f"{self.path} was opened before a fork; open it again in the child process")


def _read_blocks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block
