"""Memstore's HTTP dialect: remember, recall, forget and list under /v1/memory."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel
from pydantic_core import to_json

from commonplace import (
    Book,
    CommonplaceError,
    InvalidInput,
    LimitReached,
    Memory,
    NotFound,
    RateLimited,
    Scope,
    Unauthorized,
    Within,
)
from commonplace.integrations.services.http import (
    Limit,
    Offset,
    ServiceRoute,
    ServiceRouter,
    host_of,
    text_of,
    window,
)
from commonplace.values import Json

LONGEST = 10_000
"""Characters of a content, as in the original."""


class MemstoreError(InvalidInput):
    """An invalid request with a code that only this service has."""

    def __init__(self, service_code: str, message: str) -> None:
        super().__init__(message)
        self.service_code = service_code


class MemstoreRoute(ServiceRoute):
    """Errors are {error, message}."""

    malformed_status = 400

    def error_body(self, request: Request, error: CommonplaceError) -> object:
        return {"error": _error_code(request, error), "message": str(error)}


def _error_code(request: Request, error: CommonplaceError) -> str:
    if isinstance(error, Unauthorized):
        return "invalid_api_key" if host_of(request).has_key(request) else "missing_api_key"
    if isinstance(error, LimitReached):
        return "hourly_rate_limit" if isinstance(error, RateLimited) else "ops_limit_reached"
    if isinstance(error, MemstoreError):
        return error.service_code
    return "server_error" if error.status == 500 else error.code


router = ServiceRouter(route_class=MemstoreRoute)


@router.on_book("POST", "/v1/memory/remember", status=201)
def remember(
    book: Book,
    *,
    content: Any = None,
    tags: list[str] = [],  # noqa: B006  # pydantic copies it
    session: str | None = None,
    metadata: dict[str, Any] | None = None,
    ttl: float | None = None,
) -> dict[str, Json]:
    """Remember a text. It is checked here, because its errors have codes of their own."""
    if not isinstance(content, str) or not content.strip():
        raise MemstoreError("invalid_content", "content must be a text that is not empty")
    if len(content) > LONGEST:
        told = f"content has {len(content):,} characters, the limit is {LONGEST:,}: split it"
        raise MemstoreError("content_too_long", told)
    return _memory_body(book.remember(content, tags=tags, metadata=metadata, scope=Scope(session=session), ttl=ttl))


@router.on_book("GET", "/v1/memory/recall", "recall")
def recall(
    book: Book,
    *,
    q: str = "",
    limit: int | None = None,
    top_k: int | None = None,
    threshold: float | None = None,
    session: str | None = None,
    tags: Annotated[list[str] | None, Query()] = None,
) -> dict[str, Json]:
    """Recall what is relevant to a query, optionally only with some tags or in a session."""
    if not q.strip():
        raise MemstoreError("missing_query", "the query is missing: add ?q=…")
    most = next((given for given in (limit, top_k) if given is not None), 5)
    # Tags come repeated, separated by commas, or both.
    named = [tag.strip() for given in tags or () for tag in given.split(",") if tag.strip()]
    found = book.recall(q, k=most, max_tokens=None, threshold=threshold, tags=named, within=_within(session))
    hits: list[Json] = [{**_memory_body(hit.memory), "score": round(hit.score, 4)} for hit in found.hits]
    return {"memories": hits, "count": len(hits), "query": q}


@router.on_book("DELETE", "/v1/memory/forget/{id}")
def forget(book: Book, id: str) -> dict[str, Json]:
    """Forget a memory, with all its versions."""
    book.forget(id)
    return {"deleted": True, "id": id}


@router.on_book("GET", "/v1/memory/list")
def list_memories(book: Book, *, session: str | None = None, limit: Limit = 50, offset: Offset = 0) -> dict[str, Json]:
    """Return a page of memories, the newest first."""
    found = window(book, within=_within(session), offset=offset, limit=limit, counted=True)
    return {"memories": [_memory_body(each) for each in found.memories], "total": found.total}


class MemstoreAgent(BaseModel):
    """An agent that asks for a key."""

    name: str
    email: str | None = None


@router.post("/v1/agents")
async def sign_up(request: Request, body: MemstoreAgent) -> Response:
    """Create a key for anybody, if the server allows it."""
    key = await host_of(request).sign_up(request, body.name)
    if key is None:
        raise NotFound("sign-up is off on this server: ask its operator for a key")
    made = {"name": body.name, "api_key": key, "message": "Keep this key: it is shown only once."}
    return Response(to_json(made), 201, media_type="application/json")


def _within(session: str | None) -> Within | None:
    """A session is a filter here: memories without one are left out."""
    return None if session is None else Within(sessions=(session,), shared=False)


def _memory_body(memory: Memory) -> dict[str, Json]:
    return {
        "id": memory.id,
        "content": text_of(memory),
        "tags": list(memory.tags),
        "session": memory.scope.session,
        "metadata": dict(memory.metadata),
        "created_at": memory.created_at.isoformat(),
    }
