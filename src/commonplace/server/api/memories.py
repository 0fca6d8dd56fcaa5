"""Memories over HTTP: remember, list, get, revise, forget, quarantine, and the history and links of one memory."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from commonplace.errors import InvalidFilter
from commonplace.server.api import models
from commonplace.server.api.models import (
    Content,
    DraftBody,
    Filter,
    Metadata,
    Moment,
    Names,
    ScopeBody,
    WithinBody,
    example,
    with_content,
)
from commonplace.server.api.routes import Body, Name, ReadExchange, Route, WriteExchange
from commonplace.values import Kind, Within

router = APIRouter(tags=["memories"], route_class=Route)
Several = Annotated[list[str] | None, Query(description="May be given several times.")]


class RememberBody(DraftBody):
    """One thing to remember: `content`, or `base64` for bytes."""

    model_config = example(
        {
            "content": "We chose FastAPI over Flask because of async support",
            "kind": "decision",
            "tags": ["user:alice"],
        }
    )

    reconcile: bool = Field(default=False, description="Compare it with what is known: repeat, contradict, or add.")


class RememberAllBody(Body):
    """Several things to remember, all or none."""

    model_config = example({"memories": [{"content": "Alice leads the team"}, {"content": "Bob left"}]})

    memories: list[DraftBody]
    reconcile: bool = False


class ReviseBody(Body):
    """A change: an absent field stays as it is, null means null."""

    model_config = example({"importance": 0.9, "reason": "it came up again"})

    content: Content | None = None
    base64: str | None = None
    text: str | None = None
    mime: str | None = None
    kind: Kind | None = None
    tags: Names | None = None
    metadata: Metadata | None = None
    importance: float | None = None
    source: str | None = None
    said_at: Moment | None = None
    ttl: float | None = Field(default=None, description="Seconds from now; null: for ever.")
    vector: list[float] | None = None
    reason: str | None = None


class SelectionBody(Body):
    """Memories by their ids, or by scope, filter, kinds and tags together."""

    ids: Names | None = None
    scope: ScopeBody | None = Field(default=None, description="Exactly the memories of a scope.")
    filter: Filter = None
    kinds: Names | None = None
    tags: Names | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the verbs."""
        parts = self.given()
        return {"id": parts.pop("ids", None), **parts}


class ForgetBody(SelectionBody):
    """Memories to forget, given in one way: ids; or scope, filter, kinds and tags; or everything."""

    model_config = example({"tags": ["draft"], "dry_run": True})

    everything: bool = Field(default=False, description="Empty the space; needs a key that may admin.")
    dry_run: bool = Field(default=False, description="Only report what would be forgotten.")


class QuarantineBody(SelectionBody):
    """Memories to take out of recall, and why."""

    model_config = example({"filter": {"source": "scraper"}, "reason": "the source was poisoned"})

    reason: str


class ReleaseBody(SelectionBody):
    """Memories to return to recall."""

    model_config = example({"filter": {"source": "scraper"}})


class PruneBody(Body):
    """Which memories may go; at least one of the first three."""

    model_config = example({"older_than": 7776000, "kinds": ["message"]})

    older_than: float | None = Field(default=None, description="Seconds since it was said, used or repeated.")
    weaker_than: float | None = Field(default=None, description="0 to 1.2: what time, importance and use leave of it.")
    keep: int | None = Field(default=None, description="How many may stay, the strongest.")
    kinds: Names | None = None
    tags: Names | None = None
    dry_run: bool = Field(default=True, description="Only report what would be forgotten.")


class UndoBody(Body):
    """The other of two memories that reconciliation brought together."""

    model_config = example({"other": "00f1e2d3c4b5a69788796a5b4c3d2e1f"})

    other: str


class ListBody(Body):
    """Which memories to list, and how."""

    model_config = example({"filter": {"kind": "decision"}, "limit": 50})

    filter: Filter = None
    within: WithinBody | None = None
    kinds: Names | None = None
    tags: Names | None = None
    superseded: bool = Field(default=False, description="Also superseded memories.")
    order: Literal["newest", "oldest"] = "newest"
    limit: int = Field(default=100, description="From 1 to 10,000.")
    cursor: str | None = Field(default=None, description="From the page before.")


@router.post("/memories/list", response_model=models.Page)
async def list_memories_by_body(http: ReadExchange, body: ListBody) -> Response:
    """One page of memories by when they were said."""
    return await http.answer(lambda book: book.list(**body.given()))


