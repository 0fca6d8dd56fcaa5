"""Which embedder a book's vectors come from, and the proof at start-up that it still gives the same ones.

A book keeps its embedder's name, version and dimension, and one planted memory in a space of its own.
Before the first use, that memory is embedded again and recalled: a changed model or a broken index is
a loud error, never an empty answer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np

from commonplace.errors import EmbedderMismatch, StoreCorrupt
from commonplace.memories.write import embed, records
from commonplace.models.background import Background, measure
from commonplace.models.embedders.base import Embedder
from commonplace.settings import Settings
from commonplace.store.base import Choice, Store, Tx
from commonplace.store.candidates import Candidates, Probe
from commonplace.store.tables import memories, spaces
from commonplace.store.where import Selection, compile_where
from commonplace.values import Draft, times
from commonplace.values.arrays import Floats

PLANTED = "The lighthouse keeper wrote every passing ship into the commonplace book."
_PLANTED_ID = "planted"
_ALIKE = 0.999
"""Cosine below which the planted memory's vector counts as another model's: float16 alone stays above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the book knows of its embedder. `generation` rises with each re-embedding."""

    name: str
    version: str
    dimension: int
    generation: int
    background: Background


def known(tx: Tx) -> Identity | None:
    """The identity that the book was written with; None while it holds no vector."""
    rows = tx.run("SELECT value FROM book WHERE name = 'embedder'")
    if not rows:
        return None
    fields = json.loads(rows[0][0])
    return Identity(**{**fields, "background": Background(**fields["background"])})


def adopt(tx: Tx, identity: Identity) -> None:
    """Write down which embedder the book's vectors come from."""
    fields = {
        "name": identity.name,
        "version": identity.version,
        "dimension": identity.dimension,
        "generation": identity.generation,
        "background": asdict(identity.background),
    }
    rows = {
        "embedder": json.dumps(fields),
        "dimension": str(identity.dimension),
        "generation": str(identity.generation),
    }
    for name, value in rows.items():
        tx.run(
            "INSERT INTO book (name, value) VALUES (:name, :value)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            {"name": name, "value": value},
        )


def describe(embedder: Embedder, *, generation: int) -> Identity:
    """The identity that a book gets from this embedder, its background measured."""
    return Identity(
        name=embedder.name,
        version=embedder.version,
        dimension=embedder.dimension,
        generation=generation,
        background=measure(embedder),
    )


def ensure_same(identity: Identity, embedder: Embedder, where: str) -> None:
    """Refuse an embedder with another name or version than the book's."""
    if (identity.name, identity.version) != (embedder.name, embedder.version):
        option = ' (embedder="none")' if identity.name == "words-only" else ""
        raise EmbedderMismatch(
            f"{where} was written with embedder {identity.name} {identity.version}{option}, not {embedder.name}"
            f" {embedder.version}; open it with that one, or re-embed it: commonplace reindex {where} (with"
            " --embedder for one that is not the default)"
        )


def prove(store: Store, embedder: Embedder, where: str, settings: Settings) -> Identity:
    """Bind a book and its embedder: plant a memory in a new book, recall it in an old one."""
    identity = store.read(known, None)
    if identity is None:
        described = describe(embedder, generation=1)
        vector = embed(embedder, [PLANTED])[0]
        identity = store.write(lambda tx: _plant(tx, described, embedder, vector, settings), None)
    ensure_same(identity, embedder, where)
    if identity.dimension != embedder.dimension:
        raise EmbedderMismatch(
            f"{where} holds vectors of {identity.dimension} numbers, embedder {embedder.name} gives"
            f" {embedder.dimension}; re-embed the book: commonplace reindex {where}"
        )
    _recall_planted(store, embedder, where, identity.generation)
    return identity


def _plant(tx: Tx, identity: Identity, embedder: Embedder, vector: Floats, settings: Settings) -> Identity:
    already = known(tx)
    if already is not None:  # another process was first
        return already
    adopt(tx, identity)
    now = times.now()
    draft = Draft(content=PLANTED, id=_PLANTED_ID, vector=vector)
    planted = records([draft], embedder=embedder, dimension=identity.dimension, settings=settings, now=now)
    space = spaces.number(tx, spaces.PLANTED)
    memories.insert(tx, space, planted, generation=identity.generation)
    return identity


def _recall_planted(store: Store, embedder: Embedder, where: str, generation: int) -> None:
    vector = embed(embedder, [PLANTED])[0]
    space = store.read(lambda tx: spaces.find(tx, spaces.PLANTED), None)
    if space is None:
        raise StoreCorrupt(f"{where} has lost its planted memory; restore a backup")
    now = times.now()
    probe = Probe(vector=vector, terms=(), depth=1, now=now, generation=generation)
    condition = compile_where(store.dialect, space, Selection(), now=now)
    found = store.search(space, probe, condition, _choose_all, narrow=False, as_of=None)
    if not found.rows:
        raise StoreCorrupt(f"{where} does not find its planted memory: run `commonplace check --deep`")
    # A words-only book has no direction to compare.
    if vector.any() and float(found.candidates.cosines[0]) < _ALIKE:
        raise EmbedderMismatch(
            f"embedder {embedder.name} {embedder.version} gives other vectors than when {where} was written;"
            f" restore that model, or re-embed the book: commonplace reindex {where}"
        )


def _choose_all(candidates: Candidates) -> Choice[None]:
    return Choice(positions=np.arange(len(candidates.seqs)), judgement=None)
