"""Core: an open store with its settings, its models and its background worker, shared by all books on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from commonplace.memories import identity
from commonplace.memories.identity import Identity
from commonplace.models.embedders.base import Embedder
from commonplace.models.rerankers.base import Reranker
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx, ensure_generation
from commonplace.store.tables import memories, spaces
from commonplace.values.extraction import Extractor


class BackgroundWorker(Protocol):
    """Runs waiting jobs in a thread of this process."""

    def wake(self) -> None:
        """Look for jobs now."""

    def close(self) -> None:
        """Stop after the current job."""


class Core:
    """An open store and its embedder, which is checked against the stored vectors once, before its first use.

    `extractor` returns what reads memories out of messages, and `worker` makes the background worker. Both are
    called only when they are needed, since few books learn.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        where: str,
        *,
        extractor: Callable[[], Extractor],
        worker: Callable[[Core], BackgroundWorker],
        reranker: Reranker | None = None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.reranker = reranker
        self.settings = settings
        self.where = where
        self.extractor = extractor
        self.works = True
        """Whether this process runs jobs in the background; if not, `work` and other processes do."""
        self._make_worker = worker
        self._worker: BackgroundWorker | None = None
        self._identity: Identity | None = None
        self._lock = threading.Lock()
        written = store.read(identity.known, None)
        if written is not None:
            identity.ensure_same(written, embedder, where)

    def identity(self) -> Identity:
        """Return the book's identity; the first call embeds and recalls the planted memory."""
        if self._identity is None:
            with self._lock:
                if self._identity is None:
                    self._identity = identity.prove(self.store, self.embedder, self.where, self.settings)
        return self._identity

    def prove(self) -> None:
        """Recall the planted memory again; raise if the store or the embedder no longer returns the same."""
        identity.prove(self.store, self.embedder, self.where, self.settings)

    def wake(self) -> None:
        """Let the background worker look for jobs; the first call starts it."""
        if not self.works:
            return
        with self._lock:
            if self._worker is None:
                self._worker = self._make_worker(self)
        self._worker.wake()

    def close(self) -> None:
        """Stop the worker after its current job, and close the store."""
        if self._worker is not None:
            self._worker.close()
        self.store.close()

    def ensure_generation(self, tx: Tx) -> None:
        """Raise EmbedderMismatch if another process has re-embedded the book since it was opened."""
        ensure_generation(memories.current_generation(tx), self.identity().generation)


class Place:
    """A space by name. Reading looks its number up; only writing creates it."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._number = 0

    def find(self) -> int:
        """Return the space's number, or 0, which no space has, while nothing was written to it."""
        if not self._number:
            self._number = self._store.read(lambda tx: spaces.find(tx, self._name), None) or 0
        return self._number

    def make(self) -> int:
        """Return the space's number; create the space if it is new."""
        if not self.find():
            self._number = self._store.write(lambda tx: spaces.number(tx, self._name), spaces.NEW)
        return self._number
