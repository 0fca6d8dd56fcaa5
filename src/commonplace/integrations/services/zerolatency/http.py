"""0Latency's HTTP dialect: extract, recall, seed and others. /v1/x and /api/x are the same as /x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import Request
from pydantic import BaseModel

from commonplace import Book, CommonplaceError, InvalidInput, LimitReached, NotFound, __version__
from commonplace.integrations.services import zerolatency
from commonplace.integrations.services.http import Limit, Offset, ServiceRoute, ServiceRouter, window
from commonplace.values import KINDS, Json

_FIELDS = ("content", "role", "name")
"""The fields of a message that are used; clients send more."""


class ZeroLatencyRoute(ServiceRoute):
    """Errors are {detail}; that of a limit is an object."""

    def error_body(self, request: Request, error: CommonplaceError) -> object:
        if error.status != 429:
            return super().error_body(request, error)
        wait = error.retry_after if isinstance(error, LimitReached) else None
        body = {"error": "rate_limit_exceeded", "message": str(error), "limit": None, "retry_after": wait}
        return {"detail": body}


router = ServiceRouter(route_class=ZeroLatencyRoute)


class ZeroLatencyFact(BaseModel):
    """One thing to remember."""

    text: str
    category: str | None = None
    importance: float | None = None
    metadata: dict[str, Any] | None = None


@router.on_book("POST", "/memories/seed")
@router.on_book("POST", "/memories")
def seed(
    book: Book,
    *,
    agent_id: str | None = None,
    content: str | None = None,
    facts: Sequence[ZeroLatencyFact] = (),
    category: str | None = None,
    importance: float | None = None,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Json]:
    """Remember the content or the facts as they are."""
    given = [fact.model_dump() for fact in facts]
    if content is not None:
        given.insert(0, {"text": content, "category": category, "importance": importance, "metadata": metadata})
    if not given:
        raise InvalidInput("content is missing: send content, or a list of facts")
    return zerolatency.stored_body(
        book.remember([zerolatency.draft_of(each["text"], agent_id, each) for each in given])
    )


@router.on_book("POST", "/recall", "recall")
@router.on_book("GET", "/memories/recall", "recall")
def recall(
    book: Book,
    *,
    query: str | None = None,
    conversation_context: str | None = None,
    agent_id: str | None = None,
    limit: int = 10,
    max_tokens: int | None = None,
    budget_tokens: int | None = None,
) -> dict[str, Json]:
    """Recall what is relevant to a query, or to the conversation. The first client sends query parameters."""
    asked = query or conversation_context
    if asked is None:
        raise InvalidInput("the query is missing: send query or conversation_context")
    budget = next(given for given in (max_tokens, budget_tokens, zerolatency.BUDGET) if given is not None)
    return zerolatency.recall_body(zerolatency.recall(book, asked, agent=agent_id, limit=limit, budget=budget))


@router.on_book("POST", "/memories/extract", status=202)
@router.on_book("POST", "/extract", status=202)
def extract(
    book: Book,
    *,
    agent_id: str | None = None,
    content: str | None = None,
    conversation: list[dict[str, Any]] | None = None,
    human_message: str | None = None,
    agent_message: str | None = None,
) -> dict[str, Json]:
    """Keep a conversation (messages, a text, or one turn of two) and make memories of it in the background."""
    if conversation is not None:
        messages = [{name: each[name] for name in _FIELDS if name in each} for each in conversation]
        return zerolatency.extract(book, messages, agent_id)
    turn = (("user", human_message), ("assistant", agent_message))
    said = [{"role": role, "content": text} for role, text in turn if text]
    return zerolatency.extract(book, said if content is None else content, agent_id)


router.on_book("GET", "/memories/extract/{job}")(zerolatency.extraction_body)
router.on_book("GET", "/extract/{job}")(zerolatency.extraction_body)


@router.on_book("GET", "/memories/search", "recall")
def search(book: Book, *, q: str, agent_id: str | None = None, limit: int = 10) -> dict[str, Json]:
    """Return the memories that are relevant to a query, without a text for a prompt."""
    hits = zerolatency.recall(book, q, agent=agent_id, limit=limit, budget=None).hits
    memories: list[Json] = [zerolatency.hit_body(hit) for hit in hits]
    return {"query": q, "memories": memories, "results": memories, "count": len(memories)}


@router.on_book("GET", "/memories/export")
def export(book: Book, *, agent_id: str | None = None) -> dict[str, Json]:
    """Return every memory, or those of an agent and of nobody; `import` reads them."""
    found = window(book, within=zerolatency.within_of(agent_id), offset=0, limit=2**53)
    return {"memories": [zerolatency.memory_body(each) for each in found.memories], "count": len(found.memories)}


@router.on_book("POST", "/memories/import")
def import_memories(book: Book, *, agent_id: str | None = None, memories: list[dict[str, Any]]) -> dict[str, Json]:
    """Import what an export gave, all or nothing; known ids are skipped. A memory's own agent goes first."""
    new = [each for each in memories if not _exists(book, each.get("id"))]
    made = book.remember(
        [zerolatency.draft_of(_check_text(each), each.get("agent_id") or agent_id, each, keep_id=True) for each in new]
    )
    return {"imported": len(made), "skipped": len(memories) - len(new), "memory_ids": [m.id for m in made]}


