"""Core: an open store with its settings and its models, shared by all books on it.

A book records its embedder's name, version and dimension, and one planted memory in a space of its own. Before the
first use, that memory is embedded again and recalled: a changed model or a broken index raises an error instead of
returning wrong answers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from commonplace.errors import EmbedderFailed, EmbedderMismatch, StoreCorrupt
from commonplace.models.background import Background, measure
from commonplace.models.embedders.base import Embedder
from commonplace.models.reader import Reader
from commonplace.models.rerankers import Reranker
from commonplace.settings import Settings
from commonplace.store.base import Candidates, Choice, Probe, Store, Tx
from commonplace.store.row import pack_terms, pack_vectors
from commonplace.store.tables import memories, spaces
from commonplace.store.where import Selection, compile_where
from commonplace.values import NOBODY, TEXT, times
from commonplace.values.arrays import Floats
from commonplace.values.extraction import Extractor

if TYPE_CHECKING:
    from commonplace.models.statements import StatementReader

PLANTED = "The lighthouse keeper wrote every passing ship into the commonplace book."
_ALIKE = 0.999
"""Cosine below which the planted memory's vector counts as another model's: float16 alone stays above it."""


class BackgroundWorker(Protocol):
    """Runs waiting jobs in a thread of this process."""

    def wake(self) -> None:
        """Look for jobs now."""

    def close(self) -> None:
        """Stop after the current job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The embedder that a book's vectors come from. `generation` rises with each re-embedding."""

    name: str
    version: str
    dimension: int
    generation: int
    background: Background


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
        reader: Callable[[], Reader] | None = None,
        statements: Callable[[], StatementReader] | None = None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.reranker = reranker
        self.reader = reader
        """Returns the reader; the first call loads the model. None if recall works without one."""
        self.statements = statements
        """Returns the reader of statements, for learning; the first call loads the model. None if learning works
        without one."""
        self.settings = settings
        self.where = where
        self.extractor = extractor
        self.works = True
        """Whether this process runs jobs in the background; if not, `work` and other processes do."""
        self._make_worker = worker
        self._worker: BackgroundWorker | None = None
        self._identity: Identity | None = None
        self._lock = threading.Lock()
        self._whole = self
        written = store.read(read_identity, None)
        if written is not None:
            _ensure_same(written, embedder, where)

    def over(self, store: Store) -> Core:
        """Return this core over a view of its store, such as one bound to a request; they share identity and worker."""
        view = copy(self)
        view.store = store
        return view

    def identity(self) -> Identity:
        """Return the book's identity; the first call embeds and recalls the planted memory."""
        whole = self._whole
        if whole._identity is None:
            with whole._lock:
                if whole._identity is None:
                    whole._identity = _prove(whole.store, self.embedder, self.where)
        return whole._identity

    def prove(self) -> None:
        """Recall the planted memory again; raise if the store or the embedder no longer returns the same."""
        _prove(self.store, self.embedder, self.where)

    def ensure_generation(self, tx: Tx) -> None:
        """Raise EmbedderMismatch if another process has re-embedded the book since it was opened."""
        memories.ensure_generation(memories.current_generation(tx), self.identity().generation)

    def wake(self) -> None:
        """Let the background worker look for jobs; the first call starts it."""
        whole = self._whole
        if not whole.works:
            return
        with whole._lock:
            if whole._worker is None:
                whole._worker = whole._make_worker(whole)
        whole._worker.wake()

    def close(self) -> None:
        """Stop the worker after its current job, and close the store."""
        if self._worker is not None:
            self._worker.close()
        self.store.close()


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


def embed(embedder: Embedder, texts: list[str]) -> Floats:
    """Return one unit row for each text; raise EmbedderFailed for a wrong shape or number."""
    if not texts:
        return np.empty((0, embedder.dimension), np.float32)
    rows = np.asarray(embedder.embed(texts), np.float32)
    if rows.shape != (len(texts), embedder.dimension):
        raise EmbedderFailed(
            f"embedder {embedder.name} returned shape {rows.shape} for {len(texts)} texts,"
            f" expected ({len(texts)}, {embedder.dimension})"
        )
    if not np.isfinite(rows).all():
        raise EmbedderFailed(f"embedder {embedder.name} returned numbers that are not finite")
    return _unit(rows)


