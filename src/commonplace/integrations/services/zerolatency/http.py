"""0Latency's HTTP dialect: extract, recall, seed and others. /v1/x and /api/x are the same as /x."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from commonplace import Book, CommonplaceError, InvalidInput, LimitReached, NotFound, __version__
from commonplace.integrations.services import zerolatency
from commonplace.integrations.services.http import Name, ServiceRoute, answer_error, on_book, window
from commonplace.values import KINDS, Json

_FIELDS = ("content", "role", "name")
"""The fields of a message that are used; clients send more."""


class ZeroLatencyRoute(ServiceRoute):
    """Errors are {detail}; that of a limit is an object."""

    def answer_error(self, request: Request, error: CommonplaceError) -> Response:
        if error.status != 429:
            return super().answer_error(request, error)
        wait = error.retry_after if isinstance(error, LimitReached) else None
        body = {"error": "rate_limit_exceeded", "message": str(error), "limit": None, "retry_after": wait}
        return answer_error(request, error, {"detail": body})


router = APIRouter(route_class=ZeroLatencyRoute)


class _Traits(BaseModel):
    category: str | None = None
    importance: float | None = None
    metadata: dict[str, Any] | None = None


class ZeroLatencyFact(_Traits):
    """One thing to remember."""

    text: str


class ZeroLatencySeed(_Traits):
    """A content, or facts."""

    agent_id: str | None = None
    content: str | None = None
    facts: list[ZeroLatencyFact] = Field(default_factory=list)


@router.post("/memories/seed")
@router.post("/memories")
@on_book("write")
def seed(book: Book, body: ZeroLatencySeed) -> dict[str, Json]:
    """Remember the content or the facts as they are."""
    drafts = [zerolatency.draft_of(fact.text, body.agent_id, fact.model_dump()) for fact in body.facts]
    if body.content is not None:
        drafts.insert(0, zerolatency.draft_of(body.content, body.agent_id, body.model_dump()))
    if not drafts:
        raise InvalidInput("content is missing: send content, or a list of facts")
    return zerolatency.stored_body(book.remember(drafts))


class ZeroLatencyQuery(BaseModel):
    """A query."""

    query: str | None = None
    conversation_context: str | None = None
    agent_id: str | None = None
    limit: int = 10
    max_tokens: int | None = None
    budget_tokens: int | None = None

    def recall(self, book: Book) -> dict[str, Json]:
        query = self.query or self.conversation_context
        if query is None:
            raise InvalidInput("the query is missing: send query or conversation_context")
        budgets = (self.max_tokens, self.budget_tokens, zerolatency.BUDGET)
        budget = next(given for given in budgets if given is not None)
        found = zerolatency.recall(book, query, agent=self.agent_id, limit=self.limit, budget=budget)
        return zerolatency.recall_body(found)


@router.post("/recall")
@on_book("recall")
def recall(book: Book, question: ZeroLatencyQuery) -> dict[str, Json]:
    """Recall what bears on a query, or on the conversation."""
    return question.recall(book)


@router.get("/memories/recall")
@on_book("recall")
def recall_by_address(book: Book, question: Annotated[ZeroLatencyQuery, Query()]) -> dict[str, Json]:
    """Recall by query parameters, as the first client does."""
    return question.recall(book)


class ZeroLatencyConversation(BaseModel):
    """A conversation: text, messages, or one turn of two."""

    agent_id: str | None = None
    content: str | None = None
    conversation: list[dict[str, Any]] | None = None
    human_message: str | None = None
    agent_message: str | None = None

    def messages(self) -> str | list[dict[str, Any]]:
        """Return the conversation as `learn` takes it."""
        if self.conversation is not None:
            return [{name: each[name] for name in _FIELDS if name in each} for each in self.conversation]
        if self.content is not None:
            return self.content
        turn = (("user", self.human_message), ("assistant", self.agent_message))
        return [{"role": role, "content": said} for role, said in turn if said]


@router.post("/memories/extract")
@router.post("/extract")
@on_book("write", status=202)
def extract(book: Book, body: ZeroLatencyConversation) -> dict[str, Json]:
    """Keep a conversation, and make memories of it in the background; recall finds its messages at once."""
    return zerolatency.extract(book, body.messages(), body.agent_id)


@router.get("/memories/extract/{job}")
@router.get("/extract/{job}")
@on_book("read")
def extraction(book: Book, job: Name) -> dict[str, Json]:
    """The state of an extraction."""
    return zerolatency.extraction_body(book, job)


@router.get("/memories/search")
@on_book("recall")
def search(book: Book, q: str, agent_id: str | None = None, limit: int = 10) -> dict[str, Json]:
    """The memories that bear on a query, without a text for a prompt."""
    hits = zerolatency.recall(book, q, agent=agent_id, limit=limit, budget=None).hits
    memories: list[Json] = [zerolatency.hit_body(hit) for hit in hits]
    return {"query": q, "memories": memories, "results": memories, "count": len(memories)}


@router.get("/memories/export")
@on_book("read")
def export(book: Book, agent_id: str | None = None) -> dict[str, Json]:
    """Every memory, or those of an agent and of nobody; `import` reads them."""
    found = window(book, within=zerolatency.within_of(agent_id), offset=0, limit=2**53)
    return {"memories": [zerolatency.memory_body(each) for each in found.memories], "count": len(found.memories)}


class ZeroLatencyImport(BaseModel):
    """Memories from elsewhere; an agent of their own goes before the one for all."""

    agent_id: str | None = None
    memories: list[dict[str, Any]]


@router.post("/memories/import")
@on_book("write")
def import_memories(book: Book, body: ZeroLatencyImport) -> dict[str, Json]:
    """Import what an export gave, all or nothing; known ids are skipped."""
    new = [each for each in body.memories if not _exists(book, each.get("id"))]
    made = book.remember(
        [zerolatency.draft_of(_check_text(each), _agent(each, body), each, keep_id=True) for each in new]
    )
    return {"imported": len(made), "skipped": len(body.memories) - len(new), "memory_ids": [m.id for m in made]}


@router.get("/memories")
@on_book("read")
def list_memories(
    book: Book,
    agent_id: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> dict[str, Json]:
    """A page of memories, the newest first."""
    found = window(book, within=zerolatency.within_of(agent_id), offset=offset, limit=limit)
    memories: list[Json] = [zerolatency.memory_body(each) for each in found.memories]
    return {"memories": memories, "count": len(memories), "has_more": found.more}


@router.get("/memories/{id}")
@on_book("read")
def get_memory(book: Book, id: Name) -> dict[str, Json]:
    """One memory."""
    return zerolatency.memory_body(book.get(id))


class ZeroLatencyChange(_Traits):
    """A change of a memory."""

    content: str | None = None
    tags: list[str] | None = None

    def changes(self) -> dict[str, Any]:
        """Return the arguments of `revise`."""
        given = self.model_dump(exclude_none=True)
        if not given:
            raise InvalidInput("nothing to change: send content, category, importance, tags or metadata")
        if "category" in given:
            given["kind"] = given.pop("category")
            if given["kind"] not in KINDS:
                raise InvalidInput(f"unknown category {given['kind']!r}; known: {', '.join(KINDS)}")
        return given


@router.put("/memories/{id}")
@on_book("write")
def change_memory(book: Book, id: Name, body: ZeroLatencyChange) -> dict[str, Json]:
    """Give a memory a new version; the old one stays in its history."""
    named = body.changes()
    return zerolatency.memory_body(book.revise(id, **named))


@router.delete("/memories/{id}")
@on_book("write")
def delete_memory(book: Book, id: Name) -> dict[str, Json]:
    """Forget a memory, with all its versions and what was learned from it alone."""
    return {"deleted": True, "id": id, "memories_removed": book.forget(id).memories}


@router.get("/memories/{id}/history")
@on_book("read")
def history(book: Book, id: Name) -> dict[str, Json]:
    """Every version of a memory, oldest first."""
    return {"memory_id": id, "history": [zerolatency.revision_body(each) for each in book.history(id)]}


class ZeroLatencyFeedback(BaseModel):
    """Whether a memory was of use."""

    memory_id: str | None = None
    feedback_type: str


@router.post("/feedback")
@on_book("write")
def feedback(book: Book, body: ZeroLatencyFeedback) -> dict[str, Json]:
    """Give feedback on a memory."""
    return zerolatency.feedback_body(book, body.memory_id, body.feedback_type)


@router.get("/usage")
@on_book("read")
def usage(book: Book) -> dict[str, Json]:
    """How much the space holds."""
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


def _agent(given: dict[str, Any], body: ZeroLatencyImport) -> str | None:
    agent: str | None = given.get("agent_id") or body.agent_id
    return agent
