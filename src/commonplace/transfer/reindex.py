"""Re-embedding a book with another embedder, while it stays in use, and from where it stopped.

New vectors are gathered beside the old ones in batches; only when all are there does one transaction put
them in place. Until then every process goes on with the old embedder; after it, a book that was opened
with the old one is told to open again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from os import PathLike

from commonplace.location import EmbedderLike, open_store
from commonplace.memories.core import Identity, describe_embedder, embed, read_identity, write_identity
from commonplace.models.embedders import load as load_embedder
from commonplace.models.embedders.base import Embedder
from commonplace.settings import Settings
from commonplace.store import trace
from commonplace.store.base import Row, Store, Tx
from commonplace.store.tables import memories, traces

Progress = Callable[[int, int], None]


def reindex(
    where: str | PathLike[str],
    *,
    embedder: EmbedderLike = None,
    batch: int = 256,
    progress: Progress | None = None,
    settings: Settings | None = None,
) -> int:
    """Embed and analyse every version of every memory anew and return how many; run again, it goes on where it stopped.

    `progress` is called with how many are done and how many there are. Vectors that callers gave
    themselves are replaced by the embedder's, too.
    """
    store = open_store(where, settings or Settings())
    try:
        return _reindex(store, load_embedder(embedder), batch, progress or _silent)
    finally:
        store.close()


def _reindex(store: Store, embedder: Embedder, batch: int, progress: Progress) -> int:
    before = store.read(read_identity, None)
    if before is None:  # nothing was ever embedded
        return 0
    described = describe_embedder(embedder, generation=before.generation)
    goal = json.dumps([described.name, described.version, described.dimension])
    store.write(lambda tx: traces.begin_reembedding(tx, goal), None)
    while True:
        done = _gather(store, embedder, goal, batch, progress)
        # What was written while the last batch was embedded is caught by one more round.
        if store.write(lambda tx: _finish(tx, goal, described), None):
            return done


def _gather(store: Store, embedder: Embedder, goal: str, batch: int, progress: Progress) -> int:
    """Embed what has no new vector yet, a batch a transaction; returns how many have one."""
    while True:
        done, total = store.read(traces.reembedding_progress, None)
        progress(done, total)
        rows = store.read(lambda tx: traces.not_reembedded(tx, batch), None)
        if not rows:
            return done
        _embed_batch(store, embedder, goal, rows)


def _embed_batch(store: Store, embedder: Embedder, goal: str, rows: list[Row]) -> None:
    texts = [text for _, _, text, _, _ in rows if text.strip()]
    vectors = iter(trace.halves(embed(embedder, texts)))
    new = [
        (seq, space, next(vectors) if text.strip() else None, trace.terms(text, json.loads(tags), source))
        for seq, space, text, tags, source in rows
    ]
    store.write(lambda tx: traces.keep_reembedded(tx, goal, new), None)


def _finish(tx: Tx, goal: str, described: Identity) -> bool:
    """Put the new vectors in place if none is missing."""
    traces.ensure_goal(tx, goal)
    if traces.not_reembedded(tx, 1):
        return False
    traces.put_reembedded(tx)
    write_identity(tx, replace(described, generation=memories.current_generation(tx) + 1))
    return True


def _silent(done: int, total: int) -> None:
    """No progress wanted."""
