"""What a 0Latency client is answered, made from a book: the server's dialect and `zero_latency` here share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book import Book
from commonplace.errors import InvalidInput, NotFound
from commonplace.values import KINDS, Draft, Hit, Json, Kind, Memory, Recall, Revision, Scope, Signal, Within

BUDGET = 4000
"""Tokens of a recall, unless the client says how many."""
_HESITANT = 0.1
"""The relevance that is enough where nothing has more: 0Latency's clients expect the nearest that there is."""
_MOST = 10_000
_SIGNALS: dict[str, Signal] = {"used": "used", "ignored": "ignored", "contradicted": "wrong", "miss": "used"}
"""What was missed should have been found: it counts as wanted."""


def words(memory: Memory) -> str:
    """The text of a memory, also of one that is JSON or an image."""
    return memory.content if isinstance(memory.content, str) else memory.text


def scope(agent: str | None) -> Scope:
    """Where an agent's memories are written; without one they are everybody's."""
    return Scope(agent=agent)


def within(agent: str | None) -> Within | None:
    """Where an agent looks: at its own memories and at those that belong to nobody; without one, everywhere."""
    return None if agent is None else Within(agents=(agent,))


def draft(content: str, agent: str | None, given: Mapping[str, Any], *, keep_id: bool = False) -> Draft:
    """A fact as it is sent: a category that is no kind of ours stays with it as metadata."""
    category = given.get("category")
    kind: Kind = next((known for known in KINDS if known == category), "note")
    metadata: dict[str, Json] = dict(_object(given.get("metadata")))
    if category is not None and category != kind:
        metadata["category"] = category
    importance = given.get("importance")
    return Draft(
        content=content,
        kind=kind,
        metadata=metadata,
        tags=given.get("tags") or (),
        importance=0.5 if importance is None else importance,
        scope=scope(agent),
        id=given.get("id") if keep_id else None,
        origin="import" if keep_id else "user",
    )


def _object(metadata: object) -> Mapping[str, Json]:
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a JSON object, not {type(metadata).__name__}")
    return metadata


def plain(memory: Memory) -> dict[str, Json]:
    """A memory."""
    return {
        "id": memory.id,
        "content": words(memory),
        "agent_id": memory.scope.agent,
        "category": memory.metadata.get("category", memory.kind),
        "importance": memory.importance,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "version": memory.version,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
    }


def stored(memories: Sequence[Memory]) -> dict[str, Json]:
    """What was stored."""
    ids: list[Json] = [memory.id for memory in memories]
    return {"status": "stored", "id": ids[0] if ids else None, "memories_stored": len(ids), "memory_ids": ids}


def found(hit: Hit) -> dict[str, Json]:
    """A memory that was found: relevance is the probability that it bears on the query, score what it is ranked by."""
    return {**plain(hit.memory), "relevance": round(hit.parts.relevance, 4), "score": round(hit.score, 4)}


def recall(book: Book, query: str, *, agent: str | None, limit: int, budget: int | None) -> Recall:
    """What bears on a query; where nothing clearly does, what may. Its relevance and the coverage tell which it is."""
    where = within(agent)
    found = book.recall(query, k=limit, max_tokens=budget, within=where)
    return found if found.hits else book.recall(query, k=limit, max_tokens=budget, within=where, threshold=_HESITANT)


def recalled(recall: Recall) -> dict[str, Json]:
    """What was recalled, as a block of text and one by one."""
    return {
        "context_block": recall.text,
        "text": recall.text,
        "memories": [found(hit) for hit in recall.hits],
        "avoid": [found(hit) for hit in recall.avoid],
        "memories_used": len(recall.hits),
        "tokens_used": recall.tokens,
        "memory_ids": [hit.memory.id for hit in recall.hits],
        "coverage": recall.coverage,
        "receipt": recall.receipt,
    }


def extraction(book: Book, job: str) -> dict[str, Json]:
    """How an extraction stands. Its id is the session that keeps the conversation, so that it outlives the job."""
    jobs = [each for each in book.jobs() if each.payload.get("session") == job]
    if not jobs and not book.transcript(job).tail(1):
        raise NotFound(f"no extraction {job!r} in this space")
    if any(each.state != "dead" for each in jobs):
        return {"job_id": job, "status": "accepted", "memories_stored": 0, "memory_ids": []}
    ids: list[Json] = list(_learned(book, job))
    status = "failed" if jobs else "complete"
    return {"job_id": job, "status": status, "memories_stored": len(ids), "memory_ids": ids}


def _learned(book: Book, session: str) -> dict[str, None]:
    """The memories that the messages of a session led to: new ones, and known ones that were said again."""
    messages = book.list(
        within=Within(sessions=(session,), shared=False),
        kinds=["message"],
        superseded=True,
        order="oldest",
        limit=_MOST,
    )
    return {
        link.id: None
        for message in messages
        for link in book.links(message.id)
        if link.other == message.id and link.relation in ("learned from", "repeats")
    }


def feedback(book: Book, memory: str | None, kind: str) -> dict[str, Json]:
    """Tell the book what became of a memory; of a miss that names none it cannot learn anything, and says so."""
    signal = _SIGNALS.get(kind)
    if signal is None:
        raise InvalidInput(f"unknown feedback_type {kind!r}; known: {', '.join(_SIGNALS)}")
    if memory is None and kind == "miss":
        return {"status": "nothing learned", "memories_updated": 0}
    if memory is None:
        raise InvalidInput("say which memory it was: memory_id")
    return {"status": "recorded", "memories_updated": book.feedback(memory, signal)}


def step(revision: Revision) -> dict[str, Json]:
    """One step in the life of a memory."""
    return {
        **plain(revision.memory),
        "version": revision.version,
        "action": revision.action,
        "at": revision.at.isoformat(),
        "reason": revision.reason,
    }
