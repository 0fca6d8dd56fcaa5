"""HNSW segments for very large spaces: immutable files beside the book, and the delta since.

An exact scan wins up to some hundred thousand memories. Past that, a graph over all vectors up to some
sequence number is built in the background, written under a temporary name, synced and renamed; it is never
changed afterwards. A search asks the graph, and scans what came later exactly. The book is the only truth:
each of these files may be deleted at any time, and a damaged one is thrown away.
"""

from __future__ import annotations

import atexit
import os
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from commonplace.recall.types import Floats, Ints
from commonplace.settings import Settings
from commonplace.store.mirror import View

try:
    import fcntl
except ImportError:  # Windows elects no builder: large spaces are scanned exactly there
    fcntl = None  # type: ignore[assignment]

STALE = 0.2
"""Build anew when this share of a space is newer than its segment, or gone from it."""
_CHUNK = 200
_EXPANSION = 256
"""How wide the graph is searched: more finds more of the true neighbours and takes longer."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A graph over a space's vectors up to a sequence number."""

    epoch: int
    seq: int
    index: Any

    def nearest(self, query: Floats, count: int) -> Ints:
        """Sequence numbers of the closest vectors, some of which may be gone from the book."""
        return np.asarray(self.index.search(query, count, threads=1).keys).astype(np.int64)

    def is_stale(self, view: View) -> bool:
        covered = int(view.seqs.array.searchsorted(self.seq, side="right"))
        changed = view.seqs.count - covered + len(self.index) - int(np.count_nonzero(view.alive[:covered]))
        return changed > STALE * view.seqs.count


class Segments:
    """The segments of one book: opened when found, built by one process at a time."""

    def __init__(self, book: Path, settings: Settings) -> None:
        self._directory = Path(f"{book}-hnsw")
        self._rows = settings.segment_rows
        self._available = fcntl is not None and find_spec("usearch") is not None
        self._open: dict[int, Segment] = {}
        self._refused: set[str] = set()
        self._lock = threading.Lock()
        self._builder: threading.Thread | None = None
        self._stopping = threading.Event()

    def find(self, space: int, view: View) -> Segment | None:
        """The segment to search a large space by; None where an exact scan is due, or while one is built."""
        if not self._available or view.seqs.count < self._rows:
            return None
        with self._lock:
            segment = self._open.get(space)
            if segment is None or segment.epoch != view.epoch or segment.is_stale(view):
                segment = self._load(space, view)
            if segment is None or segment.is_stale(view):
                self._build_later(space, view)
            return segment

    def close(self) -> None:
        """Stop building; what is half built is dropped."""
        self._stopping.set()
        if self._builder is not None:
            self._builder.join()
        atexit.unregister(self.close)

    def remove(self, space: int) -> None:
        """Delete a space's segments, since they hold vectors of what was forgotten; a new one is built when due."""
        with self._lock:
            self._open.pop(space, None)
            for path in self._directory.glob(f"{space}-*.hnsw"):
                path.unlink(missing_ok=True)

    def _load(self, space: int, view: View) -> Segment | None:
        """Open the newest file that the view has caught up with."""
        for seq, path in sorted(self._files(space, view.epoch), reverse=True):
            if seq > view.seq or path.name in self._refused:
                continue
            segment = _opened(path, view.epoch, seq)
            if segment is not None:
                self._open[space] = segment
                return segment
            self._refused.add(path.name)
        return None

    def _files(self, space: int, epoch: int) -> list[tuple[int, Path]]:
        found = self._directory.glob(f"{space}-{epoch}-*.hnsw") if self._directory.is_dir() else []
        return [(int(path.name.split("-")[2]), path) for path in found]

    def _build_later(self, space: int, view: View) -> None:
        if self._builder is None or not self._builder.is_alive():
            self._builder = threading.Thread(
                target=self._build, args=(space, view), name="commonplace-hnsw", daemon=True
            )
            self._builder.start()
            # Python must not end while the thread is inside the graph's C++ code.
            atexit.register(self.close)

    def _build(self, space: int, view: View) -> None:
        self._directory.mkdir(exist_ok=True)
        with open(self._directory / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # another process is building
                return
            known = [seq for seq, path in self._files(space, view.epoch) if path.name not in self._refused]
            graph = _graph(view, self._stopping) if max(known, default=-1) < view.seq else None
            if graph is not None:
                _write(self._directory, space, view, graph)


def _opened(path: Path, epoch: int, seq: int) -> Segment | None:
    """A segment whose bytes are the ones that were written; None if they are not."""
    from usearch.index import Index

    if path.stem.split("-")[3] != _checksum(path):
        return None
    try:
        index = Index.restore(str(path), view=True, expansion_search=_EXPANSION)
    except (RuntimeError, ValueError):
        return None
    return None if index is None else Segment(epoch, seq, index)


def _write(directory: Path, space: int, view: View, graph: Any) -> None:
    temporary = directory / f"{space}.building"
    graph.save(str(temporary))
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    name = f"{space}-{view.epoch}-{view.seq}-{_checksum(temporary)}.hnsw"
    older = [path for path in directory.glob(f"{space}-*.hnsw") if path.name != name]
    temporary.rename(directory / name)
    for path in older:
        # Processes that have one of these mapped keep it until they let go.
        with suppress(OSError):
            path.unlink()


def _graph(view: View, stopping: threading.Event) -> Any:
    """A graph over what stands in the view; None if it was told to stop."""
    from usearch.index import Index

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
