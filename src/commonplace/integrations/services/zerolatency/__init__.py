"""0Latency's `Memory`, on a book: `from commonplace.integrations.services.zerolatency import Memory`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace import Book, Draft, Hit, InvalidInput, NotFound, Recall, Revision, Scope, Within, __version__
from commonplace import CommonplaceError as ZeroLatencyError
from commonplace import LimitReached as RateLimitError
from commonplace import Memory as BookMemory
from commonplace import Unauthorized as AuthenticationError
from commonplace.integrations.services import book as open_book
from commonplace.values import KINDS, Json, Kind, Signal

__all__ = ["AuthenticationError", "Memory", "RateLimitError", "Recalled", "ZeroLatencyError"]

BUDGET = 4000
"""Tokens of a recall, unless the client gives a number."""
_HESITANT = 0.1
"""The relevance that is enough if nothing has more: 0Latency's clients expect the nearest memories."""
_MOST = 10_000
_SIGNALS: dict[str, Signal] = {"used": "used", "ignored": "ignored", "contradicted": "wrong", "miss": "used"}
"""A missed memory should have been found, so it counts as used."""


def within_of(agent: str | None) -> Within | None:
    """Return where an agent looks: its own memories and those of nobody; without an agent, everywhere."""
    return None if agent is None else Within(agents=(agent,))


def draft_of(content: str, agent: str | None, given: Mapping[str, Any], *, keep_id: bool = False) -> Draft:
    """Return the draft of a fact; a category that is no kind of a book becomes metadata."""
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
        scope=Scope(agent=agent),
        id=given.get("id") if keep_id else None,
        origin="import" if keep_id else "user",
    )


def _object(metadata: object) -> Mapping[str, Json]:
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a JSON object, not {type(metadata).__name__}")
    return metadata


def memory_body(memory: BookMemory) -> dict[str, Json]:
    """Return a memory as the service does."""
    return {
        "id": memory.id,
        "content": memory.content if isinstance(memory.content, str) else memory.text,
        "agent_id": memory.scope.agent,
        "category": memory.metadata.get("category", memory.kind),
        "importance": memory.importance,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "version": memory.version,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
    }


def stored_body(memories: Sequence[BookMemory]) -> dict[str, Json]:
    """Return the answer to a write."""
    ids: list[Json] = [memory.id for memory in memories]
    return {"status": "stored", "id": ids[0] if ids else None, "memories_stored": len(ids), "memory_ids": ids}


def hit_body(hit: Hit) -> dict[str, Json]:
    """Return a hit: `relevance` is the probability that it is relevant, `score` ranks it."""
    return {**memory_body(hit.memory), "relevance": round(hit.parts.relevance, 4), "score": round(hit.score, 4)}


def recall(book: Book, query: str, *, agent: str | None, limit: int, budget: int | None) -> Recall:
    """Return what is relevant to a query; if nothing clearly is, what may be. Relevance and coverage tell which."""
    where = within_of(agent)
    found = book.recall(query, k=limit, max_tokens=budget, within=where)
    return found if found.hits else book.recall(query, k=limit, max_tokens=budget, within=where, threshold=_HESITANT)


def recall_body(recall: Recall) -> dict[str, Json]:
    """Return a recall, as a block of text and as single memories."""
    return {
        "context_block": recall.text,
        "text": recall.text,
        "memories": [hit_body(hit) for hit in recall.hits],
        "avoid": [hit_body(hit) for hit in recall.avoid],
        "memories_used": len(recall.hits),
        "tokens_used": recall.tokens,
        "memory_ids": [hit.memory.id for hit in recall.hits],
        "coverage": recall.coverage,
        "receipt": recall.receipt,
    }


def extract(book: Book, conversation: str | list[dict[str, Any]], agent: str | None) -> dict[str, Json]:
    """Keep a conversation, and make memories of it in the background."""
    return {"job_id": book.learn(conversation, scope=Scope(agent=agent)).session, "status": "accepted"}


def extraction_body(book: Book, job: str) -> dict[str, Json]:
    """Return the state of an extraction. Its id is the conversation's session, so that it outlives the job."""
    jobs = [each for each in book.jobs() if each.payload.get("session") == job]
    if not jobs and not book.transcript(job).tail(1):
        raise NotFound(f"no extraction {job!r} in this space")
    if any(each.state != "dead" for each in jobs):
        return {"job_id": job, "status": "accepted", "memories_stored": 0, "memory_ids": []}
    ids: list[Json] = list(_learned(book, job))
    status = "failed" if jobs else "complete"
    return {"job_id": job, "status": status, "memories_stored": len(ids), "memory_ids": ids}


def _learned(book: Book, session: str) -> dict[str, None]:
    """Return the memories that a session's messages led to: new ones, and repeated known ones."""
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


def feedback_body(book: Book, *, feedback_type: str, memory_id: str | None = None) -> dict[str, Json]:
    """Give feedback on a memory; a miss that names none changes nothing."""
    signal = _SIGNALS.get(feedback_type)
    if signal is None:
        raise InvalidInput(f"unknown feedback_type {feedback_type!r}; known: {', '.join(_SIGNALS)}")
    if memory_id is None and feedback_type == "miss":
        return {"status": "nothing learned", "memories_updated": 0}
    if memory_id is None:
        raise InvalidInput("memory_id is missing")
    return {"status": "recorded", "memories_updated": book.feedback(memory_id, signal)}


def revision_body(revision: Revision) -> dict[str, Json]:
    """Return one version of a memory."""
    return {
        **memory_body(revision.memory),
        "version": revision.version,
        "action": revision.action,
        "at": revision.at.isoformat(),
        "reason": revision.reason,
    }


class Recalled(dict[str, Any]):
    """The answer to a recall; `.text` is the block for a prompt."""

    @property
    def text(self) -> str:
        """The recalled memories as text for a prompt."""
        text: str = self["text"]
        return text


class Memory:
    """The service's client. Only a book behind a server needs a key."""

    def __init__(self, api_key: str = "", base_url: str | None = None, timeout: float = 30.0) -> None:
        self.api_key = api_key
        self.base_url = base_url

    def add(
        self, content: str, agent_id: str | None = None, metadata: Mapping[str, Json] | None = None
    ) -> dict[str, Json]:
        """Keep a text; when this returns, it is on disk and recall finds it.

        A conversation ("Coder: …" line by line) is learned from in the background. A text with metadata is one memory.
        """
        if metadata is not None:
            return stored_body([self._book.remember(content, scope=Scope(agent=agent_id), metadata=metadata)])
        return extract(self._book, content, agent_id)

    def recall(self, query: str, agent_id: str | None = None, limit: int = 10, max_tokens: int = BUDGET) -> Recalled:
        """Recall what is relevant to a query."""
        found = recall(self._book, query, agent=agent_id, limit=limit, budget=max_tokens)
        return Recalled(recall_body(found))

    def extract(self, conversation: Sequence[Mapping[str, Any]], agent_id: str | None = None) -> dict[str, Json]:
        """Keep a conversation, and make memories of it in the background."""
        return extract(self._book, [dict(message) for message in conversation], agent_id)

    def extract_status(self, job_id: str) -> dict[str, Json]:
        """Return the state of an extraction."""
        return extraction_body(self._book, job_id)

    def health(self) -> dict[str, Json]:
        """Return whether the book is sound."""
        found = self._book.check()
        return {"status": "ok" if found.ok else "unhealthy", "problems": [*found.problems], "version": __version__}

    def close(self) -> None:
        """Do nothing: the book is closed at the program's end."""

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def _book(self) -> Book:
        return open_book(self.base_url, api_key=self.api_key)
