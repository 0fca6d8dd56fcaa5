"""Re-embed a book with another embedder while it stays in use; a run that was stopped can go on.

New vectors are stored beside the old ones in batches; when all are there, one transaction puts them in place. Until
then every process uses the old embedder; after it, a book that was opened with the old one has to be opened again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.memories.core import Identity, describe_embedder, embed, read_identity, write_identity
from commonplace.models.embedders.base import Embedder
from commonplace.store.base import Reembedded, Store, Tx
from commonplace.store.row import pack_terms, pack_vectors
from commonplace.store.tables import memories, traces
from commonplace.store.tables.traces import TextRow

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
        rows = store.read(lambda tx: traces.find_not_reembedded(tx, batch), None)
        if not rows:
            return done
        embed_batch(store, embedder, goal, rows)


def embed_batch(store: Store, embedder: Embedder, goal: str, rows: Sequence[TextRow]) -> None:
    """Embed versions and store their new vectors; raise Conflict if another re-embedding has begun."""
    texts = [row.text for row in rows if row.text.strip()]
    vectors = iter(pack_vectors(embed(embedder, texts)))
    new = [
        Reembedded(
            row.seq,
            row.space,
            next(vectors) if row.text.strip() else None,
            pack_terms(row.text, json.loads(row.tags), row.source),
        )
        for row in rows
    ]
    store.write(lambda tx: traces.keep_reembedded(tx, goal, new), None)


def finish(tx: Tx, goal: str, described: Identity) -> bool:
    """Put the new vectors in place; return False if one is missing, raise Conflict as above."""
    traces.ensure_goal(tx, goal)
    if traces.find_not_reembedded(tx, 1):
        return False
    traces.put_reembedded(tx)
    write_identity(tx, replace(described, generation=memories.current_generation(tx) + 1))
    return True
