"""Re-embed a book with another embedder while it stays in use; a run that was stopped can go on.

New vectors are stored beside the old ones in batches; when all are there, one transaction puts them in place. Until
then every process uses the old embedder; after it, a book that was opened with the old one has to be opened again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from commonplace.memories.core import Identity, describe_embedder, embed, read_identity, write_identity
from commonplace.models.embedders.base import Embedder
from commonplace.store import trace
from commonplace.store.base import Row, Store, Tx
from commonplace.store.tables import memories, traces

Progress = Callable[[int, int], None]


def reindex(store: Store, embedder: Embedder, *, batch: int = 256, progress: Progress | None = None) -> int:
    """Embed and analyse every version of every memory again; return how many. Run again, it goes on where it stopped.

    `progress` is called with how many are done and how many there are.
    """
    before = store.read(read_identity, None)
    if before is None:  # nothing was ever embedded
        return 0
    described = describe_embedder(embedder, generation=before.generation)
    goal = json.dumps([described.name, described.version, described.dimension])
    store.write(lambda tx: traces.begin_reembedding(tx, goal), None)
    while True:
        done = _gather(store, embedder, goal, batch, progress)
        # One more round takes what was written while the last batch was embedded.
        if store.write(lambda tx: finish(tx, goal, described), None):
            return done


def _gather(store: Store, embedder: Embedder, goal: str, batch: int, progress: Progress | None) -> int:
    """Embed what has no new vector yet, one batch a transaction; return how many have one."""
    while True:
        done, total = store.read(traces.reembedding_progress, None)
        if progress is not None:
            progress(done, total)
        rows = store.read(lambda tx: traces.not_reembedded(tx, batch), None)
        if not rows:
            return done
        embed_batch(store, embedder, goal, rows)


def embed_batch(store: Store, embedder: Embedder, goal: str, rows: list[Row]) -> None:
    """Embed versions and store their new vectors; raise Conflict if another re-embedding has begun."""
    texts = [text for _, _, text, _, _ in rows if text.strip()]
    vectors = iter(trace.halves(embed(embedder, texts)))
    new = [
        (seq, space, next(vectors) if text.strip() else None, trace.terms(text, json.loads(tags), source))
        for seq, space, text, tags, source in rows
    ]
    store.write(lambda tx: traces.keep_reembedded(tx, goal, new), None)


def finish(tx: Tx, goal: str, described: Identity) -> bool:
    """Put the new vectors in place; return False if one is missing, raise Conflict as above."""
    traces.ensure_goal(tx, goal)
    if traces.not_reembedded(tx, 1):
        return False
    traces.put_reembedded(tx)
    write_identity(tx, replace(described, generation=memories.current_generation(tx) + 1))
    return True
