"""What every Book on one store shares: the store, its settings, and the proven embedder."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from commonplace.models.embedders.base import Embedder
from commonplace.models.rerankers.base import Reranker
from commonplace.settings import Settings
from commonplace.store import identity
from commonplace.store.base import Store, Tx, ensure_generation
from commonplace.store.identity import Identity
from commonplace.store.tables import memories, spaces

if TYPE_CHECKING:
    from commonplace.learn.jobs import Worker
    from commonplace.reconcile.statements import Extractor


class Core:
    """An open store and its embedder, which is proven before its first use and only once."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        where: str,
        *,
        reranker: Reranker | None = None,
        extractor: Extractor | None = None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.reranker = reranker
        self.settings = settings
        self.where = where
        self._extractor = extractor
        self._worker: Worker | None = None
        self.works = True
        """Whether a thread of this process does what waits; without it, `work` and other processes do."""
        self._identity: Identity | None = None
        self._proving = threading.Lock()
        written = store.read(identity.known, None)
        if written is not None:
            identity.ensure_same(written, embedder, where)

    def identity(self) -> Identity:
        """The book's identity; the first call embeds and recalls the planted memory."""
        if self._identity is None:
            with self._proving:
                if self._identity is None:
                    self._identity = identity.prove(self.store, self.embedder, self.where, self.settings)
        return self._identity

    def prove(self) -> None:
        """Recall the planted memory again: raises if the store or the embedder no longer gives what it should."""
        identity.prove(self.store, self.embedder, self.where, self.settings)

    @property
    def extractor(self) -> Extractor:
        """What reads memories out of messages: the rules, unless a model was given."""
        if self._extractor is None:
            from commonplace.learn.extract import Rules  # few books learn, and its patterns take a while to compile

            self._extractor = Rules()
        return self._extractor

    def wake(self) -> None:
        """Let a thread of this process do the jobs that wait; the first call starts it."""
        if not self.works:
            return
        with self._proving:
            if self._worker is None:
                from commonplace.learn.jobs import Worker  # it works on this

                self._worker = Worker(self)
        self._worker.wake()

    def close(self) -> None:
        """End the worker after the job at hand, and release the store."""
        if self._worker is not None:
            self._worker.close()
        self.store.close()

    def ensure_generation(self, tx: Tx) -> None:
        """Refuse to mix vectors: another process may have re-embedded the book since it was opened."""
        ensure_generation(memories.current_generation(tx), self.identity().generation)


class Place:
    """A space by name: reading finds its number, only writing makes one."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._number = 0

    def find(self) -> int:
        """The space's number; 0, which no space has, while nothing was written to it."""
        if not self._number:
            self._number = self._store.read(lambda tx: spaces.find(tx, self._name), None) or 0
        return self._number

    def make(self) -> int:
        """The space's number, made if it is new."""
        if not self.find():
            self._number = self._store.write(lambda tx: spaces.number(tx, self._name), spaces.NEW)
        return self._number
