"""Memories over HTTP: remember, get, revise, forget and what belongs to one memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ConfigDict, Field

from commonplace.book import Book
from commonplace.server.api import answers
from commonplace.server.api.answering import Body, Route, answered, expected, given
from commonplace.server.api.shapes import (
    Content,
    Filter,
    Metadata,
    Moment,
    Names,
    Remembered,
    Scope,
    content,
    parts_without_content,
)
from commonplace.server.asking import READ, WRITE
from commonplace.server.callers import Ask
from commonplace.server.paths import Name
from commonplace.server.visits import repeated
from commonplace.values import Kind

router = APIRouter(tags=["memories"], route_class=Route)
Reading = Annotated[Ask, Depends(READ)]
Writing = Annotated[Ask, Depends(WRITE)]


class Remember(Remembered):
    """One thing to remember: `content`, or `base64` for bytes."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "content": "We chose FastAPI over Flask because of async support",
                    "kind": "decision",
                    "tags": ["user:alice"],
                }
            ]
        }
    )

    reconcile: bool = Field(default=False, description="Compare it with what is known: repeat, contradict, or add.")


class RememberAll(Body):
    """Several things to remember, all or none."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"memories": [{"content": "Alice leads the team"}, {"content": "Bob left"}]}]}
    )

    memories: list[Remembered]
    reconcile: bool = False


class Revise(Body):
    """What changes: an absent field stays as it is, null means null."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"importance": 0.9, "reason": "it came up again"}]})

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
    ttl: float | None = Field(default=None, description="Seconds from now; null lets it stay for ever.")
    vector: list[float] | None = None
    reason: str | None = None


class Selected(Body):
    """Memories by their ids, or by scope, filter, kinds and tags together."""

    ids: Names | None = None
    scope: Scope | None = Field(default=None, description="Exactly the memories of a scope.")
    filter: Filter = None
    kinds: Names | None = None
    tags: Names | None = None

    def arguments(self) -> dict[str, Any]:
        """As the verbs take them."""
        parts = given(self)
        named = parts.pop("ids", None)
        scope = parts.pop("scope", None)
        return {**parts, "id": named, "scope": None if scope is None else scope.value()}


class Forget(Selected):
    """What to forget, said in one way: ids; or scope, filter, kinds and tags; or everything."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tags": ["draft"], "dry_run": True}]})

    everything: bool = Field(default=False, description="Empty the space; needs a key that may admin.")
    dry_run: bool = Field(default=False, description="Only say what would go.")


class Quarantine(Selected):
    """What to take out of recall, and why."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"filter": {"source": "scraper"}, "reason": "the source was poisoned"}]}
    )

    reason: str


class Release(Selected):
    """What to let back into recall."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"filter": {"source": "scraper"}}]})


class Prune(Body):
    """Which memories may go; at least one of the first three."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"older_than": 7776000, "kinds": ["message"]}]})

    older_than: float | None = Field(default=None, description="Seconds since it was said, used or repeated.")
    weaker_than: float | None = Field(default=None, description="0 to 1.2: what time, importance and use leave.")
    keep: int | None = Field(default=None, description="How many may stay, the strongest.")
    kinds: Names | None = None
    tags: Names | None = None
    dry_run: bool = Field(default=True, description="Only say what would go.")


