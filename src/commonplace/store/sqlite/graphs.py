"""HNSW graphs of large spaces: immutable files beside a SQLite book.

An exact scan is fastest up to some hundred thousand memories. Beyond that, a graph over all vectors up to some sequence
number is built in the background; a search asks the graph and scans later vectors exactly. The book is the only truth:
graph files may be deleted at any time, and a damaged one is ignored.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from commonplace.errors import CommonplaceError
from commonplace.settings import Settings
from commonplace.store.base import Tx
from commonplace.store.tables import spaces
from commonplace.store.view import View
from commonplace.values.arrays import Floats, Ints

try:
    import fcntl
except ImportError:  # without it (Windows) no process can be elected to build: large spaces are scanned
    fcntl = None  # type: ignore[assignment]

STALE = 0.2
"""A graph is built again when this share of a space is newer than the graph, or was forgotten."""
_CHUNK = 200
_EXPANSION = 256
"""How widely the graph is searched: more finds more of the true neighbours and takes longer."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A graph over a space's vectors up to a sequence number."""

    epoch: int
    seq: int
    index: Any

    def nearest(self, query: Floats, count: int) -> Ints:
        """Return the sequence numbers of the nearest vectors, some of which may have been forgotten."""
        return np.asarray(self.index.search(query, count, threads=1).keys).astype(np.int64)

    def is_stale(self, view: View) -> bool:
        covered = int(view.seqs.array.searchsorted(self.seq, side="right"))
        changed = view.seqs.count - covered + len(self.index) - int(np.count_nonzero(view.alive[:covered]))
        return changed > STALE * view.seqs.count


class Segments:
    """The graph files of one book. The `book` table names the valid ones; one process at a time builds a new one."""

    def __init__(self, path: Path, settings: Settings, write: Callable[[Callable[[Tx], bool], int], bool]) -> None:
        self._directory = Path(f"{path}-hnsw")
        self.rows = settings.segment_rows
        """Spaces with fewer memories are scanned."""
        self._write = write
        self._available = fcntl is not None and find_spec("usearch") is not None
        self._open: dict[int, tuple[str, Segment | None]] = {}
        self._given_up: set[int] = set()
        self._lock = threading.Lock()
        self._builder: threading.Thread | None = None
        self._stopping = threading.Event()

    def find(self, tx: Tx, space: int, view: View) -> Segment | None:
        """Return the graph of a large space; None while there is none, and a scan is needed."""
        if not self._available:
            return None
        name = spaces.read_value(tx, f"segment {space}")
        with self._lock:
            segment = None if name is None else self._open_once(space, name, view)
            if segment is None or segment.is_stale(view):
                self._build_later(space, view)
            return segment

    def close(self) -> None:
        """Stop building; an unfinished graph is dropped."""
        self._stopping.set()
        if self._builder is not None:
            self._builder.join()
        atexit.unregister(self.close)

    def remove(self, space: int) -> None:
        """Delete a space's graphs, which hold vectors of forgotten memories; a new one is built when due."""
        with self._lock:
            self._open.pop(space, None)
            for path in [*self._directory.glob(f"{space}-*.hnsw"), *self._directory.glob(f"{space}.*.building")]:
                path.unlink(missing_ok=True)

    def _open_once(self, space: int, name: str, view: View) -> Segment | None:
        """Open the named file unless it is open, or was found damaged, already."""
        known, segment = self._open.get(space, ("", None))
        if known != name:
            epoch, seq = map(int, name.split("-")[1:3])
            segment = _open(self._directory / name, epoch, seq)
            self._open[space] = name, segment
        return segment if segment and segment.epoch == view.epoch and segment.seq <= view.seq else None

    def _build_later(self, space: int, view: View) -> None:
        if space in self._given_up or (self._builder is not None and self._builder.is_alive()):
            return
        self._builder = threading.Thread(target=self._build, args=(space, view), name="commonplace-hnsw", daemon=True)
        self._builder.start()
        # Python must not exit while the thread is inside the graph's C++ code.
        atexit.register(self.close)

    def _build(self, space: int, view: View) -> None:
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            with open(self._directory / "lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._build_and_register(space, view)
        except BlockingIOError:  # another process is building
            return
        except (OSError, RuntimeError, MemoryError, CommonplaceError):
            # No room for a graph, or the book was closed: searches go on scanning, and this process tries no more.
            self._given_up.add(space)

    def _build_and_register(self, space: int, view: View) -> None:
        graph = _build_graph(view, self._stopping)
        if graph is None:
            return
        path = _save(self._directory, space, view, graph)
        if not self._write(lambda tx: _register(tx, space, path.name, view), space):
            path.unlink(missing_ok=True)
            return
        for older in self._directory.glob(f"{space}-*.hnsw"):
            if older.name != path.name:
                # Processes that have it mapped keep it until they let go.
                older.unlink(missing_ok=True)


def _register(tx: Tx, space: int, name: str, view: View) -> bool:
    """Name a new graph in the book, unless a memory in it was forgotten meanwhile.

    Only a file that the book names is used: one beside a restored or different book is not.
    """
    wanted = json.dumps(view.seqs.array[view.alive].tolist())
    ((standing,),) = tx.run(
        "SELECT count(*) FROM json_each(:wanted) w CROSS JOIN trace t ON t.seq = w.value AND t.space = :space",
        {"wanted": wanted, "space": space},
    )
    if standing != int(np.count_nonzero(view.alive)):
        return False
    spaces.write_value(tx, f"segment {space}", name)
    return True


def _open(path: Path, epoch: int, seq: int) -> Segment | None:
    """Open a graph file; None if its bytes are not those that were written."""
    from usearch.index import Index  # heavy, and only large spaces need it

    try:
        if path.stem.split("-")[3] != _checksum(path):
            return None
        index = Index.restore(str(path), view=True, expansion_search=_EXPANSION)
    except (OSError, RuntimeError, ValueError):
        return None
    return None if index is None else Segment(epoch, seq, index)


def _save(directory: Path, space: int, view: View, graph: Any) -> Path:
    """Write and sync a graph, then give it a name that says what it covers and holds its checksum."""
    temporary = directory / f"{space}.{os.getpid()}.building"
    graph.save(str(temporary))
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    return temporary.rename(directory / f"{space}-{view.epoch}-{view.seq}-{_checksum(temporary)}.hnsw")


def _build_graph(view: View, stopping: threading.Event) -> Any:
    """Build a graph over the standing vectors of a view; None if it was stopped."""
    from usearch.index import Index  # heavy, and only large spaces need it

    halves = view.vectors.halves
    index = Index(ndim=halves.buffer.shape[1], metric="ip", dtype="i8", connectivity=16, expansion_add=128)
    alive = np.flatnonzero(view.alive)
    for start in range(0, len(alive), _CHUNK):
        if stopping.is_set():
            return None
        some = alive[start : start + _CHUNK]
        index.add(view.seqs.array[some].astype(np.uint64), view.vectors.rows(some), threads=1)
    return index


def _checksum(path: Path) -> str:
    total = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            total = zlib.crc32(block, total)
    return f"{total:08x}"