@router.on_book("GET", "/memories")
def list_memories(book: Book, *, agent_id: str | None = None, limit: Limit = 50, offset: Offset = 0) -> dict[str, Json]:
    """Return a page of memories, the newest first."""
    found = window(book, within=zerolatency.within_of(agent_id), offset=offset, limit=limit)
    memories: list[Json] = [zerolatency.memory_body(each) for each in found.memories]
    return {"memories": memories, "count": len(memories), "has_more": found.more}


@router.on_book("GET", "/memories/{id}")
def get_memory(book: Book, id: str) -> dict[str, Json]:
    """Return one memory."""
    return zerolatency.memory_body(book.get(id))


@router.on_book("PUT", "/memories/{id}")
def change_memory(
    book: Book,
    id: str,
    *,
    content: str | None = None,
    category: str | None = None,
    importance: float | None = None,
    tags: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Json]:
    """Give a memory a new version; the old one stays in its history."""
    fields = {"content": content, "kind": category, "importance": importance, "tags": tags, "metadata": metadata}
    changes: dict[str, Any] = {name: field for name, field in fields.items() if field is not None}
    if not changes:
        raise InvalidInput("nothing to change: send content, category, importance, tags or metadata")
    if changes.get("kind", "note") not in KINDS:
        raise InvalidInput(f"unknown category {category!r}; known: {', '.join(KINDS)}")
    return zerolatency.memory_body(book.revise(id, **changes))


@router.on_book("DELETE", "/memories/{id}")
def delete_memory(book: Book, id: str) -> dict[str, Json]:
    """Forget a memory, with all its versions and what was learned from it alone."""
    return {"deleted": True, "id": id, "memories_removed": book.forget(id).memories}


@router.on_book("GET", "/memories/{id}/history")
def history(book: Book, id: str) -> dict[str, Json]:
    """Return every version of a memory, oldest first."""
    return {"memory_id": id, "history": [zerolatency.revision_body(each) for each in book.history(id)]}


router.on_book("POST", "/feedback")(zerolatency.feedback_body)


@router.on_book("GET", "/usage")
def usage(book: Book) -> dict[str, Json]:
    """Return how much the space holds."""
    held = book.stats()
    return {"memories": held.memories, "by_category": dict(held.by_kind), "extractions_waiting": held.jobs}


@router.get("/health")
async def health() -> dict[str, str]:
    """The process answers; /health/ready says whether it recalls."""
    return {"status": "ok", "service": "commonplace", "version": __version__}


def _exists(book: Book, id: object) -> bool:
    if not isinstance(id, str):
        return False
    try:
        book.get(id)
    except NotFound:
        return False
    return True


def _check_text(given: dict[str, Any]) -> str:
    text = given.get("content", given.get("text"))
    if not isinstance(text, str):
        raise InvalidInput("each memory needs a content that is text")
    return text
