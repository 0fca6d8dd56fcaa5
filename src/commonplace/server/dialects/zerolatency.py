"""The dialect of 0Latency: extract, recall, seed and their kin. /v1/x and /api/x are the same as /x."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from commonplace import __version__
from commonplace.book import Book
from commonplace.compat import answers
from commonplace.errors import CommonplaceError, InvalidInput, LimitReached, NotFound
from commonplace.server.dialects.pages import window
from commonplace.server.dialects.speaking import Reading, Recalling, Speaking, Writing, answered, detail
from commonplace.server.paths import Name
from commonplace.values import KINDS, Json

_FIELDS = ("content", "role", "name")
"""What a message of a conversation may have; clients send more."""


class Route(Speaking):
    """Errors are {detail}; that of a limit is an object."""

    def told(self, request: Request, error: CommonplaceError) -> Response:
        if error.status != 429:
            return detail(error, str(error))
        wait = error.retry_after if isinstance(error, LimitReached) else None
        body = {"error": "rate_limit_exceeded", "message": str(error), "limit": None, "retry_after": wait}
        return detail(error, body)


router = APIRouter(route_class=Route)


class Fact(BaseModel):
    """One thing to remember."""

    text: str
    category: str | None = None
    importance: float | None = None
    metadata: dict[str, Any] | None = None


class Seed(BaseModel):
    """A content, or facts."""

    agent_id: str | None = None
    content: str | None = None
    facts: list[Fact] = Field(default_factory=list)
    category: str | None = None
    importance: float | None = None
    metadata: dict[str, Any] | None = None


@router.post("/memories/seed")
@router.post("/memories")
async def seed(request: Request, ask: Writing, body: Seed) -> Response:
    """Remember what is sent, as it is."""
    drafts = [answers.draft(fact.text, body.agent_id, fact.model_dump()) for fact in body.facts]
    if body.content is not None:
        drafts.insert(0, answers.draft(body.content, body.agent_id, body.model_dump()))
    if not drafts:
        raise InvalidInput("send what to remember: content, or a list of facts")
    return await answered(request, ask, lambda book: answers.stored(book.remember(drafts)))


class Question(BaseModel):
    """What to recall."""

    query: str | None = None
    conversation_context: str | None = None
    agent_id: str | None = None
    limit: int = 10
    max_tokens: int | None = None
    budget_tokens: int | None = None


@router.post("/recall")
async def recall(request: Request, ask: Recalling, question: Question) -> Response:
    """Recall what bears on a query, or on what was said last."""
    query = question.query or question.conversation_context
    if query is None:
        raise InvalidInput("say what to recall: query, or conversation_context")
    budgets = (question.max_tokens, question.budget_tokens, answers.BUDGET)
    budget = next(given for given in budgets if given is not None)

    def verb(book: Book) -> dict[str, Json]:
        found = answers.recall(book, query, agent=question.agent_id, limit=question.limit, budget=budget)
        return answers.recalled(found)

    return await answered(request, ask, verb)


@router.get("/memories/recall")
async def recall_by_address(request: Request, ask: Recalling, question: Annotated[Question, Query()]) -> Response:
    """The same, as the first client asked it."""
    return await recall(request, ask, question)


class Conversation(BaseModel):
    """What was said: as a text, as messages, or as one turn of two."""

    agent_id: str | None = None
    content: str | None = None
    conversation: list[dict[str, Any]] | None = None
    human_message: str | None = None
    agent_message: str | None = None

    def told(self) -> str | list[dict[str, Any]]:
        """The conversation as a book takes it."""
        if self.conversation is not None:
            return [{name: each[name] for name in _FIELDS if name in each} for each in self.conversation]
        if self.content is not None:
            return self.content
        turn = (("user", self.human_message), ("assistant", self.agent_message))
        return [{"role": role, "content": said} for role, said in turn if said]


@router.post("/memories/extract")
@router.post("/extract")
async def extract(request: Request, ask: Writing, body: Conversation) -> Response:
    """Keep a conversation, and make memories of it in the background; recall finds what was said at once."""

    def verb(book: Book) -> dict[str, Json]:
        learned = book.learn(body.told(), scope=answers.scope(body.agent_id))
        return {"job_id": learned.session, "status": "accepted"}

    return await answered(request, ask, verb, status=202)


@router.get("/memories/extract/{job}")
@router.get("/extract/{job}")
async def extraction(request: Request, ask: Reading, job: Name) -> Response:
    """How an extraction stands."""
    return await answered(request, ask, lambda book: answers.extraction(book, job))


@router.get("/memories/search")
async def search(request: Request, ask: Recalling, q: str, agent_id: str | None = None, limit: int = 10) -> Response:
    """The memories that bear on a query, without a text made of them."""

    def verb(book: Book) -> dict[str, Json]:
        hits = answers.recall(book, q, agent=agent_id, limit=limit, budget=None).hits
        memories: list[Json] = [answers.found(hit) for hit in hits]
        return {"query": q, "memories": memories, "results": memories, "count": len(memories)}

    return await answered(request, ask, verb)


@router.get("/memories/export")
async def export(request: Request, ask: Reading, agent_id: str | None = None) -> Response:
    """Every memory, of an agent and of nobody, or of all: what `import` takes back."""

    def verb(book: Book) -> dict[str, Json]:
        found = window(book, within=answers.within(agent_id), offset=0, limit=2**53)
        return {"memories": [answers.plain(each) for each in found.memories], "count": len(found.memories)}

    return await answered(request, ask, verb)


class Import(BaseModel):
    """Memories from elsewhere; an agent of their own goes before the one for all."""

    agent_id: str | None = None
    memories: list[dict[str, Any]]


@router.post("/memories/import")
async def take_in(request: Request, ask: Writing, body: Import) -> Response:
    """Take in what an export gave, all or nothing; ids that are there already are left alone."""

    def verb(book: Book) -> dict[str, Json]:
        new = [each for each in body.memories if not _is_there(book, each.get("id"))]
        made = book.remember([answers.draft(_text(each), _agent(each, body), each, keep_id=True) for each in new])
        return {"imported": len(made), "skipped": len(body.memories) - len(new), "memory_ids": [m.id for m in made]}

    return await answered(request, ask, verb)


@router.get("/memories")
async def listing(
    request: Request,
    ask: Reading,
    agent_id: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """A page of memories, the newest first."""

    def verb(book: Book) -> dict[str, Json]:
        found = window(book, within=answers.within(agent_id), offset=offset, limit=limit)
        memories: list[Json] = [answers.plain(each) for each in found.memories]
        return {"memories": memories, "count": len(memories), "has_more": found.more}

    return await answered(request, ask, verb)


@router.get("/memories/{id}")
async def one(request: Request, ask: Reading, id: Name) -> Response:
    """One memory."""
    return await answered(request, ask, lambda book: answers.plain(book.get(id)))


class Change(BaseModel):
    """What is to be different."""

    content: str | None = None
    category: str | None = None
    importance: float | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None

    def named(self) -> dict[str, Any]:
        """The changes as a book takes them."""
        given = self.model_dump(exclude_none=True)
        if not given:
            raise InvalidInput("send what is to change: content, category, importance, tags or metadata")
        if "category" in given:
            given["kind"] = given.pop("category")
            if given["kind"] not in KINDS:
                raise InvalidInput(f"unknown category {given['kind']!r}; known: {', '.join(KINDS)}")
        return given


@router.put("/memories/{id}")
async def change(request: Request, ask: Writing, id: Name, body: Change) -> Response:
    """Give a memory a new version; the old one stays in its history."""
    named = body.named()
    return await answered(request, ask, lambda book: answers.plain(book.revise(id, **named)))


@router.delete("/memories/{id}")
async def delete(request: Request, ask: Writing, id: Name) -> Response:
    """Forget a memory, with all its versions and what was learned from it alone."""

    def verb(book: Book) -> dict[str, Json]:
        return {"deleted": True, "id": id, "memories_removed": book.forget(id).memories}

    return await answered(request, ask, verb)


@router.get("/memories/{id}/history")
async def history(request: Request, ask: Reading, id: Name) -> Response:
    """Every version of a memory, oldest first."""

    def verb(book: Book) -> dict[str, Json]:
        return {"memory_id": id, "history": [answers.step(each) for each in book.history(id)]}

    return await answered(request, ask, verb)


class Feedback(BaseModel):
    """What became of a memory that was recalled, or was not."""

    memory_id: str | None = None
    feedback_type: str


@router.post("/feedback")
async def feedback(request: Request, ask: Writing, body: Feedback) -> Response:
    """Let the book learn from it."""
    return await answered(request, ask, lambda book: answers.feedback(book, body.memory_id, body.feedback_type))


@router.get("/usage")
async def usage(request: Request, ask: Reading) -> Response:
    """How much the space holds."""

    def verb(book: Book) -> dict[str, Json]:
        held = book.stats()
        return {"memories": held.memories, "by_category": dict(held.by_kind), "extractions_waiting": held.jobs}

    return await answered(request, ask, verb)


@router.get("/health")
async def health() -> dict[str, str]:
    """The process answers; /health/ready says whether it recalls."""
    return {"status": "ok", "service": "commonplace", "version": __version__}


def _is_there(book: Book, id: object) -> bool:
    if not isinstance(id, str):
        return False
    try:
        book.get(id)
    except NotFound:
        return False
    return True


def _text(given: dict[str, Any]) -> str:
    text = given.get("content", given.get("text"))
    if not isinstance(text, str):
        raise InvalidInput("each memory needs a content that is text")
    return text


def _agent(given: dict[str, Any], body: Import) -> str | None:
    agent: str | None = given.get("agent_id") or body.agent_id
    return agent
