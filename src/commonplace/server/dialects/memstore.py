"""The dialect of Memstore: remember, recall, forget and list under /v1/memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from commonplace.book import Book
from commonplace.compat.answers import words
from commonplace.errors import CommonplaceError, InvalidInput, LimitReached, NotFound, RateLimited, Unauthorized
from commonplace.server.asking import secret
from commonplace.server.dialects.pages import window
from commonplace.server.dialects.speaking import Malformed, Reading, Recalling, Speaking, Writing, answered
from commonplace.server.paths import Name
from commonplace.server.problems import headers
from commonplace.values import Hit, Json, Memory, Scope, Within

LONGEST = 10_000
"""Characters of a content, as the original has it."""

SignUp = Callable[[str, str | None], str]
"""Makes a key for a name and perhaps an address, and returns it; where nobody may, there is none."""


class InvalidContent(InvalidInput):
    """No content, or none that is text."""

    code = "invalid_content"


class ContentTooLong(InvalidInput):
    """More than LONGEST characters."""

    code = "content_too_long"


class MissingQuery(InvalidInput):
    """A recall that asks nothing."""

    code = "missing_query"


class Route(Speaking):
    """Errors are {error, message}."""

    def told(self, request: Request, error: CommonplaceError) -> Response:
        status = 400 if isinstance(error, Malformed) else error.status
        body = to_json({"error": _code(request, error), "message": str(error)})
        return Response(body, status, headers=headers(error), media_type="application/json")


def _code(request: Request, error: CommonplaceError) -> str:
    if isinstance(error, Unauthorized):
        return "missing_api_key" if secret(request) is None else "invalid_api_key"
    if isinstance(error, LimitReached):
        return "hourly_rate_limit" if isinstance(error, RateLimited) else "ops_limit_reached"
    return "server_error" if error.status == 500 else error.code


router = APIRouter(route_class=Route)


class Remembered(BaseModel):
    """What to remember. The content is checked apart, since its errors have codes of their own."""

    content: Any = None
    tags: list[str] = Field(default_factory=list)
    session: str | None = None
    metadata: dict[str, Any] | None = None
    ttl: float | None = None


@router.post("/v1/memory/remember")
async def remember(request: Request, ask: Writing, body: Remembered) -> Response:
    """Remember a text."""
    content = _content(body.content)

    def verb(book: Book) -> dict[str, Json]:
        scope = Scope(session=body.session)
        made = book.remember(content, tags=body.tags, metadata=body.metadata, scope=scope, ttl=body.ttl)
        return _plain(made)

    return await answered(request, ask, verb, status=201)


@router.get("/v1/memory/recall")
async def recall(
    request: Request,
    ask: Recalling,
    q: str = "",
    limit: int | None = None,
    top_k: int | None = None,
    threshold: float | None = None,
    session: str | None = None,
    tags: Annotated[list[str] | None, Query()] = None,
) -> Response:
    """Recall what bears on a query; tags and session narrow it."""
    if not q.strip():
        raise MissingQuery("say what to recall: ?q=…")
    most = next((given for given in (limit, top_k) if given is not None), 5)

    def verb(book: Book) -> dict[str, Json]:
        found = book.recall(q, k=most, max_tokens=None, threshold=threshold, tags=_split(tags), within=_within(session))
        return {"memories": [_found(hit) for hit in found.hits], "count": len(found.hits), "query": q}

    return await answered(request, ask, verb)


@router.delete("/v1/memory/forget/{id}")
async def forget(request: Request, ask: Writing, id: Name) -> Response:
    """Forget a memory, with all its versions."""

    def verb(book: Book) -> dict[str, Json]:
        book.forget(id)
        return {"deleted": True, "id": id}

    return await answered(request, ask, verb)


@router.get("/v1/memory/list")
async def listing(
    request: Request,
    ask: Reading,
    session: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """A page of memories, the newest first."""

    def verb(book: Book) -> dict[str, Json]:
        found = window(book, within=_within(session), offset=offset, limit=limit, counted=True)
        return {"memories": [_plain(each) for each in found.memories], "total": found.total}

    return await answered(request, ask, verb)


class Agent(BaseModel):
    """Who wants a key."""

    name: str
    email: str | None = None


@router.post("/v1/agents")
async def sign_up(request: Request, body: Agent) -> Response:
    """Make a key for whoever asks, where the server lets anybody have one."""
    make: SignUp | None = getattr(request.app.state, "sign_up", None)
    if make is None:
        raise NotFound("nobody can sign up here: ask whoever runs this server for a key")
    key = await run_in_threadpool(make, body.name, body.email)
    told = {"name": body.name, "api_key": key, "message": "Keep this key: it is shown only once."}
    return Response(to_json(told), 201, media_type="application/json")


def _content(given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidContent("content must be a text that is not empty")
    if len(given) > LONGEST:
        raise ContentTooLong(f"content has {len(given):,} characters, the limit is {LONGEST:,}: split it")
    return given


def _split(tags: list[str] | None) -> list[str]:
    """Tags as they may come: repeated, separated by commas, or both."""
    return [tag.strip() for given in tags or () for tag in given.split(",") if tag.strip()]


def _within(session: str | None) -> Within | None:
    """A session is a filter here: what belongs to none is left out."""
    return None if session is None else Within(sessions=(session,), shared=False)


def _plain(memory: Memory) -> dict[str, Json]:
    return {
        "id": memory.id,
        "content": words(memory),
        "tags": list(memory.tags),
        "session": memory.scope.session,
        "metadata": dict(memory.metadata),
        "created_at": memory.created_at.isoformat(),
    }


def _found(hit: Hit) -> dict[str, Json]:
    return {**_plain(hit.memory), "score": round(hit.score, 4)}