def embed_query(embedder: Embedder, query: str) -> Floats:
    """Return the query's unit vector; raise EmbedderFailed for a wrong shape or number."""
    row = np.asarray(embedder.embed_query(query), np.float32)
    if row.shape != (embedder.dimension,) or not np.isfinite(row).all():
        raise EmbedderFailed(
            f"embedder {embedder.name} returned shape {row.shape} for a query, or numbers that are not finite"
        )
    return _unit(row)


def _unit(rows: Floats) -> Floats:
    """Scale rows to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def read_identity(tx: Tx) -> Identity | None:
    """Return the identity that the book was written with; None while it holds no vector."""
    written = spaces.read_value(tx, "embedder")
    if written is None:
        return None
    fields = json.loads(written)
    return Identity(**{**fields, "background": Background(**fields["background"])})


def write_identity(tx: Tx, identity: Identity) -> None:
    """Record which embedder the book's vectors come from."""
    spaces.write_value(tx, "embedder", json.dumps(asdict(identity)))
    spaces.write_value(tx, "dimension", str(identity.dimension))
    spaces.write_value(tx, "generation", str(identity.generation))


def describe_embedder(embedder: Embedder, *, generation: int) -> Identity:
    """Return the identity that a book gets from this embedder; measures its background."""
    return Identity(
        name=embedder.name,
        version=embedder.version,
        dimension=embedder.dimension,
        generation=generation,
        background=measure(embedder),
    )


def _ensure_same(identity: Identity, embedder: Embedder, where: str) -> None:
    if (identity.name, identity.version) != (embedder.name, embedder.version):
        option = ' (embedder="none")' if identity.name == "words-only" else ""
        raise EmbedderMismatch(
            f"{where} was written with embedder {identity.name} {identity.version}{option}, not {embedder.name}"
            f" {embedder.version}; open it with that one, or re-embed it: commonplace reindex {where} (with"
            " --embedder for one that is not the default)"
        )


def _prove(store: Store, embedder: Embedder, where: str) -> Identity:
    """Plant a memory in a new book, recall it in an old one; return the book's identity."""
    vector = embed(embedder, [PLANTED])
    identity = store.read(read_identity, None)
    if identity is None:
        described = describe_embedder(embedder, generation=1)
        identity = store.write(lambda tx: _plant(tx, described, vector), None)
    _ensure_same(identity, embedder, where)
    if identity.dimension != embedder.dimension:
        raise EmbedderMismatch(
            f"{where} holds vectors of {identity.dimension} numbers, embedder {embedder.name} returns"
            f" {embedder.dimension}; re-embed the book: commonplace reindex {where}"
        )
    space = store.read(lambda tx: spaces.find(tx, spaces.PLANTED), None)
    if space is None:
        raise StoreCorrupt(f"{where} has lost its planted memory; restore a backup")
    now = times.now()
    probe = Probe(vector=vector[0], terms=(), depth=1, now=now, generation=identity.generation)
    condition = compile_where(store.syntax, space, Selection(), now=now)
    found = store.search(space, probe, condition, _choose_all, narrow=False, as_of=None)
    if not found.rows:
        raise StoreCorrupt(f"{where} cannot find its planted memory: run `commonplace check --deep`")
    # A words-only book has no direction to compare.
    if vector.any() and float(found.candidates.cosines[0]) < _ALIKE:
        raise EmbedderMismatch(
            f"embedder {embedder.name} {embedder.version} returns other vectors than when {where} was written;"
            f" restore that model, or re-embed the book: commonplace reindex {where}"
        )
    return identity


def _plant(tx: Tx, identity: Identity, vector: Floats) -> Identity:
    already = read_identity(tx)
    if already is not None:  # another process was first
        return already
    write_identity(tx, identity)
    now = times.now()
    planted = memories.Record(
        id="planted", kind="note", form="text", mime=TEXT, text=PLANTED, content=None, tags=(), metadata="{}",
        importance=0.5, scope=NOBODY, source=None, said_at=now, created_at=now, expires_at=None,
        vector=pack_vectors(vector)[0], terms=pack_terms(PLANTED, ()),
    )  # fmt: skip
    memories.insert(tx, spaces.number(tx, spaces.PLANTED), [planted], generation=identity.generation)
    return identity


def _choose_all(candidates: Candidates) -> Choice[None]:
    return Choice(positions=np.arange(len(candidates.seqs)), judgement=None)