@router.get("/memories", response_model=models.Page)
async def list_memories(
    http: ReadExchange,
    kinds: Several = None,
    tags: Several = None,
    users: Several = None,
    agents: Several = None,
    sessions: Several = None,
    shared: Annotated[bool, Query(description="Whether memories without that part are found too.")] = True,
    filter: Annotated[str | None, Query(description="A filter as JSON text.")] = None,
    superseded: bool = False,
    order: Literal["newest", "oldest"] = "newest",
    limit: Annotated[int, Query(description="From 1 to 10,000.")] = 100,
    cursor: Annotated[str | None, Query(description="From the page before.")] = None,
) -> Response:
    """One page of memories by when they were said."""
    parts = {"users": users, "agents": agents, "sessions": sessions}
    named = {name: tuple(part) for name, part in parts.items() if part is not None}
    within = Within(shared=shared, **named)
    wanted: dict[str, Any] = {
        "filter": None if filter is None else _parse(filter),
        "within": None if within == Within() else within,
        "kinds": kinds,
        "tags": tags,
        "superseded": superseded,
        "order": order,
        "limit": limit,
        "cursor": cursor,
    }
    return await http.answer(lambda book: book.list(**wanted))


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFilter(f"the filter is not JSON: {error}") from error


@router.post("/memories", status_code=201, response_model=models.Memory)
async def remember(http: WriteExchange, body: RememberBody) -> Response:
    """Remember one thing; when this answers, it is on disk."""
    draft = body.draft()
    return await http.answer(lambda book: book.remember(draft, reconcile=body.reconcile), status=201)


@router.post("/memories/batch", status_code=201, response_model=models.Memories)
async def remember_all(http: WriteExchange, body: RememberAllBody) -> Response:
    """Remember several things, all or none."""
    drafts = [each.draft() for each in body.memories]
    return await http.answer(lambda book: {"memories": book.remember(drafts, reconcile=body.reconcile)}, status=201)


@router.post("/memories/forget", response_model=models.Forgotten)
async def forget(http: WriteExchange, body: ForgetBody) -> Response:
    """Remove memories with all their versions, vectors and words, and say what was removed."""
    wanted = body.arguments()
    if body.everything:
        http = http.having(role="admin")
    if body.dry_run:
        http = http.having(operation="read", idempotency_key=None)
    return await http.having(long=True).answer(lambda book: book.forget(**wanted))


@router.post("/memories/prune", response_model=models.Forgotten)
async def prune(http: WriteExchange, body: PruneBody) -> Response:
    """Forget memories by a policy; by default only say which."""
    if body.dry_run:
        http = http.having(operation="read", idempotency_key=None)
    return await http.having(long=True).answer(lambda book: book.prune(**body.given()), keep=True)


@router.post("/memories/quarantine", response_model=models.Ids)
async def quarantine(http: WriteExchange, body: QuarantineBody) -> Response:
    """Take memories out of recall, with what was learned from them."""
    wanted = body.arguments()
    return await http.answer(lambda book: {"ids": book.quarantine(**wanted)})


@router.post("/memories/release", response_model=models.Ids)
async def release(http: WriteExchange, body: ReleaseBody) -> Response:
    """Release memories from quarantine."""
    wanted = body.arguments()
    return await http.answer(lambda book: {"ids": book.release(**wanted)})


@router.get("/memories/{id}", response_model=models.Memory)
async def get_memory(
    http: ReadExchange,
    id: Name,
    version: Annotated[int | None, Query(description="The version to read; the current one if absent.")] = None,
) -> Response:
    """The current memory, or one of its versions."""
    return await http.answer(lambda book: book.get(id, version=version))


@router.patch("/memories/{id}", response_model=models.Memory)
async def revise(http: WriteExchange, id: Name, body: ReviseBody) -> Response:
    """Give a memory a new version. `If-Match: "3"` makes it a change of version 3 only."""
    changes, version = with_content(body.given(), needed=False), http.expected_version()
    # A repeated request changes nothing, and the first one has moved the version on.
    return await http.answer(
        lambda book: book.revise(id, if_version=version, **changes), again=lambda book: book.revise(id, **changes)
    )


@router.delete("/memories/{id}", response_model=models.Forgotten)
async def forget_memory(http: WriteExchange, id: Name) -> Response:
    """Remove a memory with all its versions, and what was learned from it alone."""
    return await http.answer(lambda book: book.forget(id))


@router.get("/memories/{id}/history", response_model=models.History)
async def history(http: ReadExchange, id: Name) -> Response:
    """Every version of a memory, oldest first."""
    return await http.answer(lambda book: {"revisions": book.history(id)})


@router.get("/memories/{id}/links", response_model=models.Links)
async def links(http: ReadExchange, id: Name) -> Response:
    """The links of a memory to others."""
    return await http.answer(lambda book: {"links": book.links(id)})


@router.post("/memories/{id}/undo", response_model=models.Links)
async def undo(http: WriteExchange, id: Name, body: UndoBody) -> Response:
    """Undo what reconciliation made of two memories."""
    return await http.answer(lambda book: {"links": book.undo(id, body.other)})
