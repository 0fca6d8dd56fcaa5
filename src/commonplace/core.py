"""What every Book on one store shares: the store, its settings, and the proven embedder."""

from __future__ import annotations

import threading

from commonplace import identity
from commonplace.embed.base import Embedder
from commonplace.errors import EmbedderMismatch
from commonplace.identity import Identity
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx


class Core:
    """An open store and its embedder, which is proven before its first use and only once."""

    def __init__(self, store: Store, embedder: Embedder, settings: Settings, where: str) -> None:
        self.store = store
        self.embedder = embedder
        self.settings = settings
        self.where = where
        self._identity: Identity | None = None
        self._proving = threading.Lock()
        written = store.read(identity.known)
        if written is not None:
            identity.ensure_same(written, embedder, where)

    def identity(self) -> Identity:
        """The book's identity; the first call embeds and recalls the planted memory."""
        if self._identity is None:
            with self._proving:
                if self._identity is None:
                    self._identity = identity.prove(self.store, self.embedder, self.where, self.settings)
        return self._identity

    def ensure_generation(self, tx: Tx) -> None:
        """Refuse to mix vectors: another process may have re-embedded the book since it was opened."""
        if identity.generation(tx) != self.identity().generation:
            raise EmbedderMismatch(f"{self.where} was re-embedded meanwhile: close it and open it again")