class Undo(Body):
    """The other of two memories that reconciliation brought together."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"other": "00f1e2d3c4b5a69788796a5b4c3d2e1f"}]})

    other: str


@router.post("/memories", status_code=201, response_model=answers.Memory, operation_id="remember")
async def remember(request: Request, ask: Writing, body: Remember) -> Response:
    """Remember one thing; when this answers, it is on disk."""
    draft = body.draft()
    return await answered(request, ask, lambda book: book.remember(draft, reconcile=body.reconcile), status=201)


@router.post("/memories/batch", status_code=201, response_model=answers.Memories, operation_id="remember_all")
async def remember_all(request: Request, ask: Writing, body: RememberAll) -> Response:
    """Remember several things, all or none."""
    drafts = [each.draft() for each in body.memories]
    return await answered(
        request, ask, lambda book: {"memories": book.remember(drafts, reconcile=body.reconcile)}, status=201
    )


@router.post("/memories/forget", response_model=answers.Forgotten, operation_id="forget")
async def forget(request: Request, ask: Writing, body: Forget) -> Response:
    """Remove memories with all their versions, vectors and words, and say what was removed."""
    wanted = body.arguments()
    if body.everything:
        ask = replace(ask, role="admin")
    if body.dry_run:
        ask = replace(ask, operation="read", once=None)
    return await answered(request, replace(ask, long=True), lambda book: book.forget(**wanted))


@router.post("/memories/prune", response_model=answers.Forgotten, operation_id="prune")
async def prune(request: Request, ask: Writing, body: Prune) -> Response:
    """Forget what a policy lets go of; by default only say what would go."""
    if body.dry_run:
        ask = replace(ask, operation="read", once=None)
    return await answered(request, replace(ask, long=True), lambda book: book.prune(**given(body)), keep=True)


@router.post("/memories/quarantine", response_model=answers.Ids, operation_id="quarantine")
async def quarantine(request: Request, ask: Writing, body: Quarantine) -> Response:
    """Take memories out of recall, with what was learned from them."""
    wanted = body.arguments()
    return await answered(request, ask, lambda book: {"ids": book.quarantine(**wanted)})


@router.post("/memories/release", response_model=answers.Ids, operation_id="release")
async def release(request: Request, ask: Writing, body: Release) -> Response:
    """Let memories stand again that were in quarantine."""
    wanted = body.arguments()
    return await answered(request, ask, lambda book: {"ids": book.release(**wanted)})


@router.get("/memories/{id}", response_model=answers.Memory, operation_id="get_memory")
async def get(
    request: Request,
    ask: Reading,
    id: Name,
    version: Annotated[int | None, Query(description="The version to read; the current one if absent.")] = None,
) -> Response:
    """The memory as it stands, or as it was at a version."""
    return await answered(request, ask, lambda book: book.get(id, version=version))


@router.patch("/memories/{id}", response_model=answers.Memory, operation_id="revise")
async def revise(request: Request, ask: Writing, id: Name, body: Revise) -> Response:
    """Give a memory a new version. `If-Match: "3"` makes it a change of version 3 only."""
    parts, version = given(body), expected(request)
    changes = parts_without_content(parts)
    if len(changes) < len(parts):
        changes["content"] = content(parts)

    def verb(book: Book) -> object:
        # What was done under this name has moved the version on, and is not done again.
        return book.revise(id, if_version=None if repeated() else version, **changes)

    return await answered(request, ask, verb)


@router.delete("/memories/{id}", response_model=answers.Forgotten, operation_id="forget_memory")
async def forget_one(request: Request, ask: Writing, id: Name) -> Response:
    """Remove a memory with all its versions, and what was learned from it alone."""
    return await answered(request, ask, lambda book: book.forget(id))


@router.get("/memories/{id}/history", response_model=answers.History, operation_id="history")
async def history(request: Request, ask: Reading, id: Name) -> Response:
    """Every version of a memory, oldest first."""
    return await answered(request, ask, lambda book: {"revisions": book.history(id)})


@router.get("/memories/{id}/links", response_model=answers.Links, operation_id="links")
async def links(request: Request, ask: Reading, id: Name) -> Response:
    """What a memory has to do with others."""
    return await answered(request, ask, lambda book: {"links": book.links(id)})


@router.post("/memories/{id}/undo", response_model=answers.Links, operation_id="undo")
async def undo(request: Request, ask: Writing, id: Name, body: Undo) -> Response:
    """Take back what reconciliation made of two memories."""
    return await answered(request, ask, lambda book: {"links": book.undo(id, body.other)})
